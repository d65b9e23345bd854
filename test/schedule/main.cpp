// SPDX-License-Identifier: Apache-2.0
// The shipped recipes on a model of ZooKeeper, under a scheduler that decides what happens next.
#include "engine/crashes.hpp"
#include "engine/explore.hpp"
#include "engine/now_playing.hpp"
#include "engine/schedule_id.hpp"
#include "option_words.hpp"

#include <chrono>
#include <cstdlib>
#include <exception>
#include <iomanip>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace corozk::schedule;

constexpr const char* usage = R"(usage: test_schedule [OPTION]...
Plays the recipes on a model of ZooKeeper, in all schedules or in random ones.
  --exhaustive       all schedules with up to --faults faults (the default)
  --random           random schedules
  --scenario NAME    only this one, or all of a recipe (lock)
  --faults N         at most N faults in a schedule (1)
  --faults cut+expire
                     at most these: with two faults in pieces, by their kinds
  --switches N       a client that could go on is interrupted at most N times
                     (-1: always)
  --seconds N        for each scenario (10; 0: to the end)
  --schedules N      at most N of each scenario (0: any number)
  --patience N       a schedule that takes more than N seconds has failed (120; 0: none has)
  --seed N           the first of the random schedules (1)
  --replay SCHEDULE  one schedule again, as a failure names it, with what happens in it
  --lagging          with a second server, which may lag behind
  --without RIGHT    of nodes that clients create, nobody has this right (read, write,
                     create, delete; existence: read, at servers that tell nobody else
                     whether a node exists)
  --list             the scenarios
)";

struct request {
    bool random = false;
    std::optional<std::string> scenario;
    rules how;
    budget limit;
    unsigned patience = 120;
    std::uint64_t seed = 1;
    std::optional<std::string> replay;
    bool lagging = false;
    std::string without;
    bool list = false;
    bool help = false;
};

/// s; more than ten years
constexpr double longest = 400'000'000;

/// No time at all would mean no limit: what is shorter than a millisecond is one.
std::chrono::milliseconds time_of(double seconds) {
    return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

request parse(int argc, char** argv) {
    request r;
    r.how.faults = 1;
    r.limit.time = std::chrono::seconds(10);
    for (corozk::testing::option_words words(argc, argv); words.next();) {
        if (words.is("--exhaustive")) {
            r.random = false;
        } else if (words.is("--random")) {
            r.random = true;
        } else if (words.is("--scenario")) {
            auto [base, right] = split_name(words.value());
            r.scenario = base;
            if (!right.empty())
                r.without = right;
        } else if (words.is("--faults")) {
            read_faults(words.value(), r.how);
        } else if (words.is("--switches")) {
            r.how.switches = words.number<int>(-1);
        } else if (words.is("--seconds")) {
            r.limit.time = time_of(words.number<double>(0, longest));
        } else if (words.is("--schedules")) {
            r.limit.schedules = words.number<std::uint64_t>();
        } else if (words.is("--patience")) {
            r.patience = words.number<unsigned>();
        } else if (words.is("--seed")) {
            r.seed = words.number<std::uint64_t>();
        } else if (words.is("--replay")) {
            r.replay = words.value();
        } else if (words.is("--lagging")) {
            r.lagging = true;
        } else if (words.is("--without")) {
            r.without = words.value();
        } else if (words.is("--list")) {
            r.list = true;
        } else if (words.is("--help") || words.is("-h")) {
            r.help = true;
        } else {
            words.refuse();
        }
    }
    r.how.eager = !r.random;
    return r;
}

void print(const failure& f) {
    std::cout << "FAILED";
    if (f.seed)
        std::cout << " with seed " << *f.seed;
    std::cout << "\n";
    for (const std::string& text : f.violations)
        std::cout << "  " << text << "\n";
    std::cout << "  again: --replay " << f.which.text() << std::endl;
}

/// How long the loop was kept busy at a stretch, by what had happened.
void print(const std::map<move_kind, stage::stretch>& stretches) {
    std::cout << "\n"
              << std::left << std::setw(32) << "after" << std::right << std::setw(12) << "times"
              << std::setw(24) << "longest stretch, ms" << std::endl;
    for (const auto& [cause, one] : stretches) {
        std::cout << std::left << std::setw(32) << name_of(cause) << std::right << std::setw(12)
                  << one.times << std::setw(24) << std::fixed << std::setprecision(3)
                  << std::chrono::duration<double, std::milli>(one.longest).count() << std::endl;
    }
}

bool wanted(const scenario& s, const request& r) {
    bool named =
        r.scenario && (s.name == *r.scenario || (r.lagging && s.name == *r.scenario + "-lagging"));
    if (named)
        return s.followers > 0 || !r.lagging;
    if (r.random && s.explored != half::both)
        return false;  // as a whole, that is played
    if (r.lagging != (s.followers > 0) && (r.lagging || s.twin))
        return false;
    return r.scenario ? s.name.starts_with(*r.scenario + ".") : !s.hidden;
}

int play_again(const request& r) {
    auto tell = [](const std::string& what) { std::cout << what << std::endl; };
    result found = replay(schedule_id::parse(*r.replay), tell);
    for (const failure& f : found.failures)
        print(f);
    return found.failures.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}

void require_a_match(const request& r) {
    for (const scenario& s : all_scenarios()) {
        if (wanted(s, r))
            return;
    }
    throw std::invalid_argument("no scenario is named '" + r.scenario.value_or("") +
                                "', or begins with it and a dot (see --list)");
}

int play(const request& r) {
    require_a_match(r);
    bool good = true;
    std::cout << std::left << std::setw(32) << "scenario" << std::right << std::setw(12)
              << "schedules" << std::setw(12) << (r.random ? "" : "states") << std::setw(14)
              << "moves"
              << "  " << (r.random ? "first seed" : "complete") << std::endl;
    std::map<move_kind, stage::stretch> stretches;
    for (const scenario& known : all_scenarios()) {
        if (!wanted(known, r))
            continue;
        const scenario s = r.without.empty() ? known : known.without(r.without);
        result found =
            r.random ? explore_randomly(s, r.how, r.seed, r.limit) : explore_all(s, r.how, r.limit);
        std::cout << std::left << std::setw(32) << s.name << std::right << std::setw(12)
                  << found.schedules << std::setw(12);
        if (r.random)
            std::cout << "";
        else
            std::cout << found.states;
        std::cout << std::setw(14) << found.moves << "  ";
        if (r.random)
            std::cout << r.seed;
        else
            std::cout << (found.complete && found.failures.empty() ? "yes" : "no");
        std::cout << std::endl;
        for (const failure& f : found.failures) {
            print(f);
            good = false;
        }
        for (const auto& [cause, one] : found.stretches)
            stretches[cause].add(one);
    }
    if (r.random)
        print(stretches);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        request r = parse(argc, argv);
        now_playing::set_patience(r.patience);
        tell_crashes();
        if (r.help) {
            std::cout << usage;
            return EXIT_SUCCESS;
        }
        if (r.list) {
            for (const scenario& s : all_scenarios())
                std::cout << s.name << (s.hidden ? " (only when named)" : "")
                          << (s.twin ? " (--lagging)" : "") << "\n";
            return EXIT_SUCCESS;
        }
        return r.replay ? play_again(r) : play(r);
    } catch (const std::exception& e) {
        std::cerr << e.what() << "\n" << usage;
        return 2;
    }
}
