// SPDX-License-Identifier: Apache-2.0
// What is left at the end, and the judgement.
#include "conductor.hpp"
#include <corozk/testing/admin.hpp>
#include <corozk/testing/error.hpp>
#include <corozk/testing/eventually.hpp>
#include <corozk/testing/four_letter.hpp>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <sstream>

namespace corozk::chaos {

using namespace std::chrono_literals;

final_state conductor::look() {
    final_state last;
    testing::admin hand((*servers_)[0].port());
    std::string folder = root;
    // Of clients that were killed the sessions go in their time.
    std::uint16_t leader = (*servers_)[servers_->leader().value_or(0)].port();
    testing::eventually(
        [&] { return testing::ephemerals(leader).empty(); }, 60s, "no session left");
    for (const std::string& name : hand.children(folder + "/queue"))
        last.queued.push_back(hand.data(folder + "/queue/" + name));
    // <item>-<sequence>: an item that had its effect twice would be there twice.
    for (const std::string& name : hand.children(folder + "/effects"))
        last.effects.push_back(name.substr(0, name.rfind('-')));
    if (hand.exists(folder + "/counter")) {
        std::istringstream number(hand.data(folder + "/counter"));
        number >> last.counter;
    }
    check(hand.children(folder + "/lock").empty(), "nobody is left in the lock's line");
    check(hand.children(folder + "/leader").empty(), "nobody is left in the election");
    return last;
}

/// Nobody changes anything any more: all three hold the same, or they have gone apart for ever.
std::vector<std::string> conductor::differences() {
    auto contents = [this](std::size_t server) {
        testing::admin hand((*servers_)[server].port());
        std::vector<std::string> all;
        for (const char* folder : {"/queue", "/effects", "/lock", "/leader"}) {
            for (const std::string& name : hand.children(std::string(root) + folder))
                all.push_back(std::string(folder) + "/" + name);
        }
        std::sort(all.begin(), all.end());
        return all;
    };
    std::array<std::vector<std::string>, 3> held;
    auto all_the_same = [&] {
        for (std::size_t i = 0; i < held.size(); ++i)
            held[i] = contents(i);
        return held[0] == held[1] && held[0] == held[2];
    };
    std::vector<std::string> found;
    try {
        testing::eventually(all_the_same, 30s, "all servers hold the same");
    } catch (const testing::timeout_error&) {
        for (std::size_t i = 1; i < held.size(); ++i) {
            auto missing = [&](std::size_t one, std::size_t other) {
                std::vector<std::string> names;
                std::set_difference(held[one].begin(),
                                    held[one].end(),
                                    held[other].begin(),
                                    held[other].end(),
                                    std::back_inserter(names));
                for (const std::string& name : names) {
                    found.push_back(name + " is at server " + std::to_string(one) +
                                    ", and not at server " + std::to_string(other));
                }
            };
            missing(0, i);
            missing(i, 0);
        }
    }
    return found;
}

/// What is left, and what they did, judged; printed.
bool conductor::report(const final_state& last) {
    judgement j = resource_.told().judge(last);
    for (std::string& difference : differences())
        j.taken_back.push_back(std::move(difference));
    std::cout << "accesses           " << j.accesses << " (" << j.fenced
              << " of lost owners refused)\n"
              << "hand-overs         " << j.hand_overs << " (" << j.overlaps
              << " before the last owner had left)\n"
              << "guarded writes     " << j.guarded_writes << "\n"
              << "leaders' terms     " << j.terms << "\n"
              << "items              " << j.put << " put, " << last.effects.size() << " done, "
              << j.taken << " taken, " << last.queued.size() << " left\n"
              << "additions          " << j.added << ", the counter is " << last.counter << "\n"
              << "in doubt           " << j.in_doubt << "\n"
              << "witnessed          " << j.witnessed << " changes; the servers lost or differ in "
              << j.taken_back.size() << "\n\n";
    report_faults();
    see_every_fault();
    std::cout << "\n";
    constexpr std::size_t enough = 20;
    for (std::size_t i = 0; i < std::min(j.taken_back.size(), enough); ++i)
        std::cout << "SERVERS: " << j.taken_back[i] << "\n";
    for (std::size_t i = 0; i < std::min(j.violations.size(), enough); ++i)
        std::cout << "VIOLATION: " << j.violations[i] << "\n";
    if (j.violations.size() > enough)
        std::cout << "... " << j.violations.size() << " violations in all\n";
    for (const std::string& problem : problems_)
        std::cout << "PROBLEM: " << problem << "\n";
    if (!j.taken_back.empty()) {
        std::cout
            << "The servers have lost what they had acknowledged, or differ for ever: nobody can "
               "keep promises on top of them.\n";
    }
    bool good = j.violations.empty() && problems_.empty() && j.taken_back.empty();
    if (!good) {
        keep_servers();
        for (std::size_t i = 0; i < clients_.size(); ++i) {
            std::ifstream said(folder_.path() / ("client-" + std::to_string(i)));
            std::stringstream text;
            text << said.rdbuf();
            if (!text.str().empty())
                std::cout << "client " << i << " said:\n" << text.str() << "\n";
        }
    }
    std::cout << (good ? "nothing lost, nothing doubled" : "FAILED") << "; seed " << plan_.seed
              << std::endl;
    return good;
}

/// How often each kind of fault came, how long it has stopped a client's loop at most, and the machine
/// an idle one.
void conductor::report_faults() {
    auto in_ms = [](std::chrono::nanoseconds t) { return static_cast<double>(t.count()) / 1e6; };
    std::cout << std::left << std::setw(34) << "fault" << std::right << std::setw(7) << "times"
              << std::setw(18) << "longest turn, ms" << std::setw(11) << "in kernel"
              << std::setw(13) << "page faults" << std::setw(13) << "preemptions" << std::setw(21)
              << "of an idle loop, ms"
              << "\n";
    auto longest_turns = resource_.longest_turns();
    for (const fault_kind& kind : fault_kinds())
        longest_turns.try_emplace(kind.name);
    for (const auto& [what, longest] : longest_turns) {
        const testing::turn_clock::turn& turn = longest.of_clients;
        std::cout << std::left << std::setw(34) << (what.empty() ? "none" : what) << std::right
                  << std::setw(7) << (what.empty() ? "" : std::to_string(faults_[what]))
                  << std::fixed << std::setprecision(3) << std::setw(18) << in_ms(turn.took)
                  << std::setw(11) << in_ms(turn.in_kernel) << std::setw(13) << turn.page_faults
                  << std::setw(13) << turn.preemptions << std::setw(21) << in_ms(longest.of_nobody)
                  << "\n";
    }
}

/// A run that is long enough says nothing about a fault that it has not seen.
void conductor::see_every_fault() {
    if (!is_long())
        return;
    for (const fault_kind& kind : fault_kinds())
        check(faults_[kind.name] > 0, std::string("a fault that never happened: ") + kind.name);
}

/// Their logs and transaction logs, for whoever looks for the cause.
void conductor::keep_servers() {
    if (plan_.keep.empty())
        return;
    for (std::size_t i = 0; i < 3; ++i) {
        auto to = plan_.keep / ("server-" + std::to_string(i));
        std::filesystem::create_directories(to);
        std::filesystem::copy((*servers_)[i].directory(),
                              to,
                              std::filesystem::copy_options::recursive |
                                  std::filesystem::copy_options::overwrite_existing);
    }
    std::filesystem::copy(
        folder_.path(), plan_.keep, std::filesystem::copy_options::overwrite_existing);
}

/// The end of a server's log, with its threads' stacks: the virtual machine writes them when asked to.
std::string conductor::what_threads_do(testing::server& s) {
    constexpr std::size_t lines = 600;
    auto told = [&s] { return s.log_tail(lines).find("JNI global refs") != std::string::npos; };
    if (!s.running() || ::kill(s.pid(), SIGQUIT) != 0)
        return "it does not run";
    try {
        testing::eventually(told, 5s, "its threads' stacks");
    } catch (const std::exception& e) {
        return s.log_tail() + e.what();
    }
    return s.log_tail(lines);
}

void conductor::describe_servers() {
    for (std::size_t i = 0; i < 3; ++i) {
        std::cout << "server " << i << ":\n";
        for (const char* word : {"srvr", "dump"}) {
            try {
                std::cout << testing::four_letter((*servers_)[i].port(), word) << "\n";
            } catch (const std::exception& e) {
                std::cout << word << ": " << e.what() << "\n";
            }
        }
        std::cout << what_threads_do((*servers_)[i]) << "\n";
    }
}

}  // namespace corozk::chaos
