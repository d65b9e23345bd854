// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "network/detached_call.hpp"
#include "network/tls_settings.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace corozk::detail {

/// Gives each connection of a client its TLS context. The files are read on a detached thread, as a
/// disk may be slow, and the context is made on the executor, in steps. Without files no thread is
/// needed.
class tls_contexts : public std::enable_shared_from_this<tls_contexts> {
public:
    using context_ptr = std::shared_ptr<boost::asio::ssl::context>;
    using callback = std::function<void(const context_ptr&, const std::string& problem)>;

    tls_contexts(const boost::asio::any_io_executor& executor, tls_options options);

    /// Calls back with the context, or with null and why there is none; within this call, if it is
    /// there already.
    void get(callback then);

    /// No connection is wanted any more: calls nobody back, and leaves the thread to itself.
    void stop() noexcept;

    /// Why changed files are not used, in words; once for each change.
    std::string take_warning() { return std::exchange(warning_, {}); }

private:
    struct look;

    void read();
    void looked(const tls_files& files);
    void make_some();

    boost::asio::any_io_executor executor_;
    tls_settings settings_;
    std::string warning_;
    std::vector<callback> waiting_;
    std::optional<detached_call> call_;
    std::shared_ptr<look> look_;  ///< of the thread, wanted or not
    bool making_ = false;
    unsigned process_;
};

}  // namespace corozk::detail
