// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "matrix/engine/fault.hpp"
#include "matrix/engine/stage.hpp"

#include <string>
#include <string_view>

namespace corozk::matrix {

/// A node that ours has kept and given up is gone, and is not created again. The state in between
/// has a name.
inline awaitable<void> stays_away(stage& s, std::string node, std::string_view state) {
    // Its session may be: the server may end that later than we.
    if (!ends_session(s.which()))
        s.check(!s.exists(node), "what was given up is gone");
    co_await s.state(state);
    co_await testing::eventually_async(
        [&] { return !s.exists(node); }, s.patience(), "what was given up stays away");
}

}  // namespace corozk::matrix
