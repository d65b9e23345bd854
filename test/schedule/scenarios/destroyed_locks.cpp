// SPDX-License-Identifier: Apache-2.0
// An ownership goes on without its object; a latch ends with it.
#include "destroyed.hpp"
#include <corozk/recipe/leader_latch.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/priority_lock.hpp>

#include <optional>
#include <string>
#include <utility>

namespace corozk::schedule {

namespace destroyed_locks_scenarios {

// What goes on without its object ---------------------------------------------------------------

awaitable<void> hold(actor& a, ownership held) {
    {
        stage::tenure owner(a, held);
        co_await a.gate("holding");
    }
    co_await give_back(a, held);
}

awaitable<void> use_lock(actor& a, std::optional<lock>& l) {
    if (!l)
        co_return;
    auto token = a.token();
    auto [ec, held] = co_await l->acquire(token);
    if (a.may_see(ec, "acquire") && !ec)
        co_await hold(a, std::move(held));
}

awaitable<void> contend(actor& a) {
    lock l(a.zk(), folder);
    auto acquire = [&l](auto token) { return l.acquire(token); };
    co_await have_a_turn(a, acquire);
}

void a_lock(stage& s) {
    play_until_destroyed(s, lock(s.zk(0), folder), use_lock);
    s.play("b", 1, contend);
    s.leaves_nothing_in(folder);
}

awaitable<void> use_priority_lock(actor& a, std::optional<priority_lock>& l) {
    if (!l)
        co_return;
    auto token = a.token();
    auto [ec, held] = co_await l->acquire(1, token);
    if (a.may_see(ec, "acquire") && !ec)
        co_await hold(a, std::move(held));
}

awaitable<void> contend_by_priority(actor& a) {
    priority_lock l(a.zk(), folder);
    auto acquire = [&l](auto token) { return l.acquire(0, token); };
    turn_rule rule;
    rule.may_be_ahead = [](const std::string&) { return true; };
    co_await have_a_turn(a, acquire, rule);
}

void a_priority_lock(stage& s) {
    play_until_destroyed(s, priority_lock(s.zk(0), folder), use_priority_lock);
    s.play("b", 1, contend_by_priority);
    s.leaves_nothing_in(folder);
}

// What ends with its object ---------------------------------------------------------------------

awaitable<void> use_latch(actor& a, std::optional<leader_latch>& latch) {
    if (!latch)
        co_return;
    latch->start();
    auto token = a.token();
    auto [ec, fencing_token] = co_await latch->wait_leadership(token);
    if (!goes_on(a, latch, ec, "leadership"))
        co_return;
    std::string path = latch->term_path();
    auto leads = [&latch, path] {
        return latch && latch->has_leadership() && latch->term_path() == path;
    };
    stage::tenure owner(a, path, leads);
    co_await a.gate("leading");
}

awaitable<void> lead(actor& a) {
    leader_latch latch(a.zk(), folder);
    latch.start();
    auto token = a.token();
    auto [ec, fencing_token] = co_await latch.wait_leadership(token);
    a.may_see(ec, "leadership");
}

void a_latch(stage& s) {
    play_until_destroyed(s, leader_latch(s.zk(0), folder), use_latch);
    s.play("b", 1, lead);
    s.leaves_nothing_in(folder);
}

const registered all[] = {
    registered(scenario("destroyed.leader_latch", 2, a_latch).with_child_stats()),
    registered(scenario("destroyed.lock", 2, a_lock).with_child_stats()),
    registered(scenario("destroyed.priority_lock", 2, a_priority_lock).with_child_stats()),
};

}  // namespace destroyed_locks_scenarios

}  // namespace corozk::schedule
