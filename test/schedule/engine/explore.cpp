// SPDX-License-Identifier: Apache-2.0
#include "explore.hpp"

#include "checkpoints.hpp"
#include "seen_states.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <unordered_map>

namespace corozk::schedule {

namespace {

char current[256] = "nothing";

/// The time that really passes.
std::chrono::milliseconds real_time() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return std::chrono::milliseconds(t.tv_sec * 1000 + t.tv_nsec / 1'000'000);
}

/// For whoever wants to know where the program has crashed.
void now_playing(const std::string& scenario, const char* how, std::uint64_t number) {
    std::snprintf(
        current, sizeof current, "%s, %s %ju", scenario.c_str(), how, std::uintmax_t{number});
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

std::uint64_t key_of(const move& m) {
    model::hasher h;
    h.add(m.kind);
    h.add(m.who);
    h.add(m.path);
    return h.value();
}

/// Moves as bits. Those that come after the 64th have none, and are never left out.
class move_bits {
public:
    std::uint64_t of(const move& m) {
        std::size_t number = numbers_.try_emplace(key_of(m), numbers_.size()).first->second;
        return number < 64 ? std::uint64_t{1} << number : 0;
    }

private:
    std::unordered_map<std::uint64_t, std::size_t> numbers_;
};

/// A move that need not be made here: what comes of it is played where it comes first.
struct sleeping {
    std::uint64_t bit;
    model::footprint touches;
};

/// Depth first: the path of choices so far, and what comes after it. Two things are left out:
///
///  - what follows from a state that was seen before;
///  - of the orders of moves that do not get in each other's way, all but one (sleep sets: a move
///    that was played here sleeps after those that it does not conflict with). A state that is seen
///    again, with fewer moves asleep, is played on with those that were asleep each time before.
class depth_first final : public chooser {
public:
    /// @param by_footprints  whether orders are left out
    /// @param memory         where the moments of the choices are kept; null: nowhere
    depth_first(bool by_footprints, checkpoints* memory)
        : by_footprints_(by_footprints), memory_(memory) {}

    std::size_t choose(stage& s, const std::vector<move>& moves) override {
        std::size_t chosen = decide(s, moves);
        // Nobody comes back to where nothing else is left to be chosen.
        if (fresh_ && memory_ && path_.back().open.size() > 1)
            path_.back().moment = memory_->save();
        return chosen;
    }

    /// By the state that it ends in, which no choice follows.
    bool look_at_the_end(stage& s) override {
        memory_scope here(memory_scope::owner::explorer);
        return seen_.find_or_add(s.hash()).second;
    }

    /// To the next schedule. @return whether there is one
    bool advance() {
        // What comes after the end of a schedule is not played in other orders.
        if (ended_ && !path_.empty())
            path_.back().touched.touch_everything();
        ended_ = true;
        at_ = 0;
        while (!path_.empty() && !path_.back().advance())
            path_.pop_back();
        return !path_.empty();
    }

    /// When the choice was made that is made differently now.
    std::size_t moment() const { return path_.back().moment; }
    std::size_t last_choice() const { return path_.back().chosen(); }

    choice_list choices() const {
        choice_list list;
        for (const branch& b : path_)
            list.push_back(b.chosen());
        return list;
    }

    std::size_t states() const { return seen_.size(); }

private:
    struct branch {
        std::vector<std::size_t> open;    ///< moves to be played, by their places in the list
        std::vector<std::uint64_t> bits;  ///< of them
        std::size_t at = 0;               ///< the one that is played now
        std::size_t moment = 0;           ///< in which it was chosen, if there are others
        model::footprint touched;         ///< by it, up to the next choice
        std::vector<sleeping> asleep;     ///< others; those that were played here, too

        std::size_t chosen() const { return open[at]; }

        std::vector<sleeping> asleep_after(const model::footprint& by) const {
            std::vector<sleeping> still;
            for (const sleeping& other : asleep) {
                if (!other.touches.conflicts_with(by))
                    still.push_back(other);
            }
            return still;
        }

        bool advance() {
            asleep.push_back({bits[at], std::move(touched)});
            touched = model::footprint();
            return ++at < open.size();
        }
    };

    /// Its own memory is not the schedule's.
    std::size_t decide(stage& s, const std::vector<move>& moves) {
        s.complete_footprint();
        memory_scope here(memory_scope::owner::explorer);
        model::footprint touched = s.touched();
        s.forget_footprint();
        fresh_ = false;
        if (!memory_ && at_ < path_.size())
            return path_[at_++].chosen();
        ended_ = false;
        if (!path_.empty())
            path_.back().touched = touched;
        branch b;
        if (by_footprints_ && !path_.empty())
            b.asleep = path_.back().asleep_after(touched);
        if (!wake_up(s.hash(), moves, b))
            return moves.size();
        ended_ = true;
        fresh_ = true;
        path_.push_back(std::move(b));
        ++at_;
        return path_.back().chosen();
    }

    /// What is to be played in a state. @return false if there is nothing
    bool wake_up(std::uint64_t state, const std::vector<move>& moves, branch& b) {
        std::uint64_t sleep_now = 0;
        for (const sleeping& one : b.asleep)
            sleep_now |= one.bit;
        auto [known, fresh] = seen_.find_or_add(state);
        for (std::size_t i = 0; i < moves.size(); ++i) {
            std::uint64_t bit = bits_.of(moves[i]);
            bool sleeps = (sleep_now & bit) != 0;
            bool played = !fresh && (known->moves & bit) == 0;
            if (!sleeps && !played) {
                b.open.push_back(i);
                b.bits.push_back(bit);
            }
            if (fresh && sleeps)
                known->moves |= bit;
        }
        if (!fresh)
            known->moves &= sleep_now;
        return !b.open.empty();
    }

    /// By the states that were seen, the moves that have been asleep each time.
    seen_states seen_;
    move_bits bits_;
    std::vector<branch> path_;
    std::size_t at_ = 0;
    bool ended_ = true;   ///< the schedule, without another choice after those of the path
    bool fresh_ = false;  ///< the last choice was not made before
    bool by_footprints_;
    checkpoints* memory_;
};

/// Each schedule has its own taste: some clients are slow in it, and faults are rare or frequent.
class random_walk final : public chooser {
public:
    explicit random_walk(std::uint64_t seed) : random_(seed) {
        constexpr int tastes[] = {1, 3, 10, 40};
        for (int& w : client_weight_)
            w = tastes[random_() % 4];
        deliver_weight_ = tastes[random_() % 4];
        fault_chance_ = 3 + static_cast<int>(random_() % 40);
    }

    std::size_t choose(stage& s, const std::vector<move>& moves) override {
        std::size_t faults = 0;
        for (const move& m : moves)
            faults += is_fault(m.kind) ? 1 : 0;
        std::size_t chosen = 0;
        if (faults == moves.size() || (faults > 0 && random_() % 1000 < chance())) {
            std::size_t which = random_() % faults;
            for (std::size_t i = 0; i < moves.size(); ++i) {
                if (is_fault(moves[i].kind) && which-- == 0)
                    chosen = i;
            }
        } else {
            std::vector<int> weights;
            int all = 0;
            for (const move& m : moves) {
                int w = 0;
                if (!is_fault(m.kind)) {
                    int who = s.client_of(m);
                    w = who >= 0 ? client_weight_[static_cast<std::size_t>(who) % 8] : 5;
                    if (m.kind == move_kind::deliver)
                        w *= deliver_weight_;
                }
                weights.push_back(w);
                all += w;
            }
            auto point = static_cast<int>(random_() % static_cast<std::uint64_t>(all));
            while (point >= weights[chosen])
                point -= weights[chosen++];
        }
        choices_.push_back(chosen);
        return chosen;
    }

    const choice_list& choices() const { return choices_; }

private:
    std::uint64_t chance() const { return static_cast<std::uint64_t>(fault_chance_) * 5; }

    std::mt19937_64 random_;
    int client_weight_[8];
    int deliver_weight_;
    int fault_chance_;
    choice_list choices_;
};

class repetition final : public chooser {
public:
    explicit repetition(const choice_list& choices) : choices_(choices) {}
    std::size_t choose(stage&, const std::vector<move>& moves) override {
        std::size_t chosen = at_ < choices_.size() ? choices_[at_] : 0;
        ++at_;
        if (chosen >= moves.size())
            throw std::invalid_argument("this schedule does not belong to this program");
        return chosen;
    }

private:
    const choice_list& choices_;
    std::size_t at_ = 0;
};

}  // namespace

const char* current_schedule() {
    return current;
}

std::string schedule_id::text() const {
    std::string text = scenario + ":" + (how.eager ? "eager" : "full") + ":" +
                       std::to_string(how.faults) + ":" + std::to_string(how.switches) + ":";
    for (std::size_t i = 0; i < choices.size();) {
        std::size_t run = 1;
        while (i + run < choices.size() && choices[i + run] == choices[i])
            ++run;
        if (i > 0)
            text += ".";
        text += std::to_string(choices[i]);
        if (run > 1)
            text += "x" + std::to_string(run);
        i += run;
    }
    return text;
}

schedule_id schedule_id::parse(const std::string& text) {
    schedule_id id;
    std::vector<std::string> parts(1);
    for (char c : text) {
        if (c == ':')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    if (parts.size() != 5 || (parts[1] != "eager" && parts[1] != "full"))
        throw std::invalid_argument("not a schedule: " + text);
    id.scenario = parts[0];
    id.how.eager = parts[1] == "eager";
    id.how.faults = std::stoi(parts[2]);
    id.how.switches = std::stoi(parts[3]);
    std::string rest = parts[4];
    while (!rest.empty()) {
        std::size_t used = 0;
        std::size_t choice = std::stoul(rest, &used);
        std::size_t run = 1;
        rest.erase(0, used);
        if (rest.starts_with('x')) {
            run = std::stoul(rest.substr(1), &used);
            rest.erase(0, used + 1);
        }
        id.choices.insert(id.choices.end(), run, choice);
        if (rest.starts_with('.'))
            rest.erase(0, 1);
        else if (!rest.empty())
            throw std::invalid_argument("not a schedule: " + text);
    }
    return id;
}

namespace {

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
void play_branches(const scenario& what,
                   rules how,
                   depth_first& order,
                   checkpoints& memory,
                   auto and_then) {
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
        now_playing(what.name, "schedule", r.schedules);
        r.moves += s.steps();
        if (!s.violations().empty()) {
            r.failures.push_back({{what.name, how, order.choices()}, 0, s.violations()});
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
    if (memory)
        play_branches(what, how, order, *memory, note);
    else
        play_each(what, how, order, note);
    r.states = order.states();
    return r;
}

result explore_randomly(const scenario& what, rules how, std::uint64_t first_seed, budget limit) {
    result r;
    r.scenario = what.name;
    stopwatch watch(limit);
    for (std::uint64_t seed = first_seed; !watch.over(r.schedules); ++seed) {
        now_playing(what.name, "seed", seed);
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
    return r;
}

result replay(const schedule_id& which, std::vector<std::string>& trace) {
    const scenario* what = find_scenario(which.scenario);
    if (!what)
        throw std::invalid_argument("no such scenario: " + which.scenario);
    result r;
    r.scenario = which.scenario;
    repetition order(which.choices);
    stage s(*what, which.how);
    s.keep_trace();
    s.run(order);
    trace = s.trace();
    ++r.schedules;
    r.moves = s.steps();
    if (!s.violations().empty())
        r.failures.push_back({which, 0, s.violations()});
    return r;
}

}  // namespace corozk::schedule
