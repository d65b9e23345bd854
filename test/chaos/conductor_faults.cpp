// SPDX-License-Identifier: Apache-2.0
// What goes wrong, and when it is over.
#include "conductor.hpp"
#include <corozk/testing/eventually.hpp>
#include <corozk/testing/four_letter.hpp>

#include <algorithm>
#include <csignal>
#include <fstream>

namespace corozk::chaos {

using namespace std::chrono_literals;
using testing::fault_proxy;

namespace {

constexpr int session_ms = 3'000;

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

conductor::milliseconds conductor::between(int least, int most) {
    return milliseconds(std::uniform_int_distribution<int>(least, most)(random_));
}

std::size_t conductor::one_of(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
}

}  // namespace corozk::chaos
