// SPDX-License-Identifier: Apache-2.0
#include "engine/meter.hpp"
#include <corozk/recipe/barrier.hpp>
#include <corozk/recipe/double_barrier.hpp>
#include <corozk/recipe/two_phase_commit.hpp>

#include <catch2/catch.hpp>

#include <deque>
#include <string>
#include <vector>

namespace corozk::testing::barriers_test {

using boost::asio::awaitable;

TEST_CASE("costs: barrier") {
    costs_of("barrier", 3, [](meter& m) {
        barrier mine(m[0], m.path() + "/b"), second(m[1], m.path() + "/b"),
            third(m[2], m.path() + "/b");
        auto set = [&]() -> awaitable<void> { co_await mine.set(); };
        auto remove = [&]() -> awaitable<void> { co_await mine.remove(); };
        m.count("the first set", set);
        m.run(remove);
        m.count("wait where there is none", [&]() -> awaitable<void> { co_await second.wait(); });
        m.count("set", set);
        m.count_steps("waiting",
                      [&] { m.begin([&]() -> awaitable<void> { co_await second.wait(); }); });
        m.count_steps("10 more waiting, on another session", [&] {
            m.begin_many(10, [&]() -> awaitable<void> { co_await third.wait(); });
        });
        m.count("remove, and all go", remove);
    });
}

TEST_CASE("costs: double_barrier") {
    costs_of("double_barrier", 3, [](meter& m) {
        {
            std::deque<double_barrier> gates;
            for (std::size_t i = 0; i < 3; ++i)
                gates.emplace_back(m[i], m.path() + "/a", 3U);
            auto enter = [&](std::size_t i) {
                m.begin([&g = gates[i]]() -> awaitable<void> { co_await g.enter(); });
            };
            auto leave = [&](std::size_t i) {
                m.begin([&g = gates[i]]() -> awaitable<void> { co_await g.leave(); });
            };
            m.count_steps("the first of 3 sessions enters", [&] { enter(0); });
            m.count_steps("the second", [&] { enter(1); });
            m.count_steps("the last one, and all are inside", [&] { enter(2); });
            m.count_steps("the first of 3 leaves", [&] { leave(0); });
            m.count_steps("the second leaves", [&] { leave(1); });
            m.count_steps("the last one leaves", [&] { leave(2); });
        }
        {
            std::deque<double_barrier> gates;
            for (std::size_t i = 0; i < 10; ++i)
                gates.emplace_back(m[0], m.path() + "/b", 10U);
            std::size_t entering = 0, leaving = 0;
            m.count_steps("10 of one session enter", [&] {
                m.begin_many(10, [&]() -> awaitable<void> { co_await gates[entering++].enter(); });
            });
            m.count_steps("10 of one session leave", [&] {
                m.begin_many(10, [&]() -> awaitable<void> { co_await gates[leaving++].leave(); });
            });
        }
    });
}

namespace {

void count_commit(meter& m, const std::string& title, commit_form form, const std::string& path) {
    commit_options options;
    options.form = form;
    commit_coordinator coordinator(m[3], path, options);
    std::vector<std::string> names{"a", "b", "c"};
    std::deque<commit_site> sites;
    for (std::size_t i = 0; i < 3; ++i)
        sites.emplace_back(m[i], path, names[i]);
    m.count(title + ": begin",
            [&]() -> awaitable<void> { co_await coordinator.begin(names, "payload"); });
    m.count_steps(title + ": 3 sites join", [&] {
        for (commit_site& site : sites)
            m.run([&]() -> awaitable<void> { co_await site.join(); });
    });
    std::deque<commit_outcome> outcomes;
    m.count_steps(title + ": deciding and 3 votes", [&] {
        m.begin([&]() -> awaitable<void> { outcomes.push_back(co_await coordinator.decide()); });
        for (commit_site& site : sites) {
            m.begin([&]() -> awaitable<void> {
                outcomes.push_back(co_await site.vote(commit_vote::commit));
            });
        }
    });
    REQUIRE(outcomes.size() == 4);
    for (const commit_outcome& outcome : outcomes)
        CHECK(outcome.committed);
    m.count_steps(title + ": 3 sites finish", [&] {
        for (commit_site& site : sites)
            m.run([&]() -> awaitable<void> { co_await site.finish(); });
    });
    m.count(title + ": clean_up", [&]() -> awaitable<void> { co_await coordinator.clean_up(); });
}

}  // namespace

TEST_CASE("costs: two_phase_commit") {
    costs_of("two_phase_commit", 4, [](meter& m) {
        count_commit(m, "all_sites", commit_form::all_sites, m.path() + "/a");
        count_commit(m, "coordinator", commit_form::coordinator, m.path() + "/b");
    });
}

}  // namespace corozk::testing::barriers_test
