// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/toolkit/node_view.hpp"
#include <corozk/recipe/rendezvous_types.hpp>

namespace corozk::detail {

// Rendezvous: one node, ephemeral, with the publisher's data (toolkit/kept_node), followed by those
// who look for it (toolkit/followed_node).
//
// Invariants:
//   * The publisher's node is made again for as long as it is wanted.
//   * What is told is what the server said last, and differs from what was told before: other data
//     (mzxid), another node (czxid), or none.

rendezvous_point describe_point(const node_view& view);

}  // namespace corozk::detail
