// SPDX-License-Identifier: Apache-2.0
// What goes wrong with the clients, their clocks, and whoever owns.
#include "conductor.hpp"

#include <csignal>
#include <fstream>

namespace corozk::chaos {

using namespace std::chrono_literals;

namespace {

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

bool conductor::kill_client(const std::string& what) {
    std::size_t which = one_of(clients_.size());
    member& m = clients_[which];
    if (m.busy || which == taker)
        return false;
    m.busy = true;
    m.process->kill();
    begin(what, between(0s, 2s), [this, which] {
        start_client(which);
        clients_[which].busy = false;
    });
    return true;
}

bool conductor::stop_client(const std::string& what) {
    std::size_t which = one_of(clients_.size());
    member& m = clients_[which];
    if (m.busy)
        return false;
    m.busy = true;
    m.process->stop();
    begin(what, between(50ms, 2 * session_timeout), [this, which] {
        clients_[which].process->cont();
        clients_[which].busy = false;
    });
    return true;
}

/// It counts when somebody has entered: see watch_owner.
bool conductor::stop_next_owner(const std::string&) {
    if (late_owner_)
        return false;
    resource_.hold_next_entry();
    return true;
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
            ++faults_[owner_stopped];
            resource_.begin_of(owner_stopped);
        }
        resource_.let_go();
        return;
    }
    if (!calm_ && resource_.highest() <= late_owner_->token && clock::now() < late_owner_->give_up)
        return;
    member& m = clients_[late_owner_->which];
    m.process->cont();
    m.busy = false;
    resource_.end_of(owner_stopped);
    late_owner_.reset();
}

/// The first fault: one owner comes too late, with nothing else that goes wrong.
void conductor::see_a_late_owner() {
    auto due = clock::now();
    auto refused = [this, &due] {
        watch_owner();
        // Again, if nobody is late although one was stopped: nobody else had entered in time.
        if (late_owner_ || !resource_.held().empty())
            due = clock::now() + 5s;
        else if (clock::now() >= due)
            resource_.hold_next_entry();
        return resource_.told().judge(final_state()).fenced > 0;
    };
    wait_for(refused, "the resource refuses an owner that comes too late");
}

/// As after a laptop's sleep.
bool conductor::jump_ahead(const std::string& what) {
    return jump_clock(what, SIGUSR1, between(200ms, 10s));
}

bool conductor::jump_wall_clock(const std::string& what) {
    return jump_clock(what, SIGUSR2, between(-1h, 1h));
}

bool conductor::jump_clock(const std::string& what, int signal, milliseconds length) {
    member& m = clients_[one_of(clients_.size())];
    if (m.busy || !m.process->running() || !handles(m.process->pid(), SIGUSR2))
        return false;
    begin(what, 0ms);
    sigval by{};
    by.sival_int = static_cast<int>(length.count());
    ::sigqueue(m.process->pid(), signal, by);
    return true;
}

}  // namespace corozk::chaos
