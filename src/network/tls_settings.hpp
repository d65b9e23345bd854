// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/options.hpp>

#include <boost/asio/ssl/context.hpp>

#include <filesystem>
#include <map>
#include <memory>
#include <string>

namespace corozk::detail {

/// The TLS context of a client's connections, made of its options.
class tls_settings {
public:
    explicit tls_settings(tls_options options) : options_(std::move(options)) {}

    /// The context for the next connection. Files that have changed since the last call are read
    /// again. @return null with `problem` set if there is none; the previous one if the changed files
    /// cannot be used, with `problem` set once for each change
    std::shared_ptr<boost::asio::ssl::context> context(std::string& problem);

private:
    using times = std::map<std::string, std::filesystem::file_time_type>;
    times file_times() const;

    tls_options options_;
    std::shared_ptr<boost::asio::ssl::context> context_;
    times read_at_;     ///< the files' times when `context_` was made
    times refused_at_;  ///< when they could not be used
};

}  // namespace corozk::detail
