// SPDX-License-Identifier: Apache-2.0
// Whoever waits for a master is told of one, never of an earlier state, and in the end that it has gone.
#include "patience.hpp"
#include "turns.hpp"
#include <corozk/recipe/rendezvous.hpp>

namespace corozk::schedule {

namespace rendezvous_scenarios {

constexpr const char* path = "/f/master";

awaitable<void> lead(actor& a) {
    rendezvous r(a.zk(), path);
    auto firm = a.firm_token();
    auto [published] = co_await r.publish("1", firm);
    if (!a.may_see(published, "publish"))
        co_return;
    co_await a.gate("published");
    auto [updated] = co_await r.set_data("2", firm);
    if (!a.may_see(updated, "update"))
        co_return;
    co_await until_noted(a, "seen");
    auto [withdrawn] = co_await r.withdraw(firm);
    a.may_see(withdrawn, "withdraw");
}

/// Comes later, and waits until the place is free.
awaitable<void> succeed(actor& a) {
    rendezvous r(a.zk(), path);
    auto token = a.token();
    auto [published] = co_await r.publish("3", token);
    if (!a.may_see(published, "publish") || published)
        co_return;
    co_await a.gate("published");
    auto firm = a.firm_token();
    auto [withdrawn] = co_await r.withdraw(firm);
    a.may_see(withdrawn, "withdraw");
}

/// The next state, which is another one, and later than the last point that was there.
awaitable<bool> see_next(actor& a, rendezvous& r, rendezvous_point& last, bool& present) {
    auto token = a.token();
    auto [ec, next] = co_await r.next(token);
    if (!a.may_see(ec, "next") || ec)
        co_return false;
    bool later = next.incarnation > last.incarnation ||
                 (next.incarnation == last.incarnation && next.data > last.data);
    a.on().check(!next.present || later, "a state comes that was told before, or an earlier one");
    present = next.present;
    if (present)
        last = next;
    co_return true;
}

awaitable<void> follow(actor& a) {
    rendezvous r(a.zk(), path);
    rendezvous_point last;
    bool present = false;
    {
        noted_at_the_end seen(a, "seen");
        auto token = a.token();
        auto [ec, point] = co_await r.await(token);
        if (!a.may_see(ec, "await") || ec)
            co_return;
        a.on().check(point.present, "nobody is there");
        while (last.data < "2") {
            bool seen_one = co_await see_next(a, r, last, present);
            if (!seen_one)
                co_return;
        }
    }
    while (present) {
        bool seen_one = co_await see_next(a, r, last, present);
        if (!seen_one)
            co_return;
    }
}

void two(stage& s) {
    contend_all(s, {{"master", lead}, {"worker", follow}});
}

void three(stage& s) {
    contend_all(s, {{"master", lead}, {"worker", follow}, {"successor", succeed}});
}

const registered all[] = {
    registered(scenario("rendezvous.2", 2, two).with_child_stats()),
    registered(scenario("rendezvous.3", 3, three).with_child_stats()),
    registered(scenario("rendezvous.3", 3, three).with_child_stats().in_a_folder()),
};

}  // namespace rendezvous_scenarios

}  // namespace corozk::schedule
