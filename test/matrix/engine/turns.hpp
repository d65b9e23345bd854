// SPDX-License-Identifier: Apache-2.0
// Turns of owners: what all recipes that grant something have in common.
#pragma once

#include "call.hpp"
#include <corozk/ownership.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace corozk::matrix {

using testing::share;

/// An operation that is granted something: an owner has it from the moment of the grant.
class grant : public call<ownership> {
public:
    grant(stage& s, std::string name, share what = {}) : call(s, std::move(name)) {
        at_result([&s, what](const ownership& held) { s.enter_owner(held, party::ours, what); });
    }
};

/// Waits for a grant, holds it (in the named state) until its own node is watched, and gives it
/// back.
awaitable<void> take_turn(stage& s, grant& asked, std::string_view state);

/// All of them, in the order in which they are granted: who was cut off may have lost its place.
awaitable<void> take_turns(stage& s, std::vector<grant*> asked);

/// Waits for the end of a change to something owned. If it was cancelled, that is owned as before.
awaitable<void> changed(stage& s, droppable<ownership>& held, call<>& change);

/// As a probe: somebody else's whole turn.
awaitable<void> others_turn(stage& s, client& c, ownership held, share what = {});

}  // namespace corozk::matrix
