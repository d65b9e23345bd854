// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/options.hpp>
#include <corozk/types.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace corozk::program {

/// The values of the options that all commands have.
struct settings {
    std::string hosts = "127.0.0.1:2181";
    std::vector<auth_info> auth;
    corozk::acl acl;  ///< of new znodes; empty: open
    std::chrono::milliseconds session_timeout{10'000};
    std::optional<std::chrono::milliseconds> connect_timeout;
    tls_options tls;
    sasl_options sasl;
    bool json = false;
    bool verbose = false;

    /// The words after "--".
    std::vector<std::string> command;
};

client_options to_client_options(const settings& s);

}  // namespace corozk::program
