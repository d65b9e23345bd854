// SPDX-License-Identifier: Apache-2.0
// A server that is broken or hostile, and other programs' nodes where ours should be: every client
// in a process of its own. Prints a table: attack x scenario.
#include "case_choice.hpp"
#include "child.hpp"
#include "lie_witness.hpp"
#include "option_words.hpp"
#include "scenarios.hpp"
#include <corozk/testing/process_guard.hpp>
#include <corozk/testing/server.hpp>
#include <corozk/testing/temporary_directory.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace corozk::wire {

namespace {

using namespace std::chrono_literals;

constexpr const char* usage = R"(usage: test_wire [OPTION]...
Runs clients against a server whose answers are spoilt on their way, and below nodes of other
programs. Prints a table: cases run, and failures.
  --full           every attack on every scenario at every frame
  --persistent     only servers that go on lying, from a frame on
  --seed N         chooses frames and bytes (1)
  --case CASE      only this one, as a failure names it: 'lock/another xid/3/42'
  --scenario NAME  only this scenario
  --attack NAME    only this attack
  --jobs N         how many at a time (4)
)";

struct verdict {
    bool good = false;
    bool told = false;  ///< the lie
    std::string text;
};

class campaign {
public:
    campaign(std::string self, choice_options wanted, std::string only_scenario, std::size_t jobs)
        : self_(std::move(self)),
          wanted_(std::move(wanted)),
          only_scenario_(std::move(only_scenario)),
          jobs_(jobs) {}

    int one(const std::string& text) {
        wire_case c = wire_case::parse(text);
        verdict v = run(c, 0);
        std::cout << v.text << (v.good ? "good\n" : "FAILED\n");
        return v.good ? EXIT_SUCCESS : EXIT_FAILURE;
    }

