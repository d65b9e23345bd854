// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "contest_rows.hpp"
#include "recipe/contention/contender.hpp"
#include "session_use.hpp"
#include "table.hpp"
#include "usage.hpp"
#include <corozk/recipe/lock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace corozk::bench {

namespace {

/// Enough to be exact, and quick.
constexpr std::size_t samples = 20'000;

/// What waits, in growing steps.
enum class waiter_kind {
    timer,      ///< a coroutine that waits for a timer: what Asio and the compiler take anyway
    callback,   ///< an acquire with a plain callback: the library without a coroutine
    coroutine,  ///< a coroutine that awaits acquire
};

boost::asio::awaitable<void> wait_for_timer(boost::asio::steady_timer& t) {
    co_await t.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
}

boost::asio::awaitable<void> wait_for_lock(lock& l) {
    auto [ec, held] = co_await l.acquire(boost::asio::as_tuple(boost::asio::use_awaitable));
}

boost::asio::awaitable<void> wait_for_lock_plainly(lock& l) {
    auto held = co_await l.acquire();
}

boost::asio::awaitable<double> bytes_each(job& j, waiter_kind kind, bool plain_token) {
    auto executor = co_await boost::asio::this_coro::executor;
    auto clients = co_await j.on.connect(1);
    double result = 0;
    std::size_t alive = samples;
    boost::asio::steady_timer pause(executor);
    boost::asio::steady_timer never(executor, boost::asio::steady_timer::time_point::max());
    {
        lock l(clients.front(), j.on.fresh_path("memory"));
        auto held = co_await l.acquire();
        double before = usage::heap_bytes();
        auto ended = [&alive](const std::exception_ptr&) { --alive; };
        for (std::size_t i = 0; i < samples; ++i) {
            switch (kind) {
                case waiter_kind::timer:
                    boost::asio::co_spawn(executor, wait_for_timer(never), ended);
                    break;
                case waiter_kind::callback:
                    l.acquire([&alive](error_code, ownership) { --alive; });
                    break;
                case waiter_kind::coroutine:
                    boost::asio::co_spawn(
                        executor, plain_token ? wait_for_lock_plainly(l) : wait_for_lock(l), ended);
                    break;
            }
        }
        for (int still = 0; still < 20;) {
            pause.expires_after(std::chrono::milliseconds(2));
            co_await pause.async_wait(boost::asio::use_awaitable);
            still = use_of(clients).on_their_way == 0 ? still + 1 : 0;
            j.on.shown().update("taking a waiter's memory apart");
        }
        result = (usage::heap_bytes() - before) / static_cast<double>(samples);
        never.cancel();
        co_await stage::close(clients);
        while (alive > 0) {
            pause.expires_after(std::chrono::milliseconds(2));
            co_await pause.async_wait(boost::asio::use_awaitable);
        }
    }
    co_return result;
}

boost::asio::awaitable<void> take_memory_apart(job& j, result& r) {
    r.add("memory.coroutine_on_a_timer_bytes", co_await bytes_each(j, waiter_kind::timer, false));
    r.add("memory.acquire_with_callback_bytes",
          co_await bytes_each(j, waiter_kind::callback, false));
    r.add("memory.acquire_with_tuple_token_bytes",
          co_await bytes_each(j, waiter_kind::coroutine, false));
    r.add("memory.acquire_in_coroutine_bytes",
          co_await bytes_each(j, waiter_kind::coroutine, true));
    r.add("memory.contender_object_bytes", sizeof(detail::contender));
}

/// Waiters and locks: what is wanted, or very many on one lock, as many locks, and ten times as many
/// on one lock.
std::vector<std::pair<std::size_t, std::size_t>> all_steps(const settings& wanted) {
    std::vector<std::pair<std::size_t, std::size_t>> steps;
    if (wanted.waiters.empty() && wanted.locks == 1)
        return {{100'000, 1}, {100'000, 100'000}, {1'000'000, 1}};
    auto numbers = wanted.waiters;
    if (numbers.empty())
        numbers = {100'000};
    for (std::size_t waiters : numbers)
        steps.emplace_back(waiters, wanted.locks);
    return steps;
}

}  // namespace

boost::asio::awaitable<void> run_many(job& j) {
    table t({"waiters",
             "locks",
             "sessions",
             "threads",
             "queue",
             "drain",
             "hand-overs/s",
             "requests",
             "listings",
             "memory",
             "resident",
             "CPU/request",
             "hand-over p50",
             "p99",
             "/ floor"});
    for (auto [waiters, locks] : all_steps(j.wanted)) {
        contest_setup setup("ours", waiters);
        setup.sessions = std::min(j.wanted.sessions, waiters);
        setup.locks = std::min(locks, waiters);
        result row = co_await repeat_contest(j, setup);
        t.add({count_text(static_cast<double>(waiters)),
               count_text(static_cast<double>(setup.locks)),
               count_text(static_cast<double>(setup.sessions)),
               count_text(row.number("threads")),
               seconds_text(row.median("queue_s")),
               seconds_text(row.median("drain_s")),
               count_text(row.median("handovers_per_s")),
               figure_text(row.median("requests_per_waiter")),
               count_text(row.median("listings")),
               bytes_text(row.median("memory_per_waiter_bytes")),
               bytes_text(row.median("resident_per_waiter_bytes")),
               fmt::format("{:.1f} us", row.median("client_cpu_us_per_request")),
               // Of many locks at once, each waits for all others' requests.
               setup.locks > 1 ? "" : microseconds_text(row.median("handover_us.p50")),
               setup.locks > 1 ? "" : microseconds_text(row.median("handover_us.p99")),
               setup.locks > 1 ? "" : ratio_text(row.median("floor_ratio"))});
        j.results.push_back(std::move(row));
    }
    result& last = j.results.back();
    co_await take_memory_apart(j, last);
    table m({fmt::format("memory of one waiter, of {}", count_text(static_cast<double>(samples))),
             "malloc"});
    auto add = [&](const char* title, std::string_view key) {
        m.add({title, fmt::format("{:.0f} B", last.median(key))});
    };
    add("a coroutine that awaits acquire()", "memory.acquire_in_coroutine_bytes");
    add("  the same with the token as_tuple(use_awaitable)",
        "memory.acquire_with_tuple_token_bytes");
    add("  acquire() with a plain callback instead: no coroutine",
        "memory.acquire_with_callback_bytes");
    add("    of this: the contender, as an object", "memory.contender_object_bytes");
    add("  for comparison: a coroutine that awaits a timer", "memory.coroutine_on_a_timer_bytes");
    j.output = heading(j) + "\n" + t.str() + "\n" + m.str();
    j.output +=
        "\nmemory: what malloc gave out (mallinfo2), its own overhead included; resident: growth "
        "of the "
        "process\n";
}

}  // namespace corozk::bench
