// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "contest_rows.hpp"
#include "help.hpp"
#include "interruption.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace corozk::bench {

namespace {

// Both other ways take time that grows with the square of the waiters. Small contests first show
// how many of them fit.
constexpr double textbook_seconds = 30;
constexpr double herd_seconds = 8;
constexpr std::size_t textbook_pilot = 500;
constexpr std::size_t herd_pilot = 50;
constexpr std::size_t first_round = 1'000;
constexpr std::size_t demo_floor_samples = 200;

std::size_t rounded_down(double n) {
    double step = std::pow(10.0, std::floor(std::log10(n)));
    return static_cast<std::size_t>(std::floor(n / step) * step);
}

boost::asio::awaitable<result> contest(job& j, const char* implementation, std::size_t waiters) {
    contest_setup setup(implementation, waiters);
    setup.floor_samples = demo_floor_samples;
    co_return co_await repeat_contest(j, setup);
}

double taken(const result& r) {
    return r.median("queue_s") + r.median("drain_s");
}

/// The time is a * N + b * N^2: two small contests tell a and b.
std::size_t fitting(
    std::size_t few, double few_s, std::size_t more, double more_s, double limit_s) {
    auto n = static_cast<double>(few);
    auto m = static_cast<double>(more);
    double b = std::max((more_s / m - few_s / n) / (m - n), 1e-12);
    double a = std::max(few_s / n - b * n, 0.0);
    double most = (std::sqrt(a * a + 4 * b * limit_s) - a) / (2 * b);
    return std::max(rounded_down(most), more);
}

boost::asio::awaitable<result> contest_that_fits(
    job& j, const char* implementation, std::size_t waiters, std::size_t pilot, double limit_s) {
    std::size_t more = 4 * pilot;
    if (waiters <= more)
        co_return co_await contest(j, implementation, waiters);
    double few_s = taken(co_await contest(j, implementation, pilot));
    double more_s = taken(co_await contest(j, implementation, more));
    std::size_t most = fitting(pilot, few_s, more, more_s, limit_s);
    co_return co_await contest(j, implementation, std::min(waiters, most));
}

struct line {
    const char* title;
    std::function<std::string(const result&)> text;
};

std::string waiters_of(const result& r) {
    return count_text(r.number("waiters"));
}

const std::vector<line>& lines() {
    static const std::vector<line> all{
        {"waiting coroutines", waiters_of},
        {"threads that run them", [](const result& r) { return count_text(r.number("threads")); }},
        {"ZooKeeper sessions", [](const result& r) { return count_text(r.number("sessions")); }},
        {"requests per waiter",
         [](const result& r) { return figure_text(r.median("requests_per_waiter")); }},
        {"network bytes per waiter",
         [](const result& r) { return bytes_text(r.median("bytes_per_waiter")); }},
        {"memory per waiter",
         [](const result& r) { return bytes_text(r.median("memory_per_waiter_bytes")); }},
        {"until all had queued", [](const result& r) { return seconds_text(r.median("queue_s")); }},
        {"until all had held the lock",
         [](const result& r) { return seconds_text(r.median("drain_s")); }},
        {"one hand-over, median",
         [](const result& r) { return microseconds_text(r.median("handover_us.p50")); }},
        {"  99 of 100 within",
         [](const result& r) { return microseconds_text(r.median("handover_us.p99")); }},
        {"  median / fastest possible",
         [](const result& r) { return ratio_text(r.median("floor_ratio")); }},
    };
    return all;
}

std::string explanation(std::size_t wanted,
                        const result& ours,
                        const result& textbook,
                        const result& herd) {
    std::string text;
    auto say = [&text](const std::string& s) { text += wrapped(s) + "\n"; };
    say(fmt::format(
        "What you see: {} coroutines of one program queued for the same lock, which is stored in "
        "ZooKeeper, so that programs on other machines could participate in the same way. None of "
        "them blocked a thread. Each got the lock in turn and released it at once; a hand-over "
        "typically took {}, where ZooKeeper itself needs at least {} (from a delete in one session "
        "to its notification in another).",
        waiters_of(ours),
        microseconds_text(ours.median("handover_us.p50")),
        microseconds_text(ours.median("floor_us.p50"))));
    say("In the textbook recipe every waiter lists all waiters, twice: the more of them wait, the "
        "slower each step. The herd lock wakes all waiters at every release, and all but one wait "
        "again. corozk lists once for all, and wakes only the next.");
    std::string fewer;
    for (const result* r : {&textbook, &herd}) {
        if (r->number("waiters") >= static_cast<double>(wanted))
            continue;
        fewer += fmt::format("{}the {} had {} waiters",
                             fewer.empty() ? "" : ", ",
                             title_of(contest_setup(r->text("implementation"), wanted)),
                             waiters_of(*r));
    }
    if (!fewer.empty()) {
        say(fmt::format("To end in time, {}: with {} it would take much longer.",
                        fewer,
                        count_text(static_cast<double>(wanted))));
    }
    text.pop_back();
    return text;
}

boost::asio::awaitable<void> run_demo(job& j) {
    std::size_t waiters = j.wanted.waiters.front();
    j.on.shown().note(fmt::format("{} coroutines are going to want one lock, on one thread ({})",
                                  count_text(static_cast<double>(waiters)),
                                  j.on.description()));
    // A small round first: everybody's first time is slow.
    co_await contest(j, "ours", std::min(waiters, first_round));
    result ours = co_await contest(j, "ours", waiters);
    result textbook =
        co_await contest_that_fits(j, "textbook", waiters, textbook_pilot, textbook_seconds);
    result herd = co_await contest_that_fits(j, "herd", waiters, herd_pilot, herd_seconds);

    table t({"one lock", "corozk", "textbook recipe", "herd lock"});
    for (const line& l : lines())
        t.add({l.title, l.text(ours), l.text(textbook), l.text(herd)});
    j.output = heading(j) + "\n" + t.str() + "\n" + explanation(waiters, ours, textbook, herd);
    j.results.push_back(std::move(ours));
    j.results.push_back(std::move(textbook));
    j.results.push_back(std::move(herd));
}

}  // namespace

command demo_command() {
    return {
        "demo",
        "thousands of coroutines on one lock, on one thread; compared with two other recipes",
        "Waiters queue for a lock that is held; then it is handed over from one to the next, each "
        "releasing it at once. Ends with a table: corozk, the recipe as ZooKeeper's recipes page "
        "describes it, and the lock that the page warns about, with fewer waiters if they take too "
        "long.",
        {"--waiters"},
        [](settings& s) {
            s.waiters = {10'000};
            s.repeat = 1;
        },
        run_demo,
        [](const settings& s) { require_one("--waiters", s.waiters); }};
}

}  // namespace corozk::bench
