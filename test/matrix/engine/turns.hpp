// SPDX-License-Identifier: Apache-2.0
// Turns of owners: what all recipes that grant something have in common.
#pragma once

#include "call.hpp"
#include <corozk/recipe/ownership.hpp>

#include <string_view>

namespace corozk::matrix {

/// Being an owner, as the registry has it.
class tenure {
public:
    tenure(stage& s, const ownership& o, client& whose, bool alone = true, bool in_line = true)
        : stage_(s), owned_(o) {
        s.owners.enter(o, whose.status().session_id, alone, in_line);
    }
    tenure(const tenure&) = delete;
    tenure& operator=(const tenure&) = delete;
    ~tenure() { stage_.owners.leave(owned_); }

private:
    stage& stage_;
    const ownership& owned_;
};

/// Waits for a grant, holds it (in the named state) until its own node is watched, and gives it
/// back.
awaitable<void> take_turn(stage& s,
                          call<ownership>& asked,
                          std::string_view state,
                          bool alone = true,
                          bool in_line = true);

/// As a probe: somebody else's whole turn.
awaitable<void> others_turn(stage& s,
                            client& c,
                            ownership held,
                            bool alone = true,
                            bool in_line = true);

}  // namespace corozk::matrix
