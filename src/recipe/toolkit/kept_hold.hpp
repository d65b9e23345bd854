// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "recipe/toolkit/lease_term.hpp"
#include <corozk/error.hpp>

#include <chrono>
#include <cstdint>

namespace corozk::detail {

/// Whether a keeper has its node, to the client's knowledge.
struct node_hold {
    bool held = false;
    std::uint64_t revision = 0;  ///< incremented by every change
    error_code reason;           ///< why it was lost last, unless it was given up
};

/// Is notified of each change, at once.
class hold_follower {
public:
    virtual void hold_changed() noexcept = 0;

protected:
    ~hold_follower() = default;
};

/// Whether the keeper of a node may rely on it, and until when. The end of a term comes by a timer
/// of its own: the keeper's driver may be waiting for a response that never arrives.
class kept_hold final : private timer_node {
public:
    explicit kept_hold(port& p) noexcept : port_(p) {}

    const node_hold& state() const noexcept { return state_; }
    void follow(hold_follower* follower) noexcept { follower_ = follower; }

    /// The end of the term of a node with a TTL.
    time_point term_ends() const noexcept { return term_.until(); }

    /// The server has the node.
    void begin() {
        if (!state_.held)
            change(true);
    }

    /// The server has executed a create or write, from which a TTL counts.
    /// @param wanted whether the node is still to be kept
    void renew(time_point sent, std::chrono::milliseconds ttl, bool wanted) {
        const time_point now = port_.now();
        lease_term next = term_;
        if (!next.confirmed(sent, now, ttl))
            lose(errc::lease_expired);
        term_ = next;
        if (!term_.holds(now))
            return;
        port_.start_timer(*this, term_.until());
        if (wanted)
            begin();
    }

    /// The keeper must not rely on it any longer.
    void lose(error_code reason) {
        timer_node::cancel();
        term_.end();
        if (!state_.held)
            return;
        state_.reason = reason;
        change(false);
    }

private:
    void expired() noexcept override { lose(errc::lease_expired); }

    void change(bool held) {
        state_.held = held;
        ++state_.revision;
        if (follower_)
            follower_->hold_changed();
    }

    port& port_;
    node_hold state_;
    lease_term term_;
    hold_follower* follower_ = nullptr;
};

}  // namespace corozk::detail
