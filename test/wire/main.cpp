// SPDX-License-Identifier: Apache-2.0
// A server that is broken or hostile, and other programs' nodes where ours should be: every client
// in a process of its own. Prints a table: attack x scenario.
#include "child.hpp"
#include "crash_place.hpp"
#include "option_words.hpp"
#include "scenarios.hpp"
#include <corozk/testing/process_guard.hpp>
#include <corozk/testing/server.hpp>
#include <corozk/testing/temporary_directory.hpp>
#include <corozk/testing/wire_lie.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace corozk::wire {

namespace {

using namespace std::chrono_literals;
using testing::wire_lie;

constexpr const char* usage = R"(usage: test_wire [OPTION]...
Runs clients against a server whose answers are spoilt on their way, and below nodes of other
programs. Prints a table: cases run, failures, and how many processes ended inside the C client
where nobody else can help it (the README of this folder says where).
  --full           every attack on every scenario at every frame
  --seed N         chooses frames and bytes (1)
  --case CASE      only this one, as a failure names it: 'lock/another xid/3/42'
  --scenario NAME  only this scenario
  --attack NAME    only this attack
  --jobs N         how many at a time (4)
)";

/// Under these the C client may end the process, before anybody else sees the frame. The README says
/// why.
const std::set<std::string>& decided_by_c_client() {
    static const std::set<std::string> known = {
        "answered twice",
        "answer to nobody",
        "swapped",
        "garbage frame",
        "stops inside",
        "header only",
        "ends early",
        "huge inner length",
        "large inner count",
        "negative inner length",
        "garbage body",
        "flipped bit",
        "event that ends early",
    };
    return known;
}

struct verdict {
    bool good = false;
    std::string in_c_client;  ///< where; empty: elsewhere, or not at all
    std::string text;
    std::uint64_t chances = 0;
};

class campaign {
public:
    campaign(std::string self, std::uint64_t seed, std::size_t jobs)
        : self_(std::move(self)), seed_(seed), jobs_(jobs) {}

    void only(std::string scenario, std::string attack) {
        only_scenario_ = std::move(scenario);
        only_attack_ = std::move(attack);
    }

    int one(const std::string& text) {
        wire_case c = wire_case::parse(text);
        verdict v = run(c, 0);
        std::cout << v.text << (v.good ? "good\n" : "FAILED\n");
        return v.good ? EXIT_SUCCESS : EXIT_FAILURE;
    }

    int all(bool full) {
        measure();
        std::vector<wire_case> cases = choose(full);
        std::cerr << "wire: " << cases.size() << " cases, seed " << seed_ << "\n";
        each(cases, [this](const wire_case& c, const verdict& v) { record(c, v); });
        print();
        return failed_ == 0 && done_ > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }

private:
    template <class Report>
    void each(const std::vector<wire_case>& cases, Report report) {
        std::atomic<std::size_t> next{0};
        std::vector<std::jthread> workers;
        for (std::size_t w = 0; w < jobs_; ++w) {
            workers.emplace_back([&, w] {
                for (std::size_t i = next++; i < cases.size(); i = next++) {
                    verdict v = run(cases[i], w);
                    std::lock_guard guard(mutex_);
                    report(cases[i], v);
                }
            });
        }
    }

    verdict run(const wire_case& c, std::size_t worker) {
        std::filesystem::path output = folder_.path() / ("output-" + std::to_string(worker));
        std::filesystem::remove(output);
        testing::process_options options;
        options.command = {self_, "--child", std::to_string(server_.port()), "--case", c.text()};
        options.output = output;
        testing::process_guard child(options);
        bool ended = child.wait(90s);
        if (!ended)
            child.kill();
        int status = child.exit_status().value_or(-1);
        std::ifstream file(output);
        std::stringstream text;
        text << file.rdbuf();
        verdict v;
        v.text = text.str();
        if (std::size_t at = v.text.find("chances "); at != std::string::npos)
            v.chances = std::stoull(v.text.substr(at + 8));
        v.good = ended && status == went_well;
        if (!v.good)
            v.text = with_function_names(v.text, self_);
        v.in_c_client = place_in_c_client(v.text);
        v.text += "exit status " + std::to_string(status) + (ended ? "\n" : ", killed\n");
        return v;
    }

    /// How many frames each scenario has.
    void measure() {
        std::vector<wire_case> honest;
        for (const scenario& s : all_scenarios()) {
            if (only_scenario_.empty() || s.name == only_scenario_)
                honest.push_back(wire_case{std::string(s.name), no_attack, 0, seed_});
        }
        each(honest, [this](const wire_case& c, const verdict& v) {
            chances_[c.scenario] = v.chances;
            bool played = v.text.find("played: done") != std::string::npos;
            if (!v.good || !played || v.chances == 0)
                fail(c, v);
        });
    }

