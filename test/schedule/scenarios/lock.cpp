// SPDX-License-Identifier: Apache-2.0
#include "patience.hpp"
#include "turns.hpp"
#include <corozk/recipe/lock.hpp>

#include <chrono>
#include <limits>
#include <set>
#include <string>

namespace corozk::schedule {

namespace lock_scenarios {

awaitable<void> contend(actor& a) {
    lock l(a.zk(), folder);
    auto acquire = [&l](auto token) { return l.acquire(token); };
    co_await have_a_turn(a, acquire);
}

/// By other libraries' names.
template <compatibility Naming>
awaitable<void> contend_as(actor& a) {
    lock_options options;
    options.compatibility = Naming;
    lock l(a.zk(), folder, options);
    auto acquire = [&l](auto token) { return l.acquire(token); };
    co_await have_a_turn(a, acquire);
}

template <compatibility Naming>
void contest_as(stage& s) {
    contend_all(s, {{"a", contend_as<Naming>}, {"b", contend_as<Naming>}});
}

/// Asks once, and may be refused with this error.
template <class Acquire>
awaitable<void> ask_for_it(actor& a, Acquire acquire, errc refusal, const char* what) {
    auto token = a.token();
    auto [ec, held] = co_await acquire(token);
    if (ec) {
        if (ec != refusal)
            a.may_see(ec, what);
        co_return;
    }
    check_order(a, held.path(), turn_rule());
    stage::tenure owner(a, held);
    co_await a.gate("holding");
}

/// Gives up as soon as somebody is ahead.
awaitable<void> try_once(actor& a) {
    lock l(a.zk(), folder);
    auto acquire = [&l](auto token) { return l.try_acquire(token); };
    co_await ask_for_it(a, acquire, errc::would_block, "try_acquire");
}

/// `spread` sessions; the contenders take one after the other.
template <int Contenders, int Spread>
void contest(stage& s) {
    for (int i = 0; i < Contenders; ++i)
        s.play(std::string(1, static_cast<char>('a' + i)), i % Spread, contend);
    s.leaves_nothing_in(folder);
}

void contest_with_a_try(stage& s) {
    s.play("a", 0, contend);
    s.play("tries", 1, try_once);
    s.leaves_nothing_in(folder);
}

/// Somebody erases nodes of contenders.
void erased(stage& s) {
    contest<2, 2>(s);
    s.may_erase([](stage& where) {
        std::vector<std::string> paths;
        for (const std::string& name : where.children(folder))
            paths.push_back(std::string(folder) + "/" + name);
        return paths;
    });
}

/// Writes into the nodes of all contenders: a request to release.
awaitable<void> ask_all(actor& a) {
    lock l(a.zk(), folder);
    auto token = a.token();
    auto [ec, all] = co_await l.list_contenders(token);
    for (const contender_info& one : all) {
        auto [problem] = co_await l.request_release(one.path, token);
        if (problem == boost::asio::error::operation_aborted)
            co_return;
    }
}

void asked(stage& s) {
    contest<2, 2>(s);
    s.play("asks", 2, ask_all);
}

/// Holds it until somebody asks for its release.
awaitable<void> hold_until_asked(actor& a) {
    noted_at_the_end over(a, "over");
    lock l(a.zk(), folder);
    for (;;) {
        auto token = a.token();
        auto [ec, held] = co_await l.acquire(token);
        if (ec) {
            if (!a.may_see(ec, "acquire") || a.cancelled())
                co_return;
            continue;
        }
        auto asked_token = a.token();
        auto [lost] = co_await held.wait_release_requested(asked_token);
        a.may_see(lost, "wait_release_requested");
        co_await give_back(a, held);
        co_return;
    }
}

/// Asks each holder or waiter once.
awaitable<void> ask_once(actor& a) {
    lock l(a.zk(), folder);
    auto firm = a.firm_token();
    std::set<std::string> asked;
    while (times_noted(a, "over") == 0) {
        auto [ec, all] = co_await l.list_contenders(firm);
        for (const contender_info& one : all) {
            if (asked.contains(one.path))
                continue;
            auto [problem] = co_await l.request_release(one.path, firm);
            if (!problem)
                asked.insert(one.path);
        }
        co_await pause();
    }
}

/// Insists on what the holder does not do.
awaitable<void> insist(actor& a) {
    lock l(a.zk(), folder);
    auto firm = a.firm_token();
    for (;;) {
        auto [listed, all] = co_await l.list_contenders(firm);
        if (!all.empty()) {
            std::string path = all.front().path;
            auto [ec, removed] = co_await l.insist_on_release(path, std::chrono::seconds(2), firm);
            if (!ec) {
                a.on().check(!a.on().exists(path), "insisted, and it is there");
                if (removed)
                    a.on().note_down("removed", path);
                co_return;
            }
        }
        bool nobody = times_noted(a, "over") > 0 && !listed && all.empty();
        if (nobody)
            co_return;
        co_await pause();
    }
}

/// Holds it until it is lost.
awaitable<void> hold_on(actor& a) {
    noted_at_the_end over(a, "over");
    lock l(a.zk(), folder);
    auto firm = a.firm_token();
    auto [ec, held] = co_await l.acquire(firm);
    bool insisted = ec == errc::ownership_lost;
    if (!insisted && !a.may_see(ec, "acquire"))
        co_return;
    if (ec)
        co_return;
    auto lost_token = a.token();
    auto [failed, reason] = co_await held.wait_lost(lost_token);
    a.on().check(!failed || a.cancelled(), "wait_lost() has failed with " + failed.message());
    a.on().check(failed || !held.valid(), "valid, although it was lost");
}

void insisted(stage& s) {
    contend_all(s, {{"holds on", hold_on}, {"insists", insist}});
}

void asked_to_release(stage& s) {
    contend_all(s, {{"holder", hold_until_asked}, {"asks", ask_once}});
}

awaitable<void> hold_it(actor& a) {
    lock l(a.zk(), folder);
    auto acquire = [&l](auto token) { return l.acquire(token); };
    co_await hold_for_a_while(a, acquire);
}

/// Waits for it no longer than others hold it.
awaitable<void> try_for_a_while(actor& a) {
    lock l(a.zk(), folder);
    auto token = a.token();
    auto [ec, held] = co_await l.acquire_for(std::chrono::seconds(3), token);
    if (ec != errc::deadline_exceeded)
        a.may_see(ec, "acquire_for");
    if (ec)
        co_return;
    check_order(a, held.path(), turn_rule());
    stage::tenure owner(a, held);
    co_await a.gate("holding");
}

void patience_ends(stage& s) {
    contend_all(s, {{"holder", hold_it}, {"impatient", try_for_a_while}});
}

void patience_ends_between(stage& s) {
    contend_all(s, {{"holder", hold_it}, {"impatient", try_for_a_while}, {"c", contend}});
}

/// Is refused if the numbers of the folder are used up.
awaitable<void> contend_once(actor& a) {
    lock l(a.zk(), folder);
    auto acquire = [&l](auto token) { return l.acquire(token); };
    co_await ask_for_it(a, acquire, errc::sequence_exhausted, "acquire");
}

/// The first one or two get the last numbers of the folder that are used.
void exhausted(stage& s) {
    s.plant(folder, {}, std::numeric_limits<std::int32_t>::max() - (1 << 20) - 2);
    contend_all(s, {{"a", contend_once}, {"b", contend_once}, {"c", contend_once}});
}

const registered all[] = {
    registered(scenario("lock.1", 1, contest<1, 1>)),
    registered(scenario("lock.2", 2, contest<2, 2>).of_equals()),
    registered(scenario("lock.2-in-1", 1, contest<2, 1>)),
    registered(scenario("lock.2", 2, contest<2, 2>).of_equals().in_a_folder()),
    registered(scenario("lock.3", 3, contest<3, 3>).of_equals()),
    registered(scenario("lock.3", 3, contest<3, 3>).of_equals().in_a_folder()),
    registered(scenario("lock.3-in-1", 1, contest<3, 1>)),
    registered(scenario("lock.3-in-2", 2, contest<3, 2>)),
    registered(scenario("lock.curator", 2, contest_as<compatibility::curator>).of_equals()),
    registered(scenario("lock.kazoo", 2, contest_as<compatibility::kazoo>).of_equals()),
    registered(scenario("lock.try", 2, contest_with_a_try)),
    registered(scenario("lock.2", 2, contest<2, 2>).lagging()),
    registered(scenario("lock.asked", 3, asked)),
    registered(scenario("lock.asked-to-release", 2, asked_to_release)),
    registered(scenario("lock.insisted", 2, insisted)),
    registered(scenario("lock.deadline", 2, patience_ends)),
    registered(scenario("lock.deadline-3", 3, patience_ends_between)),
    registered(scenario("lock.exhausted", 3, exhausted).of_equals()),
    registered(scenario("lock.erased", 2, erased)
                   .of_equals()
                   .with({move_kind::cut, move_kind::lose_answer, move_kind::erase_node})),
    registered(scenario("lock.reaped", 2, contest<2, 2>)
                   .of_equals()
                   .with({move_kind::lose_answer, move_kind::cancel, move_kind::reap})),
};

}  // namespace lock_scenarios

}  // namespace corozk::schedule
