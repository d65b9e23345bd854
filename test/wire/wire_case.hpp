// SPDX-License-Identifier: Apache-2.0
// How a case is named, and all that it depends on.
#pragma once

#include <cstdint>
#include <string>

namespace corozk::wire {

/// "lock/another xid/3/42", or "lock/another xid/3+/42" for a server that lies from there on.
struct wire_case {
    std::string scenario;
    std::string attack;       ///< a lie of the test kit's, or one of those below
    std::uint64_t at = 0;     ///< at which frame that it suits; 0: never
    bool persistent = false;  ///< and at all that come later
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

}  // namespace corozk::wire
