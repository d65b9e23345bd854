// SPDX-License-Identifier: Apache-2.0
// Latches that lead once or twice: never two at a time, and never one without its node.
#include "turns.hpp"
#include <corozk/recipe/leader_latch.hpp>

namespace corozk::schedule {

namespace leader_latch_scenarios {

/// @return false if it is to end
awaitable<bool> lead_once(actor& a, leader_latch& latch) {
    auto token = a.token();
    auto [ec, fencing_token] = co_await latch.wait_leadership(token);
    if (ec) {
        a.may_see(ec, "leadership");
        co_return false;
    }
    std::string path = latch.term_path();
    auto leads = [&latch, path] { return latch.has_leadership() && latch.term_path() == path; };
    stage::tenure owner(a, path, leads);
    co_await a.gate("leading");
    co_return true;
}

awaitable<void> close(actor& a, leader_latch& latch) {
    auto firm = a.firm_token();
    auto [ec] = co_await latch.close(firm);
    a.may_see(ec, "close");
}

awaitable<void> lead(actor& a) {
    leader_latch latch(a.zk(), folder);
    latch.start();
    co_await lead_once(a, latch);
    co_await close(a, latch);
}

/// Resigns, and waits until it leads again.
awaitable<void> lead_twice(actor& a) {
    leader_latch latch(a.zk(), folder);
    latch.start();
    bool led = co_await lead_once(a, latch);
    if (led) {
        auto firm = a.firm_token();
        auto [ec] = co_await latch.resign(firm);
        a.may_see(ec, "resign");
        co_await lead_once(a, latch);
    }
    co_await close(a, latch);
}

void two(stage& s) {
    contend_all(s, {{"a", lead}, {"b", lead}});
}

void three(stage& s) {
    contend_all(s, {{"a", lead}, {"b", lead}, {"c", lead}});
}

void with_resignation(stage& s) {
    contend_all(s, {{"resigns", lead_twice}, {"b", lead}});
}

/// Goes by what it is told of itself.
awaitable<void> lead_by_changes(actor& a) {
    leader_latch latch(a.zk(), folder);
    latch.start();
    latch_status known;
    while (!latch.has_leadership()) {
        auto token = a.token();
        auto [ec, now] = co_await latch.next_status(known, token);
        if (!a.may_see(ec, "changed") || ec)
            break;
        a.on().check(now.revision != known.revision, "told twice");
        known = now;
    }
    if (latch.has_leadership()) {
        std::string path = latch.term_path();
        auto leads = [&latch, path] { return latch.has_leadership() && latch.term_path() == path; };
        stage::tenure owner(a, path, leads);
        co_await a.gate("leading");
    }
    co_await close(a, latch);
}

void by_changes(stage& s) {
    contend_all(s, {{"a", lead_by_changes}, {"b", lead}});
}

void in_one_session(stage& s) {
    s.play("a", 0, lead);
    s.play("b", 0, lead);
    s.leaves_nothing_in(folder);
}

const registered all[] = {
    registered(scenario("leader_latch.2-in-1", 1, in_one_session)),
    registered(scenario("leader_latch.changes", 2, by_changes)),
    registered(scenario("leader_latch.2", 2, two).of_equals()),
    registered(scenario("leader_latch.3", 3, three).of_equals()),
    registered(scenario("leader_latch.3", 3, three).of_equals().in_a_folder()),
    registered(scenario("leader_latch.resign", 2, with_resignation)),
};

}  // namespace leader_latch_scenarios

}  // namespace corozk::schedule
