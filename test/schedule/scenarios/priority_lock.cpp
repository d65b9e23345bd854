// SPDX-License-Identifier: Apache-2.0
#include "patience.hpp"
#include "turns.hpp"
#include <corozk/contender_info.hpp>
#include <corozk/recipe/priority_lock.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace corozk::schedule {

namespace priority_lock_scenarios {

constexpr int all_of_it = 100;

template <int Priority>
awaitable<void> read(actor& a) {
    priority_lock l(a.zk(), folder);
    turn_rule rule;
    rule.limit = all_of_it;
    rule.may_be_ahead = [](const std::string&) { return true; };
    auto acquire = [&l](auto token) { return l.acquire_read(Priority, token); };
    co_await have_a_turn(a, acquire, rule);
}

template <int Priority>
awaitable<void> write(actor& a) {
    priority_lock l(a.zk(), folder);
    turn_rule rule;
    rule.weight = rule.limit = all_of_it;
    rule.may_be_ahead = [](const std::string&) { return true; };
    auto acquire = [&l](auto token) { return l.acquire(Priority, token); };
    co_await have_a_turn(a, acquire, rule);
}

priority_lock_options asking() {
    priority_lock_options options;
    options.ask_holder_to_release = true;
    return options;
}

/// Holds it until somebody more urgent wants it.
awaitable<void> hold_until_asked(actor& a) {
    noted_at_the_end over(a, "over");
    priority_lock l(a.zk(), folder, asking());
    auto token = a.token();
    auto [ec, held] = co_await l.acquire(5, token);
    if (!a.may_see(ec, "acquire") || ec)
        co_return;
    {
        stage::tenure owner(a, held);
        auto asked_token = a.token();
        auto [lost] = co_await held.wait_release_requested(asked_token);
        a.may_see(lost, "wait_release_requested");
    }
    co_await give_back(a, held);
}

/// Again and again, until the other one has had it.
awaitable<void> want_urgently(actor& a) {
    priority_lock l(a.zk(), folder, asking());
    while (times_noted(a, "over") == 0) {
        auto firm = a.firm_token();
        auto [ec, held] = co_await l.acquire(1, firm);
        if (!a.may_see(ec, "acquire"))
            co_return;
        if (ec)
            continue;
        {
            stage::tenure owner(a, held);
            co_await a.gate("holding");
        }
        co_await give_back(a, held);
        co_await pause();
    }
}

constexpr std::int32_t patient = 5;
constexpr std::int32_t urgent = 1;

/// @return whether both others wait; who is urgent is noted down then
bool both_wait(actor& a, const std::vector<contender_info>& all) {
    if (all.size() < 3)
        return false;
    for (const contender_info& one : all) {
        if (one.priority == urgent)
            a.on().note_down("urgent", one.path);
    }
    return true;
}

/// Until both others wait, or will not any more.
awaitable<void> hold_until_both_wait(actor& a, priority_lock& l, const ownership& held) {
    auto firm = a.firm_token();
    while (held.valid() && times_noted(a, "over") == 0) {
        auto [ec, all] = co_await l.list_contenders(firm);
        if (!ec && both_wait(a, all))
            co_return;
        co_await pause();
    }
}

/// The first of all.
awaitable<void> hold_before_others(actor& a) {
    std::optional<noted_at_the_end> coming(std::in_place, a, "begun");
    priority_lock l(a.zk(), folder);
    auto token = a.token();
    auto [ec, held] = co_await l.acquire(9, token);
    if (!a.may_see(ec, "acquire") || ec)
        co_return;
    coming.reset();
    {
        stage::tenure owner(a, held, all_of_it, all_of_it);
        co_await hold_until_both_wait(a, l, held);
    }
    co_await give_back(a, held);
}

/// Who was urgent when the holder released has had it, or waits no more.
void check_priority(actor& a) {
    for (const std::string& contender : a.on().notes("urgent"))
        a.on().check(!a.on().exists(contender), a.name() + " has overtaken " + contender);
}

template <std::int32_t Priority>
awaitable<void> wait_behind_the_holder(actor& a) {
    noted_at_the_end over(a, "over");
    priority_lock l(a.zk(), folder);
    co_await until_noted(a, "begun");
    auto token = a.token();
    auto [ec, held] = co_await l.acquire(Priority, token);
    if (!a.may_see(ec, "acquire") || ec)
        co_return;
    if (Priority == patient && held.valid())
        check_priority(a);
    {
        stage::tenure owner(a, held, all_of_it, all_of_it);
        co_await a.gate("holding");
    }
    co_await give_back(a, held);
}

void by_priority(stage& s) {
    contend_all(s,
                {{"holder", hold_before_others},
                 {"patient", wait_behind_the_holder<patient>},
                 {"urgent", wait_behind_the_holder<urgent>}});
}

/// Stays until the other one is there as well, or never will be.
awaitable<void> read_with_another(actor& a) {
    std::optional<noted_at_the_end> coming(std::in_place, a, "inside");
    priority_lock l(a.zk(), folder);
    auto token = a.token();
    auto [ec, held] = co_await l.acquire_read(patient, token);
    if (!a.may_see(ec, "acquire_read") || ec)
        co_return;
    coming.reset();
    {
        stage::tenure reader(a, held, 1, all_of_it);
        co_await until_noted(a, "inside", 2);
    }
    co_await give_back(a, held);
}

void readers_together(stage& s) {
    contend_all(s, {{"a", read_with_another}, {"b", read_with_another}});
}

void asked(stage& s) {
    contend_all(s, {{"low", hold_until_asked}, {"high", want_urgently}});
}

void with_readers(stage& s) {
    contend_all(s, {{"reader", read<5>}, {"writer", write<1>}, {"other reader", read<0>}});
}

void two(stage& s) {
    contend_all(s, {{"low", write<5>}, {"high", write<1>}});
}

template <int Sessions>
void three(stage& s) {
    contend_all(s, {{"low", write<5>}, {"high", write<1>}, {"higher", write<0>}}, Sessions);
}

const registered all[] = {
    registered(scenario("priority_lock.asked", 2, asked).uncancelled()),
    registered(scenario("priority_lock.order", 3, by_priority)),
    registered(scenario("priority_lock.order", 3, by_priority).in_a_folder()),
    registered(scenario("priority_lock.together", 2, readers_together).of_equals()),
    registered(scenario("priority_lock.readers", 3, with_readers)),
    registered(scenario("priority_lock.2", 2, two)),
    registered(scenario("priority_lock.2", 2, two).in_a_folder()),
    registered(scenario("priority_lock.3", 3, three<3>)),
    registered(scenario("priority_lock.3", 3, three<3>).in_a_folder()),
    registered(scenario("priority_lock.3-in-1", 1, three<1>)),
    registered(scenario("priority_lock.3-in-2", 2, three<2>).in_a_folder()),
    registered::in_halves(scenario("priority_lock.2", 2, two).in_a_folder()),
    registered::in_halves(scenario("priority_lock.3", 3, three<3>).in_a_folder()),
    registered::in_halves(scenario("priority_lock.3-in-2", 2, three<2>).in_a_folder()),
};

}  // namespace priority_lock_scenarios

}  // namespace corozk::schedule
