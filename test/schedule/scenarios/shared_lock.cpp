// SPDX-License-Identifier: Apache-2.0
#include "patience.hpp"
#include "turns.hpp"
#include <corozk/recipe/shared_lock.hpp>

#include <cstddef>
#include <utility>

namespace corozk::schedule {

namespace shared_lock_scenarios {

constexpr int all_of_it = 100;

awaitable<void> read(actor& a) {
    shared_lock l(a.zk(), folder);
    turn_rule rule;
    rule.limit = all_of_it;
    rule.may_be_ahead = [](const std::string& name) { return name.find("-read-") != name.npos; };
    auto acquire = [&l](auto token) { return l.acquire_read(token); };
    co_await have_a_turn(a, acquire, rule);
}

turn_rule rule_of_writers() {
    turn_rule rule;
    rule.weight = rule.limit = all_of_it;
    return rule;
}

awaitable<void> write(actor& a) {
    shared_lock l(a.zk(), folder);
    turn_rule rule = rule_of_writers();
    auto acquire = [&l](auto token) { return l.acquire_write(token); };
    co_await have_a_turn(a, acquire, rule);
}

/// Owns it as a writer, and says so.
awaitable<void> write_at_a_gate(actor& a, const ownership& held) {
    turn_rule rule = rule_of_writers();
    stage::tenure owner(a, held, rule.weight, rule.limit);
    co_await a.gate("writing");
    // What one writes that has lost it without knowing is for the fencing token to refuse.
    if (!a.on().session_ended(a.client_index()))
        a.on().note_down("written", a.name());
}

/// A reader that becomes a writer, unless another one wants the same: nobody writes in between.
awaitable<void> read_and_upgrade(actor& a) {
    shared_lock l(a.zk(), folder);
    auto token = a.token();
    auto [ec, held] = co_await l.acquire_read(token);
    if (!a.may_see(ec, "acquire_read") || ec)
        co_return;
    {
        stage::tenure reader(a, held, 1, all_of_it);
        co_await a.gate("reading");
    }
    std::size_t written = times_noted(a, "written");
    auto upgrade_token = a.token();
    auto [upgraded] = co_await l.upgrade(held, upgrade_token);
    if (!upgraded) {
        a.on().check(!held.valid() || times_noted(a, "written") == written,
                     "somebody has written in between");
        co_await write_at_a_gate(a, held);
    } else if (upgraded == errc::would_deadlock) {
        stage::tenure reader(a, held, 1, all_of_it);
        co_await a.gate("reading on");
    } else {
        a.may_see(upgraded, "upgrade");
    }
    co_await give_back(a, held);
}

/// A writer that stays as a reader: what it has written is the last.
awaitable<void> write_and_downgrade(actor& a) {
    shared_lock l(a.zk(), folder);
    auto token = a.token();
    auto [ec, held] = co_await l.acquire_write(token);
    if (!a.may_see(ec, "acquire_write") || ec)
        co_return;
    co_await write_at_a_gate(a, held);
    std::size_t written = times_noted(a, "written");
    auto firm = a.firm_token();
    auto [downgraded] = co_await l.downgrade(held, firm);
    if (a.may_see(downgraded, "downgrade") && !downgraded) {
        a.on().check(!held.valid() || times_noted(a, "written") == written,
                     "somebody has written in between");
        stage::tenure reader(a, held, 1, all_of_it);
        co_await a.gate("reading");
    }
    co_await give_back(a, held);
}

void upgrade_both(stage& s) {
    contend_all(s, {{"a", read_and_upgrade}, {"b", read_and_upgrade}});
}

void upgrade_among_readers(stage& s) {
    contend_all(s, {{"upgrades", read_and_upgrade}, {"reader", read}, {"writer", write}});
}

void downgrade(stage& s) {
    contend_all(s, {{"downgrades", write_and_downgrade}, {"upgrades", read_and_upgrade}});
}

void downgrade_before_a_writer(stage& s) {
    contend_all(s, {{"downgrades", write_and_downgrade}, {"writer", write}});
}

void downgrade_before_others(stage& s) {
    contend_all(s, {{"downgrades", write_and_downgrade}, {"reader", read}, {"writer", write}});
}

void write_and_read(stage& s) {
    contend_all(s, {{"writer", write}, {"reader", read}});
}

void all_three(stage& s) {
    contend_all(s, {{"reader", read}, {"writer", write}, {"other reader", read}});
}

const registered all[] = {
    registered(scenario("shared_lock.2", 2, write_and_read)),
    registered(scenario("shared_lock.3", 3, all_three)),
    registered(scenario("shared_lock.3", 3, all_three).in_a_folder()),
    registered(scenario("shared_lock.upgrade", 2, upgrade_both).of_equals()),
    registered(scenario("shared_lock.upgrade-3", 3, upgrade_among_readers)),
    registered(scenario("shared_lock.downgrade", 2, downgrade)),
    registered(scenario("shared_lock.downgrade-2", 2, downgrade_before_a_writer)),
    registered(scenario("shared_lock.downgrade-2", 2, downgrade_before_a_writer).in_a_folder()),
    registered(scenario("shared_lock.downgrade-3", 3, downgrade_before_others)),
    registered(scenario("shared_lock.downgrade-3", 3, downgrade_before_others).in_a_folder()),
};

}  // namespace shared_lock_scenarios

}  // namespace corozk::schedule
