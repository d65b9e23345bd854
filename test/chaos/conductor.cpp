// SPDX-License-Identifier: Apache-2.0
#include "conductor.hpp"

#include "client.hpp"
#include <corozk/testing/admin.hpp>
#include <corozk/testing/error.hpp>
#include <corozk/testing/eventually.hpp>
#include <corozk/testing/four_letter.hpp>
#include <corozk/testing/still_loop.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <sstream>
#include <thread>

namespace corozk::chaos {

using namespace std::chrono_literals;
using testing::fault_proxy;

namespace {

constexpr int session_ms = 3'000;

void say(const std::string& what) {
    std::cerr << "chaos: " << what << std::endl;
}

/// Whether a process has come so far that a signal does not end it.
bool handles(pid_t process, int signal) {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("SigCgt:"))
            return ((std::stoull(line.substr(7), nullptr, 16) >> (signal - 1)) & 1U) != 0;
    }
    return false;
}

}  // namespace

conductor::conductor(std::string self, plan p)
    : self_(std::move(self)), plan_(p), random_(p.seed), clients_(p.clients) {}

conductor::milliseconds conductor::between(int least, int most) {
    return milliseconds(std::uniform_int_distribution<int>(least, most)(random_));
}

std::size_t conductor::one_of(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
}

void conductor::check(bool holds, const std::string& what) {
    if (!holds)
        problems_.push_back(what);
}

testing::ensemble_options conductor::with_routes() {
    testing::ensemble_options options;
    options.quorum_route = [this](std::size_t asks, std::size_t whom, std::uint16_t port) {
        auto& route = routes_.at(asks).at(whom);
        if (!route)
            route = std::make_unique<testing::stream_proxy>();
        route->forward_to(port);
        return route->port();
    };
    return options;
}

std::string conductor::hosts_of(std::size_t client) const {
    std::string hosts;
    for (const auto& proxy : proxies_[client % 2])
        hosts += (hosts.empty() ? "" : ",") + proxy->hosts();
    return hosts;
}

void conductor::start_client(std::size_t which) {
    member& m = clients_[which];
    ++m.life;
    testing::process_options options;
    std::string name = std::to_string(which) + "." + std::to_string(m.life);
    options.command = {self_,
                       "--client",
                       name,
                       "--hosts",
                       hosts_of(which),
                       "--resource",
                       std::to_string(resource_.port())};
    options.output = folder_.path() / ("client-" + std::to_string(which));
    m.process = std::make_unique<testing::process_guard>(options);
}

void conductor::begin(const std::string& what, milliseconds length, std::function<void()> undo) {
    ++faults_[what];
    resource_.begin_of(what);
    later(length, [this, what, undo = std::move(undo)] {
        resource_.end_of(what);
        if (undo)
            undo();
    });
}

void conductor::later(milliseconds in, std::function<void()> undo) {
    undone_.emplace(clock::now() + in, std::move(undo));
}

void conductor::run_undone(bool all) {
    while (!undone_.empty() && (all || undone_.begin()->first <= clock::now())) {
        auto undo = std::move(undone_.begin()->second);
        undone_.erase(undone_.begin());
        undo();
    }
}

/// Nobody ends by himself.
void conductor::look_after_clients() {
    for (std::size_t i = 0; i < clients_.size(); ++i) {
        member& m = clients_[i];
        if (m.busy || m.process->running())
            continue;
        check(false,
              "client " + std::to_string(i) + " ended by itself, with " +
                  std::to_string(m.process->exit_status().value_or(0)));
        start_client(i);
    }
}

/// Each of them is up, and has caught up.
bool conductor::all_serve() {
    if (std::count(server_busy_.begin(), server_busy_.end(), true) > 0)
        return false;
    try {
        for (std::size_t i = 0; i < 3; ++i) {
            auto words = testing::four_letter((*servers_)[i].port(), "srvr", 300ms);
            if (words.find("Mode: ") == words.npos)
                return false;
        }
    } catch (const std::exception&) {
        return false;
    }
    return true;
}

