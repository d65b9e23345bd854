// SPDX-License-Identifier: Apache-2.0
// One of the processes that live under chaos.
#pragma once

#include <cstdint>
#include <string>

namespace corozk::chaos {

struct client_role {
    std::string name;  ///< "3.1": which process, and which life of it
    std::string hosts;
    std::uint16_t resource_port = 0;
};

inline constexpr const char* root = "/chaos";

/// Works until SIGTERM, then ends in order. Returns the process's exit code.
int run_client(const client_role& role);

}  // namespace corozk::chaos
