// SPDX-License-Identifier: Apache-2.0
#include "contest.hpp"

#include "contest_run.hpp"
#include "contestants.hpp"
#include "processes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace corozk::bench {

namespace {

struct limit {
    std::string_view recipe;
    std::string_view implementation;
    std::size_t waiters;
};

// What takes minutes beyond them grows with the square of the waiters, or with the cube.
constexpr std::array limits{
    limit{"lock", "textbook", 10'000},     // 10,000 listings of 10,000 names
    limit{"lock", "herd", 1'000},          // 1,000 releases wake 1,000 waiters each
    limit{"election", "textbook", 5'000},  // as above
    limit{"election", "herd", 300},        // 300 releases, 300 listings of 300 names each
};

const limit* find_limit(std::string_view recipe, std::string_view implementation) {
    auto at = std::find_if(limits.begin(), limits.end(), [&](const limit& l) {
        return l.recipe == recipe && l.implementation == implementation;
    });
    return at == limits.end() ? nullptr : at;
}

}  // namespace

std::span<const std::string_view> all_recipes() {
    static constexpr std::array<std::string_view, 6> all{
        "lock", "shared_lock", "shared_lock_writers", "semaphore", "election", "election_run"};
    return all;
}

bool is_implemented(std::string_view recipe, std::string_view implementation) {
    return implementation == "ours" || find_limit(recipe, implementation) != nullptr;
}

std::string title_of(const contest_setup& setup) {
    if (setup.implementation == "textbook") {
        return setup.recipe == "lock" ? "textbook recipe" : "textbook " + setup.recipe;
    }
    if (setup.implementation == "herd")
        return "herd " + setup.recipe;
    if (setup.recipe == "shared_lock") {
        return fmt::format("shared lock, {} readers : 1 writer", setup.readers);
    }
    if (setup.recipe == "shared_lock_writers")
        return "shared lock, writers only";
    if (setup.recipe == "semaphore")
        return fmt::format("semaphore of {}", setup.limit);
    if (setup.recipe == "election")
        return "election, acknowledged";
    if (setup.recipe == "election_run")
        return "election, run(body)";
    return "corozk";
}

std::size_t sensible_limit(const contest_setup& setup) {
    const limit* l = find_limit(setup.recipe, setup.implementation);
    return l ? l->waiters : 0;
}

boost::asio::awaitable<void> run_bare_contest(stage& s, contest_setup setup, result& r) {
    if (setup.processes > 1) {
        co_await run_contest_in_processes(s, setup, r);
        co_return;
    }
    auto run = [&]<class Lock>(kind_of<Lock>) { return run_contest_of<Lock>(s, setup, r); };
    co_await with_contestant(setup, run);
}

boost::asio::awaitable<void> run_contest(stage& s, contest_setup setup, result& r) {
    std::size_t samples = setup.floor_samples > 0 ? setup.floor_samples : floor_samples;
    auto floor = s.floor(samples);
    co_await run_bare_contest(s, setup, r);
    floor.add(s.floor(samples));
    stage::add_floor(r, floor, "handover_us.p50");
}

}  // namespace corozk::bench
