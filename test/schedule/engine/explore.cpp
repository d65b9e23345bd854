// SPDX-License-Identifier: Apache-2.0
#include "explore.hpp"

#include "checkpoints.hpp"
#include "depth_first.hpp"
#include "now_playing.hpp"
#include "random_walk.hpp"

#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

namespace corozk::schedule {

namespace {

/// The time that really passes.
std::chrono::milliseconds real_time() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return std::chrono::milliseconds(t.tv_sec * 1000 + t.tv_nsec / 1'000'000);
}

class stopwatch {
public:
    explicit stopwatch(budget limit) : limit_(limit), began_(real_time()) {}
    bool over(std::uint64_t schedules) const {
        if (limit_.schedules != 0 && schedules >= limit_.schedules)
            return true;
        return limit_.time.count() != 0 && real_time() - began_ >= limit_.time;
    }

    /// Once a minute.
    bool tells() {
        bool now = real_time() - told_ >= std::chrono::minutes(1);
        if (now)
            told_ = real_time();
        return now;
    }

private:
    budget limit_;
    std::chrono::milliseconds began_;
    std::chrono::milliseconds told_ = began_;
};

class repetition final : public chooser {
public:
    explicit repetition(const choice_list& choices) : choices_(choices) {}
    std::size_t choose(stage&, const std::vector<move>& moves) override {
        std::size_t chosen = at_ < choices_.size() ? choices_[at_] : 0;
        ++at_;
        if (chosen >= moves.size())
            throw not_this_schedule("this schedule does not belong to this program");
        return chosen;
    }

private:
    const choice_list& choices_;
    std::size_t at_ = 0;
};

/// A schedule of `order` after the other, each from its beginning.
void play_each(const scenario& what, rules how, depth_first& order, auto and_then) {
    do {
        stage s(what, how);
        s.run(order);
        if (!and_then(s))
            return;
    } while (order.advance());
}

/// The same, each from where it differs from the one before it.
void play_branches(
    const scenario& what, rules how, depth_first& order, checkpoints& memory, auto and_then) {
    constexpr auto schedule = memory_scope::owner::schedule;
    std::unique_ptr<stage> s;
    {
        memory_scope there(schedule);
        s = std::make_unique<stage>(what, how);
        memory.save();
        s->run(order);
    }
    while (and_then(*s) && order.advance()) {
        memory.go_back_to(order.moment());
        memory_scope there(schedule);
        s->go_on_with(order.last_choice(), order);
    }
    memory.go_back_to(1);
}

}  // namespace

result explore_all(const scenario& what, rules how, budget limit) {
    result r;
    r.scenario = what.name;
    stopwatch watch(limit);
    std::optional<checkpoints> memory;
    if (checkpoints::available())
        memory.emplace();
    depth_first order(how.switches < 0 && what.followers == 0, memory ? &*memory : nullptr);
    auto note = [&](const stage& s) {
        ++r.schedules;
        r.moves += s.steps();
        if (!s.violations().empty()) {
            r.failures.push_back({{what.name, how, order.choices()}, std::nullopt, s.violations()});
            return false;
        }
        if (watch.over(r.schedules)) {
            r.complete = false;
            return false;
        }
        if (r.schedules % 1024 == 0 && watch.tells()) {
            std::fprintf(stderr,
                         "%s: %ju schedules, %zu states\n",
                         what.name.c_str(),
                         std::uintmax_t{r.schedules},
                         order.states());
        }
        return true;
    };
    now_playing::announce(what.name, how);
    if (memory)
        play_branches(what, how, order, *memory, note);
    else
        play_each(what, how, order, note);
    now_playing::end();
    r.states = order.states();
    return r;
}

result explore_randomly(const scenario& what, rules how, std::uint64_t first_seed, budget limit) {
    result r;
    r.scenario = what.name;
    stopwatch watch(limit);
    for (std::uint64_t seed = first_seed; !watch.over(r.schedules); ++seed) {
        now_playing::announce(what.name, how, seed);
        random_walk order(seed);
        stage s(what, how);
        s.measure_stretches();
        s.run(order);
        ++r.schedules;
        r.moves += s.steps();
        for (const auto& [cause, one] : s.stretches())
            r.stretches[cause].add(one);
        if (!s.violations().empty()) {
            r.failures.push_back({{what.name, how, order.choices()}, seed, s.violations()});
            break;
        }
    }
    now_playing::end();
    return r;
}

result replay(const schedule_id& which, std::function<void(const std::string&)> tell) {
    const std::optional<scenario> what = find_scenario(which.scenario);
    if (!what)
        throw std::invalid_argument("no such scenario: " + which.scenario);
    result r;
    r.scenario = which.scenario;
    repetition order(which.choices);
    stage s(*what, which.how);
    s.trace_to(std::move(tell));
    now_playing::announce(which.scenario, which.how);
    s.run(order);
    now_playing::end();
    ++r.schedules;
    r.moves = s.steps();
    if (!s.violations().empty())
        r.failures.push_back({which, std::nullopt, s.violations()});
    return r;
}

}  // namespace corozk::schedule
