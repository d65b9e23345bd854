// SPDX-License-Identifier: Apache-2.0
// Random operations of several sessions through the C client's functions, and what comes of them as
// text. The same code is linked to the real C client and to the model.
#pragma once

#include <zookeeper/zookeeper.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace corozk::comparison {

/// What differs between the two worlds.
struct world {
    world() = default;

    std::string server;  ///< its address

    /// Lets time pass until one of these C clients can go on, or for a moment.
    std::function<void(const std::vector<zhandle_t*>&)> breathe;
};

/// `steps` operations that follow from `seed`, each with its results and with the events that every
/// session heard. Of zxids and session ids only what they have in common in both worlds.
std::vector<std::string> play(const world& w, std::uint64_t seed, int steps);

}  // namespace corozk::comparison
