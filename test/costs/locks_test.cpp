// SPDX-License-Identifier: Apache-2.0
#include "engine/meter.hpp"
#include <corozk/recipe/election.hpp>
#include <corozk/recipe/leader_latch.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/multi_lock.hpp>
#include <corozk/recipe/priority_lock.hpp>
#include <corozk/recipe/semaphore.hpp>
#include <corozk/recipe/shared_lock.hpp>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace corozk::testing::locks_test {

using boost::asio::awaitable;

namespace {

/// The lock of one path as each session sees it.
template <class Lock>
struct crowd {
    template <class... Options>
    crowd(meter& of, std::size_t sessions, const std::string& path, const Options&... options)
        : m(of) {
        for (std::size_t i = 0; i < sessions; ++i)
            locks.emplace_back(m[i], path, options...);
    }

    meter& m;
    std::deque<Lock> locks;
};

/// So many that wait for what the first session holds, on all sessions in turn, and give it back at once.
/// `acquire(lock, who)` is what each does; `who` counts from 1, and 0 is the first holder.
template <class Lock, class Acquire>
void count_handovers(crowd<Lock>& c, std::size_t waiters, Acquire acquire) {
    meter& m = c.m;
    std::string what = c.locks.size() == 1
                           ? fmt::format("{} waiters on one session", waiters)
                           : fmt::format("{} waiters on {} sessions", waiters, c.locks.size());
    ownership held;
    m.run([&]() -> awaitable<void> { held = co_await acquire(c.locks.front(), 0); });
    std::size_t queued = 0;
    auto wait = [&]() -> awaitable<void> {
        std::size_t who = ++queued;
        ownership granted = co_await acquire(c.locks[who % c.locks.size()], who);
        co_await granted.release();
    };
    m.count_steps(what + ": queueing", [&] { m.begin_many(waiters, wait); });
    m.count(what + ": handing over", [&]() -> awaitable<void> { co_await held.release(); });
}

/// All permits are held, by as many sessions, and given back one after the other while others wait, who give
/// them back at once.
void count_passing(meter& m, std::int32_t limit, std::size_t waiters, std::size_t sessions) {
    std::string what =
        fmt::format("{} permits, {} waiters on {} sessions", limit, waiters, sessions);
    crowd<semaphore> c(m, sessions, fmt::format("{}/{}-{}", m.path(), limit, waiters), limit);
    std::vector<ownership> held(static_cast<std::size_t>(limit));
    for (std::size_t i = 0; i < held.size(); ++i)
        m.run([&, i]() -> awaitable<void> { held[i] = co_await c.locks[i % sessions].acquire(); });
    std::size_t queued = 0;
    auto wait = [&]() -> awaitable<void> {
        ownership granted = co_await c.locks[queued++ % sessions].acquire();
        co_await granted.release();
    };
    m.count_steps(what + ": queueing", [&] { m.begin_many(waiters, wait); });
    m.count(what + ": handing over", [&]() -> awaitable<void> {
        for (ownership& mine : held)
            co_await mine.release();
    });
}

/// Each session holds it for a while.
template <class Lock, class Acquire>
void count_slow_handovers(crowd<Lock>& c, Acquire acquire) {
    meter& m = c.m;
    std::vector<ownership> held(c.locks.size());
    for (std::size_t i = 0; i < held.size(); ++i)
        m.begin([&, i]() -> awaitable<void> { held[i] = co_await acquire(c.locks[i], i); });
    m.count_steps(fmt::format("{} sessions hold it for a while: handing over", held.size()), [&] {
        for (ownership& mine : held)
            m.run([&]() -> awaitable<void> { co_await mine.release(); });
    });
}

/// Takes it and gives it back at once, until what is sent does not change any more.
template <class Lock, class Acquire>
void count_cycles(crowd<Lock>& c, Acquire acquire) {
    meter& m = c.m;
    auto cycle = [&]() -> awaitable<void> {
        ownership held = co_await acquire(c.locks.front(), 0);
        co_await held.release();
    };
    m.count("the first cycle", cycle);
    m.run(cycle);
    m.run(cycle);
    m.count("uncontended cycle", cycle);
    ownership held;
    m.count("uncontended acquire, held for a while",
            [&]() -> awaitable<void> { held = co_await acquire(c.locks.front(), 0); });
    m.count("release after a while", [&]() -> awaitable<void> { co_await held.release(); });
}

template <class Operation>
awaitable<void> refused(Operation operation, error_code expected) {
    error_code ec;
    try {
        ownership held = co_await operation();
    } catch (const boost::system::system_error& e) {
        ec = e.code();
    }
    CHECK(ec == expected);
}

}  // namespace

