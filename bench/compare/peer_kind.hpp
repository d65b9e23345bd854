// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// Somebody else's recipes, and the program of ours that uses them.
struct peer_kind {
    std::string_view name;    ///< as in --peers and in the figures
    std::string_view title;   ///< for people
    std::string_view source;  ///< of the program: a Java class or a Python file
    std::vector<std::string_view> jars;
    std::string_view package;  ///< Debian's
};

std::span<const peer_kind> all_peers();

/// @throws std::logic_error if there is none of this name
const peer_kind& find_peer(std::string_view name);

/// How to start one; or what is missing.
struct peer_program {
    std::vector<std::string> words;
    std::string missing;  ///< a sentence; empty when it can be started
    std::string version;  ///< where the files tell it; else the program says it itself
};

/// Looks for what the peer needs, and compiles its program if that was not done before.
peer_program prepare_peer(const peer_kind& peer);

}  // namespace corozk::bench