    int all() {
        measure();
        std::vector<wire_case> cases = case_choice(chances_, wanted_).choose();
        std::cerr << "wire: " << cases.size() << " cases, seed " << wanted_.seed << "\n";
        see_every_attack(cases);
        each(cases, [this](const wire_case& c, const verdict& v) { record(c, v); });
        see_every_lie();
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
                    wire_case c = cases[i];
                    verdict v = run_until_told(c, w);
                    std::lock_guard guard(mutex_);
                    report(c, v);
                }
            });
        }
    }

    /// Again at an earlier frame, where it did not come so far: a few frames more or less depend on who is
    /// faster.
    verdict run_until_told(wire_case& c, std::size_t worker) {
        constexpr int tries = 8;
        verdict v = run(c, worker);
        if (!has_one_lie(c))
            return v;
        const testing::wire_occasion occasion = occasion_of(*testing::wire_lie_named(c.attack));
        for (int i = 1; i < tries && v.good && !v.told; ++i) {
            if (occasions_in(v.text)[occasion] >= c.at) {
                v.good = false;
                v.text += "it came so far, and was told no lie\n";
                break;
            }
            c.at = std::max<std::uint64_t>(c.at / 2, 1);
            v = run(c, worker);
        }
        return v;
    }

    static bool has_one_lie(const wire_case& c) {
        auto lie = testing::wire_lie_named(c.attack);
        return lie && *lie != testing::wire_lie::none && !c.persistent;
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
        v.good = ended && status == went_well;
        v.told = v.text.find(lie_witness::lied) != std::string::npos;
        v.text += "exit status " + std::to_string(status) + (ended ? "\n" : ", killed\n");
        return v;
    }

    /// How many frames each scenario has at least.
    void measure() {
        constexpr int times = 2;
        std::vector<wire_case> honest;
        for (const scenario& s : all_scenarios()) {
            if (!only_scenario_.empty() && s.name != only_scenario_)
                continue;
            for (int i = 0; i < times; ++i)
                honest.push_back(wire_case{std::string(s.name), no_attack, 0, false, wanted_.seed});
        }
        each(honest, [this](const wire_case& c, const verdict& v) {
            occasion_counts counts = occasions_in(v.text);
            auto [seen, first] = chances_.try_emplace(c.scenario, counts);
            for (auto& [occasion, count] : seen->second)
                count = std::min(count, counts[occasion]);
            bool played = v.text.find("played: done") != std::string::npos;
            if (!v.good || !played || counts[testing::wire_occasion::answer] == 0)
                fail(c, v);
        });
    }

    /// Each has its occasion somewhere; a scenario alone need not have all of them.
    void see_every_attack(const std::vector<wire_case>& cases) {
        if (!only_scenario_.empty())
            return;
        for (const std::string& attack : case_choice::attacks(wanted_)) {
            bool played = std::any_of(cases.begin(), cases.end(), [&](const wire_case& c) {
                return c.attack == attack && c.persistent == wanted_.persistent;
            });
            if (played)
                continue;
            ++failed_;
            std::cerr << "FAILED  '" << attack << "' suits no frame of any scenario\n";
        }
    }

    void fail(const wire_case& c, const verdict& v) {
        ++failed_;
        std::cerr << "FAILED  '" << c.text() << "'\n" << v.text << "\n";
    }

    void record(const wire_case& c, const verdict& v) {
        ++done_;
        cell& here = cells_[c.attack + (c.persistent ? ", persistent" : "")];
        ++here.run;
        here.untold += has_one_lie(c) && !v.told ? 1 : 0;
        if (v.good)
            return;
        ++here.failed;
        fail(c, v);
    }

    /// A scenario may not come so far, but of several some do.
    void see_every_lie() {
        constexpr std::size_t several = 4;
        for (const auto& [attack, c] : cells_) {
            if (c.run < several || c.untold < c.run)
                continue;
            ++failed_;
            std::cerr << "FAILED  '" << attack << "' was told in no case\n";
        }
    }

    void print() const {
        std::cout << std::left << std::setw(42) << "attack" << std::right << std::setw(8) << "cases"
                  << std::setw(8) << "failed" << std::setw(8) << "untold"
                  << "\n";
        for (const auto& [attack, c] : cells_) {
            std::cout << std::left << std::setw(42) << attack << std::right << std::setw(8) << c.run
                      << std::setw(8) << c.failed << std::setw(8) << c.untold << "\n";
        }
        std::cout << done_ << " cases, " << failed_ << " failed; seed " << wanted_.seed << "\n";
    }

    struct cell {
        std::size_t run = 0;
        std::size_t failed = 0;
        std::size_t untold = 0;  ///< it did not come to the lie
    };

    std::string self_;
    choice_options wanted_;
    std::string only_scenario_;
    std::size_t jobs_;
    testing::server server_{[] {
        testing::server_options options;
        options.tick_time = 200ms;
        return options;
    }()};
    testing::temporary_directory folder_;
    std::mutex mutex_;
    chances_of_scenarios chances_;
    std::map<std::string, cell> cells_;
    std::size_t done_ = 0;
    std::size_t failed_ = 0;
};

}  // namespace

}  // namespace corozk::wire

int main(int argc, char** argv) {
    using namespace corozk::wire;
    choice_options wanted;
    std::size_t jobs = 4;
    std::string single;
    std::string scenario;
    std::uint16_t child_of = 0;
    try {
        for (corozk::testing::option_words words(argc, argv); words.next();) {
            if (words.is("--full")) {
                wanted.full = true;
            } else if (words.is("--persistent")) {
                wanted.persistent = true;
            } else if (words.is("--seed")) {
                wanted.seed = words.number<std::uint64_t>();
            } else if (words.is("--jobs")) {
                jobs = words.number<std::size_t>();
            } else if (words.is("--case")) {
                single = words.value();
            } else if (words.is("--scenario")) {
                scenario = words.value();
            } else if (words.is("--attack")) {
                wanted.only_attack = words.value();
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
        campaign all(
            std::filesystem::read_symlink("/proc/self/exe").string(), wanted, scenario, jobs);
        return single.empty() ? all.all() : all.one(single);
    } catch (const std::exception& e) {
        std::cerr << e.what() << "\n" << usage;
        return 2;
    }
}
