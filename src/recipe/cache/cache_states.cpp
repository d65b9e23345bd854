// SPDX-License-Identifier: Apache-2.0
#include "recipe/cache/cache_states.hpp"

#include "recipe/toolkit/take_if.hpp"
#include <corozk/time_limit.hpp>

#include <algorithm>
#include <utility>

namespace corozk::detail {

node_state to_node(const tree_state& state) {
    node_state result;
    result.revision = state.revision;
    result.exists = state.exists;
    if (state.exists) {
        const node_data& node = state.nodes->begin()->second;
        result.data = node.data;
        result.stat = node.stat;
    }
    return result;
}

void cache_states::call_type::complete(const tree_state& state) {
    if (auto* tree = result.get<tree_state>())
        tree->complete(error_code(), state);
    else
        result.get<node_state>()->complete(error_code(), to_node(state));
}

void cache_states::publish(bool exists, std::shared_ptr<const node_map> nodes) {
    ++latest_.revision;
    latest_.exists = exists;
    latest_.nodes = std::move(nodes);
    settle();
    report();
}

bool cache_states::add(call_type call) {
    if (call.seen != latest_.revision && may_report()) {
        reported_ = true;
        call.complete(latest_);
        return false;
    }
    if (call.seen == latest_.revision && settled())
        reported_ = true;  // through `current`, and to all that wait
    sweep_(calls_, [](const call_type& c) { return !c.waiting(); });
    calls_.push_back(std::move(call));
    return true;
}

void cache_states::settle() {
    if (quiet_ <= std::chrono::milliseconds(0))
        return;
    using approximate = std::chrono::duration<long double, std::milli>;
    const time_point now = port_.now();
    if (std::exchange(reported_, false))
        latest_by_ = time_limit(approximate(quiet_) * 10).from(now);
    if (now < latest_by_)
        port_.start_timer(*this, std::min(time_limit(quiet_).from(now), latest_by_));
    else
        timer_node::cancel();  // overdue: reported now, or to the next call at once
}

/// Not with a state before a change by this client, or before it has settled.
bool cache_states::may_report() const noexcept {
    return !none() && !(copy_ && copy_->owes()) && settled();
}

void cache_states::report() {
    if (!may_report())
        return;
    auto ready =
        take_if(calls_, [this](const call_type& call) { return call.seen != latest_.revision; });
    for (auto& call : ready) {
        if (!call.waiting())
            continue;
        call.complete(latest_);
        reported_ = true;
    }
}

void cache_states::fail_all(error_code reason) {
    for (call_type& call : std::exchange(calls_, {}))
        call.result.fail(reason);
}

}  // namespace corozk::detail
