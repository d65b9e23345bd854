// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/operation.hpp"

#include <algorithm>
#include <chrono>

namespace corozk::detail {

/// How long the owner of a node with a TTL may rely on it, by its own steady clock.
///
///   1. The server deletes the node once nobody has written it for the TTL, counted from when it has
///      executed the last write: not before that was sent. Until `sent + ttl` the node exists,
///      unless somebody deletes it.
///   2. Responses never shorten the term, in whichever order they come.
///   3. A write confirmed after the term's end begins another one: meanwhile the server may have
///      deleted the node.
///   4. A write confirmed only after its own TTL gives nothing.
///
/// Not covered: the server counts by the clock on the wall of its leader, which may jump; and it
/// decides to delete some time before it does, so that a node that was written or created in
/// between is deleted, too. The deletion is then seen as one by another client.
class lease_term {
public:
    bool holds(time_point now) const noexcept { return now < until_; }
    time_point until() const noexcept { return until_; }

    /// A write has got its response.
    /// @return whether the term continues, which is false for the first one
    bool confirmed(time_point sent, time_point answered, std::chrono::milliseconds ttl) noexcept {
        const bool continues = holds(answered);
        until_ = continues ? std::max(until_, sent + ttl) : sent + ttl;
        return continues;
    }

    void end() noexcept { until_ = time_point::min(); }

private:
    time_point until_ = time_point::min();
};

/// When to write the node again: half of the term is left for a write that fails.
constexpr time_point renewal_time(time_point sent, std::chrono::milliseconds ttl) noexcept {
    return sent + ttl / 2;
}

}  // namespace corozk::detail
