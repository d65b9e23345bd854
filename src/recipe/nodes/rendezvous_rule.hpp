// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/toolkit/node_view.hpp"
#include <corozk/recipe/rendezvous_types.hpp>

namespace corozk::detail {

// Rendezvous: an ephemeral node with the publisher's data (toolkit/kept_node), which others follow
// (toolkit/followed_node).
//
// Invariants:
//   * The publisher's node is re-created until it is withdrawn.
//   * `next` returns the last state read, which differs from the previous one in data (mzxid), node
//     (czxid) or existence.

rendezvous_point describe_point(const node_view& view);

}  // namespace corozk::detail