TEST_CASE("costs: lock") {
    costs_of("lock", 10, [](meter& m) {
        auto acquire = [](lock& l, std::size_t) { return l.acquire(); };
        {
            crowd<lock> one(m, 1, m.path() + "/0");
            count_cycles(one, acquire);
        }
        for (std::size_t waiters : {2u, 10u, 100u}) {
            crowd<lock> one(m, 1, m.path() + "/1");
            count_handovers(one, waiters, acquire);
        }
        for (std::size_t waiters : {2u, 10u, 100u}) {
            crowd<lock> ten(m, 10, m.path() + "/2");
            count_handovers(ten, waiters, acquire);
        }
        crowd<lock> ten(m, 10, m.path() + "/3");
        count_slow_handovers(ten, acquire);
        ownership held;
        m.run([&]() -> awaitable<void> { held = co_await ten.locks[0].acquire(); });
        m.count("try_acquire, refused", [&]() -> awaitable<void> {
            auto attempt = [&] { return ten.locks[1].try_acquire(); };
            co_await refused(attempt, errc::would_block);
        });
        m.run([&]() -> awaitable<void> { co_await held.release(); });
    });
}

TEST_CASE("costs: shared_lock") {
    costs_of("shared_lock", 4, [](meter& m) {
        auto write = [](shared_lock& l, std::size_t) { return l.acquire_write(); };
        // Two readers behind each writer.
        auto both = [](shared_lock& l, std::size_t who) {
            return who % 3 == 0 ? l.acquire_write() : l.acquire_read();
        };
        {
            crowd<shared_lock> one(m, 1, m.path() + "/0");
            count_cycles(one, write);
        }
        {
            crowd<shared_lock> one(m, 1, m.path() + "/1");
            count_handovers(one, 12, both);
        }
        crowd<shared_lock> four(m, 4, m.path() + "/2");
        count_handovers(four, 12, both);
        crowd<shared_lock> two(m, 2, m.path() + "/3");
        ownership reading, writing;
        auto& mine = two.locks[0];
        auto& theirs = two.locks[1];
        m.count("acquire_read",
                [&]() -> awaitable<void> { reading = co_await mine.acquire_read(); });
        m.begin([&]() -> awaitable<void> { writing = co_await theirs.acquire_write(); });
        m.count("from a reader to a writer",
                [&]() -> awaitable<void> { co_await reading.release(); });
        m.begin([&]() -> awaitable<void> { reading = co_await mine.acquire_read(); });
        m.count("from a writer to a reader",
                [&]() -> awaitable<void> { co_await writing.release(); });
        m.run([&]() -> awaitable<void> { co_await reading.release(); });
    });
}

TEST_CASE("costs: semaphore") {
    costs_of("semaphore", 5, [](meter& m) {
        auto acquire = [](semaphore& s, std::size_t) { return s.acquire(); };
        constexpr std::int32_t limit = 2;
        {
            crowd<semaphore> one(m, 1, m.path() + "/0", limit);
            count_cycles(one, acquire);
        }
        // One permit is held for all that time.
        crowd<semaphore> one(m, 1, m.path() + "/1", limit);
        crowd<semaphore> five(m, 5, m.path() + "/2", limit);
        ownership staying;
        m.run([&]() -> awaitable<void> { staying = co_await one.locks[0].acquire(); });
        count_handovers(one, 10, acquire);
        m.run([&]() -> awaitable<void> { co_await staying.release(); });
        m.run([&]() -> awaitable<void> { staying = co_await five.locks[0].acquire(); });
        count_handovers(five, 10, acquire);
        m.run([&]() -> awaitable<void> { co_await staying.release(); });
    });
}

