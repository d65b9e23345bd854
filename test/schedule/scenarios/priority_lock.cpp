// SPDX-License-Identifier: Apache-2.0
#include "patience.hpp"
#include "turns.hpp"
#include <corozk/recipe/priority_lock.hpp>

namespace corozk::schedule {

namespace {

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
        auto [lost] = co_await held.release_requested(asked_token);
        a.may_see(lost, "release_requested");
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

}  // namespace

}  // namespace corozk::schedule
