// SPDX-License-Identifier: Apache-2.0
#include "matrix.hpp"

#include "at_every_request.hpp"
#include "tally.hpp"
#include <corozk/testing/server.hpp>
#include <corozk/testing/still_loop.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <ostream>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace corozk::matrix {

namespace {

testing::server_options options_of_servers() {
    testing::server_options options;
    options.tick_time = std::chrono::milliseconds(200);
    options.java_properties = {"zookeeper.extendedTypesEnabled=true",  // for nodes with a TTL
                               testing::containers_stay};
    return options;
}

/// What a run without a fault shows.
struct shape {
    std::uint64_t requests = 0;
    std::uint64_t notifications = 0;
    std::uint64_t turns = 0;
    bool grants = false;
    bool limited = false;
    std::vector<std::string> states;
};

class matrix {
public:
    explicit matrix(const request& wanted) : wanted_(wanted) {}

    bool run(std::ostream& out);

private:
    bool selected(const scenario& s) const {
        return wanted_.recipe.empty() || wanted_.recipe == s.recipe ||
               wanted_.recipe == s.full_name();
    }
    bool selected(fault f) const { return wanted_.fault.empty() || wanted_.fault == to_string(f); }

    one_case single() const;
    void measure();
    void collect(const scenario& s);
    std::vector<place> places_for(const scenario& s, const fault_traits& f) const;
    void run_all();
    void run_restarts();

