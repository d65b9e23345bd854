// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/barriers/page_nodes.hpp"
#include "recipe/toolkit/recipe_core.hpp"

namespace corozk::detail {

/// How a member comes in. Its driver calls `come_in` until the round has started.
class page_entry {
public:
    page_entry(page_nodes& nodes, signal& wake)
        : nodes_(nodes), ready_watch_(wake), predecessor_watch_(wake) {}

    /// Creates the member's node and looks whether the round has started. Ends early if the call is
    /// over: who has given up must not start the round.
    /// @param again whether to call it again at once
    task<error_code> come_in(const waiting_call<>& call, bool& again);

    bool started() const noexcept { return started_; }

    /// Removes the watches from the server.
    void forget();

    /// Deletes what may have been left besides the member's node.
    /// @param generation of the session in which it came in, which is alive
    /// @param admitted   whether it was let in
    task<> clean_up(std::uint64_t generation, bool admitted);

private:
    task<error_code> tidy();
    task<error_code> make(const waiting_call<>& call, bool& again);
    task<error_code> create_ready();

    page_nodes& nodes_;
    remembering_watch ready_watch_;
    watch_signal predecessor_watch_;  ///< on the node of an earlier session
    bool tidied_ = false;
    bool may_have_started_ = false;  ///< has asked for `ready`
    bool started_ = false;           ///< the round has
};

}  // namespace corozk::detail
