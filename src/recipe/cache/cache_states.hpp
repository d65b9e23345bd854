// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/local_copy.hpp"
#include "driver/port.hpp"
#include "driver/sweep.hpp"
#include "recipe/toolkit/either_call.hpp"
#include <corozk/recipe/cache.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace corozk::detail {

/// For a cache of depth 0.
node_state to_node(const tree_state& state);

/// The states that are reported to users, whose calls wait for one.
class cache_states final : private timer_node {
public:
    struct call_type {
        either_call<tree_state, node_state> result;
        std::uint64_t seen = 0;

        bool waiting() const { return result.waiting(); }
        void complete(const tree_state& state);
    };

    /// @param quiet a state is reported once no other one has followed for so long
    /// @param copy  while it owes something, no state is reported
    cache_states(port& p, std::chrono::milliseconds quiet, const std::optional<local_copy>& copy)
        : port_(p), quiet_(quiet), copy_(copy) {}

    const tree_state& latest() const noexcept { return latest_; }
    bool none() const noexcept { return latest_.revision == 0; }

    void publish(bool exists, std::shared_ptr<const node_map> nodes);

    /// @param call ends by itself when no state will follow
    /// @return whether it waits
    bool add(call_type call);

    /// Completes the calls that wait for this state.
    void report();

    void fail_all(error_code reason);

    /// No other state will follow.
    void end() noexcept { timer_node::cancel(); }

    /// The object is destroyed.
    void forget() { latest_ = tree_state(); }

private:
    void expired() noexcept override { report(); }
    void settle();
    bool settled() const noexcept { return !armed(); }
    bool may_report() const noexcept;

    port& port_;
    const std::chrono::milliseconds quiet_;
    const std::optional<local_copy>& copy_;
    tree_state latest_;
    bool reported_ = true;    ///< the latest state, or none has followed since
    time_point latest_by_{};  ///< when the first one since then must be reported
    std::vector<call_type> calls_;
    sweep sweep_;
};

}  // namespace corozk::detail
