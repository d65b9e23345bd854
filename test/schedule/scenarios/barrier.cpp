// SPDX-License-Identifier: Apache-2.0
#include "turns.hpp"
#include <corozk/recipe/barrier.hpp>

namespace corozk::schedule {

namespace {

constexpr const char* path = "/f/b";

awaitable<void> set_and_remove(actor& a) {
    barrier b(a.zk(), path);
    auto firm = a.firm_token();
    auto [set_ec, set] = co_await b.set(firm);
    if (!a.may_see(set_ec, "set"))
        co_return;
    a.on().note_down("set", "");
    co_await a.gate("set");
    a.on().note_down("removing", "");
    auto [removed_ec, removed] = co_await b.remove(firm);
    a.may_see(removed_ec, "remove");
}

/// Whoever comes while it is set goes on only when it is being removed.
awaitable<void> wait(actor& a) {
    barrier b(a.zk(), path);
    co_await a.gate("before the barrier");
    bool set = !a.on().notes("set").empty() && a.on().exists(path);
    a.on().remember(a.client_index(), set);
    auto token = a.token();
    auto [ec] = co_await b.wait(token);
    if (!a.may_see(ec, "wait") || ec)
        co_return;
    if (set)
        a.on().check(!a.on().notes("removing").empty(), a.name() + " did not wait");
}

void two(stage& s) {
    s.play("keeper", 0, set_and_remove);
    s.play("waiter", 1, wait);
    s.leaves_nothing_in("/f");
}

void three(stage& s) {
    s.play("keeper", 0, set_and_remove);
    s.play("waiter", 1, wait);
    s.play("other", 2, wait);
    s.leaves_nothing_in("/f");
}

const registered all[] = {
    registered(scenario("barrier.2", 2, two)),
    registered(scenario("barrier.3", 3, three)),
};

}  // namespace

}  // namespace corozk::schedule
