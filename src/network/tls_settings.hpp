// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "network/tls_context_maker.hpp"
#include "network/tls_files.hpp"
#include <corozk/options.hpp>

#include <boost/asio/ssl/context.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace corozk::detail {

/// The TLS context of a client's connections, made of its options. For each connection: `reader`,
/// its `read`, `use`, and `step` until it is done.
class tls_settings {
public:
    explicit tls_settings(tls_options options) : options_(std::move(options)) {}
    tls_settings(const tls_settings&) = delete;
    tls_settings& operator=(const tls_settings&) = delete;

    /// Whether there is something to read, which may take long.
    bool needs_files() const noexcept;

    /// Reads the files that have changed.
    tls_file_reader reader() const;

    /// Begins to make a context of what was read.
    void use(tls_files files);

    /// @return whether it is done
    bool step();

    /// The context for the next connection, when it is done; null if there is none.
    const std::shared_ptr<boost::asio::ssl::context>& context() const noexcept { return context_; }

    /// Why there is none, in words; or why the changed files are not used, once for each change.
    const std::string& problem() const noexcept { return problem_; }

private:
    void check() const;

    tls_options options_;
    std::shared_ptr<boost::asio::ssl::context> context_;
    std::string problem_;
    std::optional<tls_context_maker> maker_;
    tls_files::states used_;                    ///< when `context_` was made
    tls_files::states refused_;                 ///< when they could not be used
    tls_files::states found_;                   ///< for the next one
    std::map<std::string, std::string> piped_;  ///< what of `context_` came out of pipes, by file
    std::map<std::string, std::string> next_piped_;
};

}  // namespace corozk::detail
