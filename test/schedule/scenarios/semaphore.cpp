// SPDX-License-Identifier: Apache-2.0
#include "patience.hpp"
#include "turns.hpp"
#include <corozk/recipe/semaphore.hpp>

#include <optional>
#include <string>
#include <utility>

namespace corozk::schedule {

namespace semaphore_scenarios {

constexpr int permits = 2;

template <int Weight>
awaitable<void> contend(actor& a) {
    semaphore all(a.zk(), folder, permits);
    turn_rule rule;
    rule.weight = Weight;
    rule.limit = permits;
    rule.may_be_ahead = [](const std::string&) { return true; };
    auto acquire = [&all](auto token) { return all.acquire(Weight, token); };
    co_await have_a_turn(a, acquire, rule);
}

/// One of the only permit, until the limit is raised.
awaitable<void> contend_for_the_only_one(actor& a) {
    std::optional<noted_at_the_end> coming(std::in_place, a, "arrived");
    semaphore all(a.zk(), folder, 1);
    for (;;) {
        auto token = a.token();
        auto [ec, held] = co_await all.acquire(1, token);
        bool raised = times_noted(a, "raising") > 0;
        if (ec == errc::limit_mismatch) {
            a.on().check(raised, "another limit, which nobody has set");
            co_return;
        }
        if (ec) {
            if (!a.may_see(ec, "acquire") || a.cancelled())
                co_return;
            continue;
        }
        turn_rule rule;
        rule.may_be_ahead = [raised](const std::string&) { return raised; };
        if (held.valid())
            check_order(a, held.path(), rule);
        {
            stage::tenure owner(a, held, 1, permits);
            coming.reset();
            co_await until_noted(a, "arrived", 2);
        }
        co_await give_back(a, held);
        co_return;
    }
}

/// As another library does it: a lock, and then a lease.
template <compatibility Naming>
awaitable<void> contend_for_a_lease(actor& a) {
    semaphore_options options;
    options.compatibility = Naming;
    semaphore all(a.zk(), folder, 1, options);
    turn_rule rule;
    rule.may_be_ahead = [](const std::string&) { return true; };
    auto acquire = [&all](auto token) { return all.acquire(1, token); };
    co_await have_a_turn(a, acquire, rule);
}

void leases_of_curator(stage& s) {
    constexpr auto contend = contend_for_a_lease<compatibility::curator>;
    play_all(s, {{"a", contend}, {"b", contend}});
    s.leaves_nothing_in("/f/locks");
    s.leaves_nothing_in("/f/leases");
}

void leases_of_kazoo(stage& s) {
    constexpr auto contend = contend_for_a_lease<compatibility::kazoo>;
    contend_all(s, {{"a", contend}, {"b", contend}});
    s.leaves_nothing_in("/f-__lock__");
}

awaitable<void> raise_the_limit(actor& a) {
    co_await a.gate("raising");
    a.on().note_down("raising", a.name());
    semaphore all(a.zk(), folder, 1);
    for (;;) {
        auto firm = a.firm_token();
        auto [ec] = co_await all.set_limit(permits, firm);
        if (!ec)
            co_return;
        co_await pause();
    }
}

void two(stage& s) {
    contend_all(s, {{"both", contend<2>}, {"one", contend<1>}});
}

template <int Sessions>
void three(stage& s) {
    contend_all(s, {{"one", contend<1>}, {"both", contend<2>}, {"another", contend<1>}}, Sessions);
}

/// Holds one of two until there is but one.
awaitable<void> hold_until_lowered(actor& a) {
    std::optional<noted_at_the_end> coming(std::in_place, a, "inside");
    semaphore all(a.zk(), folder, permits);
    auto token = a.token();
    auto [ec, held] = co_await all.acquire(1, token);
    if (ec == errc::limit_mismatch || !a.may_see(ec, "acquire") || ec)
        co_return;
    coming.reset();
    {
        stage::tenure owner(a, held, 1, permits);
        co_await until_noted(a, "lowered");
        co_await a.gate("holding");
    }
    co_await give_back(a, held);
}

/// Is granted one when all that held one before have left: there is but one by then.
awaitable<void> wait_for_the_only_one(actor& a) {
    semaphore all(a.zk(), folder, permits);
    co_await until_noted(a, "inside", 2);
    auto token = a.token();
    auto [ec, held] = co_await all.acquire(1, token);
    if (ec == errc::limit_mismatch || !a.may_see(ec, "acquire") || ec)
        co_return;
    stage& s = a.on();
    bool somebody_died = s.happened(move_kind::expire) || s.happened(move_kind::silence);
    if (held.valid() && !somebody_died && !s.happened(move_kind::cancel))
        check_order(a, held.path(), turn_rule());
    stage::tenure owner(a, held, 1, permits);
    co_await a.gate("holding");
}

awaitable<void> lower_the_limit(actor& a) {
    noted_at_the_end over(a, "lowered");
    co_await until_noted(a, "inside", 2);
    co_await a.gate("lowering");
    semaphore all(a.zk(), folder, permits);
    for (;;) {
        auto firm = a.firm_token();
        auto [ec] = co_await all.set_limit(1, firm);
        if (!ec)
            co_return;
        co_await pause();
    }
}

void lowered(stage& s) {
    contend_all(
        s,
        {{"a", hold_until_lowered}, {"b", hold_until_lowered}, {"waits", wait_for_the_only_one}});
    s.play("lowers", 2, lower_the_limit);
}

void raised(stage& s) {
    contend_all(s,
                {{"a", contend_for_the_only_one},
                 {"b", contend_for_the_only_one},
                 {"raises", raise_the_limit}});
}

/// The folder is there, with the limit.
template <void (*Contest)(stage&)>
void in_a_folder(stage& s) {
    s.plant(folder, std::to_string(permits));
    Contest(s);
}

const registered all[] = {
    registered(scenario("semaphore.2", 2, two)),
    registered(scenario("semaphore.2-in-a-folder", 2, in_a_folder<two>)),
    registered(scenario("semaphore.3", 3, three<3>)),
    registered(scenario("semaphore.3-in-1", 1, three<1>)),
    registered(scenario("semaphore.3-in-a-folder", 3, in_a_folder<three<3>>)),
    registered::in_halves(scenario("semaphore.3-in-a-folder", 3, in_a_folder<three<3>>)),
    registered(scenario("semaphore.curator", 2, leases_of_curator).of_equals()),
    registered(scenario("semaphore.kazoo", 2, leases_of_kazoo).of_equals()),
    registered(scenario("semaphore.lowered", 3, lowered)),
    registered(scenario("semaphore.raised", 3, raised)),
};

}  // namespace semaphore_scenarios

}  // namespace corozk::schedule
