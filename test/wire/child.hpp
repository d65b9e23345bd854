// SPDX-License-Identifier: Apache-2.0
// One case, in a process of its own: what happens inside the C client stays there.
#pragma once

#include <cstdint>
#include <string>

namespace corozk::wire {

/// How a case is named, and all that it depends on: "lock/another xid/3/42".
struct wire_case {
    std::string scenario;
    std::string attack;    ///< a lie of the test kit's, or one of those below
    std::uint64_t at = 0;  ///< at which frame; 0: never
    std::uint64_t seed = 0;

    std::string text() const;
    static wire_case parse(const std::string& text);
};

/// Nodes of other programs are there before the client comes: near misses of the names of ours,
/// with data of all kinds, and with the very names of ours.
inline constexpr const char* foreign_nodes = "foreign nodes";
/// At the frame somebody writes into every node, and beside it.
inline constexpr const char* vandal = "vandal";
inline constexpr const char* no_attack = "none";

/// How a child ends; anything else is a crash.
enum child_exit : int {
    went_well = 0,
    hung = 3,          ///< something did not end
    did_not_heal = 4,  ///< the server is honest again, and the client is of no use
    too_much_memory = 5,
    broken_test = 6,
};

/// Runs it against a server, and says on standard output what happened.
int run_child(const wire_case& what, std::uint16_t server_port);

}  // namespace corozk::wire