    request wanted_;
    /// One for each thread: a case has its server for itself.
    std::vector<std::unique_ptr<testing::server>> servers_;
    std::map<std::string, shape> shapes_;
    std::vector<one_case> cases_;
    std::vector<one_case> restarts_;
    tally tally_;
};

one_case matrix::single() const {
    std::size_t first = wanted_.single.find('/');
    std::size_t last = wanted_.single.rfind('/');
    if (first == std::string::npos || first == last)
        throw std::invalid_argument("a case is RECIPE.SCENARIO/FAULT/PLACE");
    std::optional<fault> which = fault_named(wanted_.single.substr(first + 1, last - first - 1));
    if (!which)
        throw std::invalid_argument("no such fault: " + wanted_.single);
    for (const scenario& s : all_scenarios()) {
        if (s.full_name() == wanted_.single.substr(0, first))
            return one_case(s, *which, place::parse(wanted_.single.substr(last + 1)));
    }
    throw std::invalid_argument("no such scenario: " + wanted_.single);
}

/// At most `count` of the values, spread evenly; which ones differs from cell to cell.
std::vector<place> thinned(std::vector<place> all, std::size_t count, std::size_t salt) {
    if (all.size() <= count)
        return all;
    std::vector<place> few;
    if (count == 0)
        return few;
    std::size_t offset = salt % (all.size() / count);
    for (std::size_t i = 0; i < count; ++i)
        few.push_back(all[offset + i * all.size() / count]);
    return few;
}

std::vector<place> matrix::places_for(const scenario& s, const fault_traits& f) const {
    const shape& seen = shapes_.at(s.full_name());
    std::vector<place> frames;
    std::vector<place> states;
    if (f.id == fault::drop_grant && !seen.grants)
        return frames;
    if (is_about_deadlines(f.id) && !seen.limited)
        return frames;
    if (s.at_every_turn && comes_between_turns(f.id) && wanted_.places != extent::compact) {
        for (std::uint64_t k = 1; k <= seen.turns; ++k)
            frames.emplace_back(place::kind::turn, k);
    }
    bool every_request = at_every_request(s, f.id);
    if (wanted_.places == extent::requests) {
        auto kind = interrupts(f.id) ? place::kind::answer : place::kind::request;
        for (std::uint64_t k = 1; every_request && k <= seen.requests; ++k)
            frames.emplace_back(kind, k);
        return frames;
    }
    bool answers = f.where == places::answers;
    if (answers || f.where == places::frames || f.where == places::frames_only) {
        for (std::uint64_t k = 1; k <= seen.requests; ++k) {
            frames.emplace_back(place::kind::request, k);
            if (answers)
                frames.emplace_back(place::kind::answer, k);
        }
    }
    if (happens_to_notifications(f.id)) {
        for (std::uint64_t k = 1; k <= seen.notifications; ++k)
            frames.emplace_back(place::kind::notification, k);
    }
    if (f.where != places::run && f.where != places::frames_only) {
        for (const std::string& name : seen.states) {
            states.emplace_back(name);
            if (has_aftermath(f.id))
                states.emplace_back(name, true);
        }
    }
    if (f.where == places::run)
        states.emplace_back();
    if (wanted_.places == extent::compact) {
        std::size_t salt = std::hash<std::string>()(s.full_name()) + static_cast<std::size_t>(f.id);
        // The default suite plays all of its rows, and of what is played at requests only.
        bool few = f.slow || s.limited();
        frames = thinned(std::move(frames), every_request ? 0 : few ? 1 : 2, salt);
        states = thinned(std::move(states), few ? 1 : 2, salt);
    }
    frames.insert(frames.end(), states.begin(), states.end());
    return frames;
}

void matrix::collect(const scenario& s) {
    for (const fault_traits& f : fault_table) {
        if (!selected(f.id) || f.id == fault::none || !s.why_not(f.id).empty())
            continue;
        for (place& p : places_for(s, f)) {
            auto& list = f.id == fault::server_restarted ? restarts_ : cases_;
            list.emplace_back(s, f.id, std::move(p));
        }
    }
}

void matrix::run_all() {
    std::atomic<std::size_t> next{0};
    auto work = [&](const testing::server& s) {
        for (;;) {
            std::size_t i = next++;
            if (i >= cases_.size())
                return;
            const one_case& c = cases_[i];
            tally_.record(c, run_case(*c.what, c.which, c.where, s.port(), wanted_.tls));
        }
    };
    std::vector<std::jthread> workers;
    for (const auto& s : servers_)
        workers.emplace_back([&work, &s] { work(*s); });
}

/// As many cases at a time as go into one restart.
void matrix::run_restarts() {
    constexpr std::size_t at_a_time = 24;
    testing::server victim(options_of_servers());
    prepare_server(victim.port());
    for (std::size_t begin = 0; begin < restarts_.size(); begin += at_a_time) {
        std::size_t end = std::min(begin + at_a_time, restarts_.size());
        restart_party party(end - begin);
        std::vector<std::jthread> players;
        for (std::size_t i = begin; i < end; ++i) {
            players.emplace_back([&, i] {
                const one_case& c = restarts_[i];
                tally_.record(
                    c, run_case(*c.what, c.which, c.where, victim.port(), wanted_.tls, &party));
            });
        }
        party.restart_when_all_are_there(victim);
    }
}

/// Runs each scenario without a fault: how many requests, which states.
void matrix::measure() {
    std::vector<const scenario*> wanted;
    for (const scenario& s : all_scenarios()) {
        if (selected(s))
            wanted.push_back(&s);
    }
    for (const scenario* s : wanted)
        cases_.emplace_back(*s, fault::none, place());
    std::atomic<std::size_t> next{0};
    std::mutex seen_mutex;
    auto work = [&](const testing::server& server) {
        for (;;) {
            std::size_t i = next++;
            if (i >= wanted.size())
                return;
            outcome o = run_case(*wanted[i], fault::none, place(), server.port(), wanted_.tls);
            tally_.record(cases_[i], o);
            std::lock_guard guard(seen_mutex);
            shape& seen = shapes_[wanted[i]->full_name()];
            seen.requests = o.requests;
            seen.notifications = o.notifications;
            seen.turns = o.turns;
            seen.grants = o.grants;
            seen.limited = o.limited;
            seen.states = o.states;
        }
    };
    tally_.expect(wanted.size());
    {
        std::vector<std::jthread> workers;
        for (const auto& s : servers_)
            workers.emplace_back([&work, &s] { work(*s); });
    }
    cases_.clear();
    for (const scenario* s : wanted)
        collect(*s);
    tally_.expect(cases_.size() + restarts_.size());
}

bool matrix::run(std::ostream& out) {
    if (wanted_.single.empty() && !wanted_.fault.empty() && !fault_named(wanted_.fault))
        throw std::invalid_argument("no such fault: " + wanted_.fault);
    std::sort(all_scenarios().begin(),
              all_scenarios().end(),
              [](const scenario& a, const scenario& b) { return a.full_name() < b.full_name(); });
    check_rows_of_every_request();
    servers_.resize(wanted_.single.empty() ? wanted_.threads : 1);
    {
        std::vector<std::jthread> starting;
        for (auto& s : servers_) {
            starting.emplace_back([&s] {
                s = std::make_unique<testing::server>(options_of_servers());
                prepare_server(s->port());
            });
        }
    }
    for (std::size_t i = 0; i < wanted_.repeat; ++i) {
        testing::still_loop nobody(
            [this](std::chrono::nanoseconds step) { tally_.record_nobody(step); });
        cases_.clear();
        restarts_.clear();
        if (!wanted_.single.empty()) {
            one_case c = single();
            (c.which == fault::server_restarted ? restarts_ : cases_).push_back(c);
            tally_.expect(1);
        } else {
            measure();
        }
        std::jthread restarts;
        if (!restarts_.empty())
            restarts = std::jthread([this] { run_restarts(); });
        run_all();
    }
    tally_.print(out);
    // Who names one case wants to see it, and of each request's cell some of it.
    bool all_seen = wanted_.single.empty() || tally_.missed() == 0;
    if (wanted_.places == extent::requests) {
        for (const std::string& name : tally_.void_cells()) {
            out << "FAILED  '" << name << "': nothing to happen to at any place\n";
            all_seen = false;
        }
    }
    return tally_.failed() == 0 && tally_.run() > 0 && all_seen;
}

}  // namespace

bool run_matrix(const request& wanted, std::ostream& out) {
    matrix m(wanted);
    return m.run(out);
}

void print_list(std::ostream& out) {
    out << "faults:\n";
    for (const fault_traits& f : fault_table)
        out << "  " << f.name << "\n";
    out << "scenarios:\n";
    for (const scenario& s : all_scenarios()) {
        out << "  " << s.full_name() << "\n";
        for (const auto& [which, reason] : s.without)
            out << "      without " << to_string(which) << ": " << reason << "\n";
    }
}

}  // namespace corozk::matrix
