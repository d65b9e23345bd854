// SPDX-License-Identifier: Apache-2.0
// Runs one case of the fault matrix: a scenario, with a fault at a place.
#pragma once

#include "place.hpp"
#include "restart.hpp"
#include "scenario.hpp"
#include <corozk/testing/turn_clock.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace corozk::matrix {

struct outcome {
    bool hit = false;  ///< the fault had something to happen to
    std::uint64_t requests = 0;
    std::uint64_t notifications = 0;
    std::uint64_t turns = 0;            ///< handlers of the event loop
    bool grants = false;                ///< something was granted that can be dropped
    bool limited = false;               ///< something was asked for with a time limit
    std::vector<std::string> states;    ///< those of the scenario, in order
    std::vector<std::string> failures;  ///< what did not hold
    testing::turn_clock::turn longest_turn;
};

/// Once for each server, before its first case.
void prepare_server(std::uint16_t port);

/// Runs the case against a server, on this thread. Without a party the server is this case's alone:
/// then nobody watches anything there in the end.
/// @param tls whether the client that meets the fault connects by TLS
/// @param party for the cases that share the server's restart; null elsewhere
outcome run_case(const scenario& what,
                 fault which,
                 const place& where,
                 std::uint16_t server_port,
                 bool tls,
                 restart_party* party = nullptr);

}  // namespace corozk::matrix