    std::vector<wire_case> choose(bool full) {
        std::vector<std::string> attacks = {foreign_nodes, vandal};
        for (wire_lie lie : testing::all_wire_lies())
            attacks.emplace_back(to_string(lie));
        std::vector<wire_case> cases;
        std::mt19937_64 random(seed_);
        constexpr std::size_t few = 2;  // of the scenarios
        std::size_t turn = 0;
        for (const std::string& attack : attacks) {
            if (!only_attack_.empty() && attack != only_attack_)
                continue;
            auto lie = testing::wire_lie_named(attack);
            bool connecting = lie && concerns_connecting(*lie);
            std::size_t index = 0;
            for (const auto& [name, chances] : chances_) {
                std::size_t distance = (index++ + chances_.size() - turn) % chances_.size();
                bool taken = full || !lie || distance < (connecting ? 1 : few);
                std::uint64_t count = connecting ? 1 : std::max<std::uint64_t>(chances, 1);
                std::uint64_t drawn = 1 + random() % count;
                std::uint64_t bytes = random() % 1'000'000;
                if (!taken)
                    continue;
                bool everywhere = full && attack != foreign_nodes;
                for (std::uint64_t at = 1; at <= count; ++at) {
                    if (everywhere || at == drawn)
                        cases.push_back(wire_case{name, attack, at, bytes + at});
                }
            }
            turn = (turn + few) % std::max<std::size_t>(chances_.size(), 1);
        }
        return cases;
    }

    void fail(const wire_case& c, const verdict& v) {
        ++failed_;
        std::cerr << "FAILED  '" << c.text() << "'\n" << v.text << "\n";
    }

    void record(const wire_case& c, const verdict& v) {
        ++done_;
        cell& here = cells_[c.attack];
        ++here.run;
        if (v.good)
            return;
        if (!v.in_c_client.empty() && decided_by_c_client().contains(c.attack)) {
            ++here.in_c_client;
            here.where.insert(v.in_c_client);
            return;
        }
        ++here.failed;
        fail(c, v);
    }

    void print() const {
        std::cout << std::left << std::setw(26) << "attack" << std::right << std::setw(8) << "cases"
                  << std::setw(8) << "failed" << std::setw(14) << "in C client"
                  << "\n";
        for (const auto& [attack, c] : cells_) {
            std::cout << std::left << std::setw(26) << attack << std::right << std::setw(8) << c.run
                      << std::setw(8) << c.failed << std::setw(14) << c.in_c_client;
            for (const std::string& at : c.where)
                std::cout << "  " << at;
            std::cout << "\n";
        }
        std::cout << done_ << " cases, " << failed_ << " failed; seed " << seed_ << "\n";
    }

    struct cell {
        std::size_t run = 0;
        std::size_t failed = 0;
        std::size_t in_c_client = 0;
        std::set<std::string> where;
    };

    std::string self_;
    std::uint64_t seed_;
    std::size_t jobs_;
    std::string only_scenario_;
    std::string only_attack_;
    testing::server server_{[] {
        testing::server_options options;
        options.tick_time = 200ms;
        return options;
    }()};
    testing::temporary_directory folder_;
    std::mutex mutex_;
    std::map<std::string, std::uint64_t> chances_;
    std::map<std::string, cell> cells_;
    std::size_t done_ = 0;
    std::size_t failed_ = 0;
};

}  // namespace

}  // namespace corozk::wire

int main(int argc, char** argv) {
    using namespace corozk::wire;
    std::uint64_t seed = 1;
    std::size_t jobs = 4;
    bool full = false;
    std::string single;
    std::string scenario;
    std::string attack;
    std::uint16_t child_of = 0;
    try {
        for (corozk::testing::option_words words(argc, argv); words.next();) {
            if (words.is("--full")) {
                full = true;
            } else if (words.is("--seed")) {
                seed = words.number<std::uint64_t>();
            } else if (words.is("--jobs")) {
                jobs = words.number<std::size_t>();
            } else if (words.is("--case")) {
                single = words.value();
            } else if (words.is("--scenario")) {
                scenario = words.value();
            } else if (words.is("--attack")) {
                attack = words.value();
            } else if (words.is("--child")) {
                child_of = words.number<std::uint16_t>();
            } else if (words.is("--help") || words.is("-h")) {
                std::cout << usage;
                return EXIT_SUCCESS;
            } else {
                words.refuse();
            }
        }
        if (jobs == 0)
            throw std::invalid_argument("--jobs must be positive");
        if (child_of != 0)
            return run_child(wire_case::parse(single), child_of);
        campaign all(std::filesystem::read_symlink("/proc/self/exe").string(), seed, jobs);
        all.only(scenario, attack);
        return single.empty() ? all.all(full) : all.one(single);
    } catch (const std::exception& e) {
        std::cerr << e.what() << "\n" << usage;
        return 2;
    }
}