TEST_CASE("costs: semaphore_queue") {
    costs_of("semaphore_queue", 40, [](meter& m) {
        count_passing(m, 10, 40, 40);
        count_passing(m, 20, 40, 40);
        count_passing(m, 10, 80, 40);
    });
}

TEST_CASE("costs: priority_lock") {
    costs_of("priority_lock", 3, [](meter& m) {
        auto acquire = [](priority_lock& l, std::size_t who) {
            return l.acquire(static_cast<std::int32_t>(who % 2));
        };
        {
            crowd<priority_lock> one(m, 1, m.path() + "/0");
            count_cycles(one, acquire);
        }
        {
            crowd<priority_lock> one(m, 1, m.path() + "/1");
            count_handovers(one, 10, acquire);
        }
        crowd<priority_lock> three(m, 3, m.path() + "/2");
        count_handovers(three, 6, acquire);
    });
}

TEST_CASE("costs: multi_lock") {
    costs_of("multi_lock", 2, [](meter& m) {
        lock a(m[0], m.path() + "/a"), b(m[0], m.path() + "/b");
        lock other_a(m[1], m.path() + "/a"), other_b(m[1], m.path() + "/b");
        multi_lock mine(m[0]), theirs(m[1]);
        mine.add(a).add(b);
        theirs.add(other_a).add(other_b);
        auto cycle = [&]() -> awaitable<void> {
            multi_ownership held = co_await mine.acquire();
            co_await held.release();
        };
        // A new folder's first contenders list it.
        for (int i = 0; i < 6; ++i)
            m.run(cycle);
        m.count("uncontended cycle of two", cycle);
        multi_ownership held, next;
        m.run([&]() -> awaitable<void> { held = co_await mine.acquire(); });
        m.begin([&]() -> awaitable<void> { next = co_await theirs.acquire(); });
        m.count("hand-over of two", [&]() -> awaitable<void> { co_await held.release(); });
        m.run([&]() -> awaitable<void> { co_await next.release(); });
    });
}

TEST_CASE("costs: election") {
    costs_of("election", 10, [](meter& m) {
        auto campaign = [](election& e, std::size_t) { return e.campaign(); };
        {
            crowd<election> one(m, 1, m.path() + "/0");
            count_handovers(one, 10, campaign);
        }
        {
            crowd<election> ten(m, 10, m.path() + "/1");
            count_handovers(ten, 10, campaign);
        }
        crowd<election> ten(m, 10, m.path() + "/2");
        count_slow_handovers(ten, campaign);
        ownership term;
        election& e = ten.locks.front();
        m.run([&]() -> awaitable<void> { term = co_await e.campaign(); });
        m.count("acknowledge", [&]() -> awaitable<void> { co_await e.acknowledge(term); });
        m.count("leader", [&]() -> awaitable<void> { co_await ten.locks[1].get_leader(); });
        m.run([&]() -> awaitable<void> { co_await term.release(); });
    });
}

TEST_CASE("costs: leader_latch") {
    costs_of("leader_latch", 3, [](meter& m) {
        std::deque<leader_latch> latches;
        auto nothing = []() -> awaitable<void> { co_return; };
        for (std::size_t i = 0; i < 3; ++i) {
            m.count("candidate " + std::to_string(i + 1), [&]() -> awaitable<void> {
                latches.emplace_back(m[i], m.path()).start();
                co_return;
            });
        }
        m.count("the leader closes", [&]() -> awaitable<void> { co_await latches[0].close(); });
        m.count("the leader resigns", [&]() -> awaitable<void> { co_await latches[1].resign(); });
        latches.clear();
        m.run(nothing);
    });
}

}  // namespace corozk::testing::locks_test