/// One server at a time, now and then two: then nobody serves. Only when all have caught up with
/// their leader: ZooKeeper 3.8 itself loses acknowledged changes where that is interrupted (README).
void conductor::fault_of_server() {
    if (!all_serve())
        return;
    std::size_t which = one_of(3);
    switch (one_of(4)) {
        case 0: {
            server_busy_[which] = true;
            (*servers_)[which].kill();
            begin("server killed", between(200, 3'000), [this, which] {
                (*servers_)[which].launch();
                server_busy_[which] = false;
            });
            break;
        }
        case 1: {
            // As long as a process needs that collects its garbage.
            auto length = between(100, 2 * session_ms);
            stop_server(which, length);
            if (one_in(4))
                stop_server((which + 1) % 3, length);
            break;
        }
        case 2: {
            server_busy_[which] = true;
            auto length = between(500, 5'000);
            begin("server's disk slow", length);
            slow_disk(which, clock::now() + length);
            break;
        }
        default: {
            server_busy_[which] = true;
            auto hold = [this, which](bool on) {
                for (std::size_t other = 0; other < 3; ++other) {
                    for (auto* route : {routes_[which][other].get(), routes_[other][which].get()}) {
                        if (route)
                            route->hold_answers(on);
                    }
                }
            };
            hold(true);
            begin("server cut off from the others", between(500, 5'000), [this, which, hold] {
                hold(false);
                server_busy_[which] = false;
            });
        }
    }
}

void conductor::stop_server(std::size_t which, milliseconds length) {
    server_busy_[which] = true;
    (*servers_)[which].stop();
    begin("server stopped", length, [this, which] {
        (*servers_)[which].cont();
        server_busy_[which] = false;
    });
}

/// Its writes take long: it stands still most of the time, and goes on for a moment in between.
void conductor::slow_disk(std::size_t which, clock::time_point end) {
    (*servers_)[which].stop();
    later(between(50, 400), [this, which, end] {
        (*servers_)[which].cont();
        if (calm_ || clock::now() >= end) {
            server_busy_[which] = false;
            return;
        }
        later(between(5, 30), [this, which, end] { slow_disk(which, end); });
    });
}

void conductor::fault_of_client() {
    if (one_in(6)) {
        if (!late_owner_)
            resource_.hold_next_entry();
        return;
    }
    std::size_t which = one_of(clients_.size());
    member& m = clients_[which];
    if (m.busy)
        return;
    m.busy = true;
    if (one_in(3)) {
        m.process->kill();
        begin("client killed", between(0, 2'000), [this, which] {
            start_client(which);
            clients_[which].busy = false;
        });
        return;
    }
    m.process->stop();
    begin("client stopped", between(50, 2 * session_ms), [this, which] {
        clients_[which].process->cont();
        clients_[which].busy = false;
    });
}

/// Whoever has entered and waits for the resource's answer is stopped, until its session has ended
/// and somebody else has entered: what it does with the answer comes too late.
void conductor::watch_owner() {
    constexpr auto patience = 15s;
    if (!late_owner_) {
        std::string name = resource_.held();
        if (name.empty())
            return;
        std::size_t which = std::stoul(name);
        member& m = clients_[which];
        if (!calm_ && !m.busy && m.process->running()) {
            m.process->stop();
            m.busy = true;
            late_owner_ = {which, resource_.highest(), clock::now() + patience};
            ++faults_["owner stopped"];
            resource_.begin_of("owner stopped");
        }
        resource_.let_go();
        return;
    }
    if (!calm_ && resource_.highest() <= late_owner_->token && clock::now() < late_owner_->give_up)
        return;
    member& m = clients_[late_owner_->which];
    m.process->cont();
    m.busy = false;
    resource_.end_of("owner stopped");
    late_owner_.reset();
}

/// The first fault: one owner comes too late, with nothing else that goes wrong.
void conductor::see_a_late_owner() {
    resource_.hold_next_entry();
    auto refused = [this] {
        watch_owner();
        return resource_.told().judge(final_state()).fenced > 0;
    };
    try {
        testing::eventually(refused, 60s, "the resource refuses an owner that comes too late");
    } catch (const std::exception& e) {
        check(false, e.what());
    }
}

void conductor::fault_of_network() {
    fault_proxy& proxy = *proxies_[one_of(2)][one_of(3)];
    switch (one_of(4)) {
        case 0:
            proxy.cut();
            begin("connections cut", 0ms);
            break;
        case 1: {
            auto way = one_in(2) ? testing::direction::to_client : testing::direction::to_server;
            proxy.black_hole(true, way);
            begin("network: one direction lost", between(50, 4'000), [&proxy, way] {
                proxy.black_hole(false, way);
            });
            break;
        }
        case 2:
            proxy.set_delay(testing::direction::to_client, between(1, 300));
            begin("network: delay", between(100, 2'000), [&proxy] {
                proxy.set_delay(testing::direction::to_client, 0ms);
            });
            break;
        default: {
            // All servers for half of the clients.
            auto& row = proxies_[one_of(2)];
            for (auto& p : row)
                p->black_hole(true);
            begin("network: partition", between(100, 2 * session_ms), [&row] {
                for (auto& p : row)
                    p->black_hole(false);
            });
        }
    }
}

void conductor::jump_clock() {
    member& m = clients_[one_of(clients_.size())];
    if (m.busy || !m.process->running() || !handles(m.process->pid(), SIGUSR2))
        return;
    bool asleep = one_in(2);
    begin(asleep ? "client's clock jumped ahead" : "client's wall clock jumped", 0ms);
    sigval by{};
    by.sival_int = static_cast<int>(asleep ? between(200, 10'000).count()
                                           : between(-3'600'000, 3'600'000).count());
    ::sigqueue(m.process->pid(), asleep ? SIGUSR1 : SIGUSR2, by);
}

void conductor::fault() {
    switch (one_of(8)) {
        case 0:
            return fault_of_server();
        case 1:
        case 2:
            return fault_of_client();
        case 3:
        case 4:
        case 5:
            return fault_of_network();
        default:
            return jump_clock();
    }
}

void conductor::calm_down() {
    calm_ = true;
    run_undone(true);
    watch_owner();
    resource_.let_go();
    for (std::size_t i = 0; i < 3; ++i) {
        if (!(*servers_)[i].running())
            (*servers_)[i].launch();
    }
    servers_->wait_until_serving();
}

/// Everybody gets on, now that nothing goes wrong.
void conductor::see_progress() {
    auto before = resource_.entries();
    auto all_have = [&] {
        auto now = resource_.entries();
        for (std::size_t i = 0; i < clients_.size(); ++i) {
            std::string name = std::to_string(i);
            if (now[name] <= before[name])
                return false;
        }
        return true;
    };
    try {
        testing::eventually(all_have, 60s, "every client owns again");
    } catch (const std::exception& e) {
        check(false, e.what());
    }
}

void conductor::end_clients() {
    for (member& m : clients_)
        m.process->signal(SIGTERM);
    for (std::size_t i = 0; i < clients_.size(); ++i) {
        bool ended = clients_[i].process->wait(60s);
        int status = clients_[i].process->exit_status().value_or(-1);
        check(ended, "client " + std::to_string(i) + " did not end");
        check(!ended || status == 0,
              "client " + std::to_string(i) + " ended with " + std::to_string(status));
        clients_[i].process->kill();
    }
}

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
    }
}

