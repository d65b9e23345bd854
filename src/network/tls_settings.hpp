// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/options.hpp>

#include <boost/asio/ssl/context.hpp>

#include <array>
#include <cstdint>
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

    /// Whether `context` may take long: it looks at files, or makes a context.
    bool may_take_long() const noexcept;

private:
    /// By file: what distinguishes its content from another one.
    using file_states = std::map<std::string, std::array<std::int64_t, 6>>;
    file_states look_at_files() const;

    tls_options options_;
    std::shared_ptr<boost::asio::ssl::context> context_;
    file_states used_;                          ///< when `context_` was made
    file_states refused_;                       ///< when they could not be used
    std::map<std::string, std::string> piped_;  ///< what of `context_` came out of pipes, by file
};

}  // namespace corozk::detail
