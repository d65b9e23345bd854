// SPDX-License-Identifier: Apache-2.0
// One case, in a process of its own: a crash or a hang stays there.
#pragma once

#include "wire_case.hpp"

#include <cstdint>

namespace corozk::wire {

/// How a child ends; anything else is a crash.
enum child_exit : int {
    went_well = 0,
    hung = 3,          ///< something did not end
    did_not_heal = 4,  ///< the server is honest again, and the client is of no use
    too_much_memory = 5,
    broken_test = 6,
    too_many_requests = 7,  ///< or connections: it asks again at once, and for ever
};

/// Runs it against a server, and says on standard output what happened.
int run_child(const wire_case& what, std::uint16_t server_port);

}  // namespace corozk::wire