bool conductor::operator()() {
    std::cout << "seed " << plan_.seed << ", " << plan_.clients << " clients, 3 servers, "
              << plan_.length.count() << " s" << std::endl;
    say("starting the servers");
    servers_ = std::make_unique<testing::ensemble>(with_routes());
    for (auto& row : proxies_) {
        for (std::size_t i = 0; i < 3; ++i)
            row[i] = std::make_unique<fault_proxy>((*servers_)[i].port());
    }
    {
        testing::admin hand((*servers_)[0].port());
        hand.plant(std::string(root) + "/guarded", "0");
        hand.plant(std::string(root) + "/witness", "");
        hand.plant(std::string(root) + "/effects");
    }
    for (std::size_t i = 0; i < clients_.size(); ++i)
        start_client(i);
    testing::still_loop nobody([this](auto turn) { resource_.note_turn_of_nobody(turn); });
    see_a_late_owner();
    auto end = clock::now() + plan_.length;
    auto next_word = clock::now() + 20s;
    while (clock::now() < end) {
        fault();
        auto until = clock::now() + between(50, 800);
        while (clock::now() < until) {
            run_undone(false);
            watch_owner();
            look_after_clients();
            std::this_thread::sleep_for(10ms);
        }
        if (clock::now() >= next_word) {
            next_word = clock::now() + 20s;
            judgement j = resource_.told().judge(final_state());
            say(std::to_string(j.accesses) + " accesses, " + std::to_string(j.hand_overs) +
                " hand-overs, " + std::to_string(j.fenced) + " fenced");
        }
    }
    say("all faults are over");
    calm_down();
    see_progress();
    end_clients();
    final_state last;
    try {
        last = look();
    } catch (const std::exception& e) {
        std::cout << "FAILED: what is left could not be seen: " << e.what() << "; seed "
                  << plan_.seed << std::endl;
        for (const std::string& problem : problems_)
            std::cout << "PROBLEM: " << problem << "\n";
        describe_servers();
        return false;
    }
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
              << last.queued.size() << " left\n"
              << "additions          " << j.added << ", the counter is " << last.counter << "\n"
              << "in doubt           " << j.in_doubt << "\n"
              << "witnessed          " << j.witnessed << " changes; the servers lost or differ in "
              << j.taken_back.size() << "\n\n";
    auto in_ms = [](std::chrono::nanoseconds t) { return static_cast<double>(t.count()) / 1e6; };
    std::cout << std::left << std::setw(34) << "fault" << std::right << std::setw(7) << "times"
              << std::setw(20) << "longest turn, ms" << std::setw(22) << "of an idle loop, ms"
              << "\n";
    for (const auto& [what, longest] : resource_.longest_turns()) {
        std::cout << std::left << std::setw(34) << (what.empty() ? "none" : what) << std::right
                  << std::setw(7) << (what.empty() ? "" : std::to_string(faults_[what]))
                  << std::fixed << std::setprecision(3) << std::setw(20)
                  << in_ms(longest.of_clients) << std::setw(22) << in_ms(longest.of_nobody) << "\n";
    }
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

}  // namespace corozk::chaos
