// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "network/detached_call.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/address.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace corozk::detail {

/// A look-up of a host name on a detached thread, one per name. The C library's resolver can be
/// neither cancelled nor limited in time, and Asio's resolver would join its thread.
class name_lookup {
public:
    /// The addresses, or a text that says why there are none.
    using callback =
        std::function<void(std::string problem, std::vector<boost::asio::ip::address> addresses)>;

    /// Calls back on the executor, which has outstanding work until then, unless this object is
    /// destroyed before: on the executor, or when its context is destroyed.
    name_lookup(const std::string& name,
                const boost::asio::any_io_executor& executor,
                callback then);

    /// Whether there was a thread for it.
    bool started() const noexcept { return started_; }

private:
    std::unique_ptr<late_callback> then_;
    bool started_ = true;
};

}  // namespace corozk::detail
