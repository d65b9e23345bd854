// SPDX-License-Identifier: Apache-2.0
#include "turns.hpp"
#include <corozk/recipe/barrier.hpp>

#include <chrono>

namespace corozk::schedule {

namespace barrier_scenarios {

constexpr const char* path = "/f/b";

/// Sets it, and removes it after a while; where somebody else has set it, that is theirs.
/// @tparam Bound  it goes with its keeper's session
template <bool Bound>
awaitable<void> keep(actor& a) {
    barrier_options options;
    if (Bound)
        options.mode = create_mode::ephemeral;
    barrier b(a.zk(), path, options);
    auto firm = a.firm_token();
    auto [set_ec, set] = co_await b.set(firm);
    if (!a.may_see(set_ec, "set"))
        co_return;
    a.on().remember(a.client_index(), set);
    if (!set)
        co_return;
    a.on().note_down("set", "");
    co_await a.gate("set");
    a.on().note_down("removing", "");
    auto [removed_ec, removed] = co_await b.remove(firm);
    a.may_see(removed_ec, "remove");
}

/// Whoever comes while it is set goes on only when it is being removed.
/// @tparam Bound  it goes with its keeper
template <bool Bound>
awaitable<void> wait(actor& a) {
    barrier b(a.zk(), path);
    co_await a.gate("before the barrier");
    bool set = !a.on().notes("set").empty() && a.on().exists(path);
    a.on().remember(a.client_index(), set);
    auto token = a.token();
    auto [ec] = co_await b.wait(token);
    if (!a.may_see(ec, "wait") || ec)
        co_return;
    bool keeper_died =
        Bound && (a.on().happened(move_kind::expire) || a.on().happened(move_kind::silence));
    if (set && !keeper_died)
        a.on().check(!a.on().notes("removing").empty(), a.name() + " did not wait");
}

/// Waits no longer than it is set.
awaitable<void> wait_for_a_while(actor& a) {
    barrier b(a.zk(), path);
    auto token = a.token();
    auto [ec] = co_await b.wait_for(std::chrono::seconds(1), token);
    if (ec != errc::deadline_exceeded)
        a.may_see(ec, "wait_for");
}

void with_sessions(stage& s) {
    s.play("keeper", 0, keep<true>);
    s.play("other", 1, keep<true>);
    s.play("waiter", 2, wait<true>);
    s.leaves_nothing_in("/f");
}

void patience_ends(stage& s) {
    s.play("keeper", 0, keep<false>);
    s.play("impatient", 1, wait_for_a_while);
    s.leaves_nothing_in("/f");
}

void two(stage& s) {
    s.play("keeper", 0, keep<false>);
    s.play("waiter", 1, wait<false>);
    s.leaves_nothing_in("/f");
}

void three(stage& s) {
    s.play("keeper", 0, keep<false>);
    s.play("waiter", 1, wait<false>);
    s.play("other", 2, wait<false>);
    s.leaves_nothing_in("/f");
}

const registered all[] = {
    registered(scenario("barrier.2", 2, two)),
    registered(scenario("barrier.3", 3, three)),
    registered(scenario("barrier.deadline", 2, patience_ends)),
    registered(scenario("barrier.sessions", 3, with_sessions)),
};

}  // namespace barrier_scenarios

}  // namespace corozk::schedule
