// SPDX-License-Identifier: Apache-2.0
// One of the processes that live under chaos.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace corozk::chaos {

struct client_role {
    std::string name;  ///< "3.1": which process, and which life of it
    std::string hosts;
    std::uint16_t resource_port = 0;
    std::string tls_ca;  ///< empty: without TLS
};

inline constexpr const char* root = "/chaos";
inline constexpr std::chrono::milliseconds session_timeout{3'000};

/// The client that takes items, where the others consume them. It is never killed: whoever dies
/// between taking an item and saying so has lost one that nobody can name.
inline constexpr std::size_t taker = 0;

/// Works until SIGTERM, then ends in order. Returns the process's exit code.
int run_client(const client_role& role);

}  // namespace corozk::chaos
