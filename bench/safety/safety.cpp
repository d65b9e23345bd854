// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"
#include "command.hpp"
#include "compare/peer_kind.hpp"
#include "contest_rows.hpp"
#include "safety/cut_line.hpp"
#include "safety/fault.hpp"
#include "safety/moved_clock.hpp"
#include "safety/safety_run.hpp"
#include "safety/verdict.hpp"
#include "systems/system_servers.hpp"
#include "table.hpp"

#include <boost/asio/awaitable.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

namespace corozk::bench {

namespace {

boost::asio::awaitable<result> repeat_safety(job& j,
                                             const protection& p,
                                             const fault& f,
                                             const lock_owner& owner) {
    result row;
    row.set("recipe", "lock").set("implementation", p.system == "corozk" ? "ours" : p.system);
    row.set("fault", f.name).set("store", p.store).set("guard", p.guard).set("case", p.name());
    row.set("processes", j.wanted.processes).set("updates", j.wanted.operations);
    row.set("repeat", j.wanted.repeat);
    for (std::size_t i = 0; i < j.wanted.repeat; ++i)
        co_await run_safety_once(j, p, f, owner, row);
    co_return row;
}

/// All protections of one, under one fault. @return what is to be said of it
boost::asio::awaitable<std::string> run_owner(job& j,
                                              const lock_owner& owner,
                                              const fault& f,
                                              table& t) {
    std::string remarks;
    double lost_without_guard = 0;
    bool can_lose = false;
    for (const protection& p : protections) {
        if (p.system != owner.system || !f.concerns(p))
            continue;
        auto row = co_await repeat_safety(j, p, f, owner);
        t.add({owner.title,
               std::string(f.name),
               p.store_title(),
               p.guard_title(),
               count_text(row.most("faults")),
               row.has("notice_ms") ? notice_text(row.least("notice_ms")) : "-",
               count_text(row.most("overlaps")),
               count_text(row.least("added")),
               count_text(row.most("refused")),
               count_text(row.most("unknown")),
               count_text(row.most("lost"))});
        if (f.loses(p)) {
            can_lose = true;
            lost_without_guard += row.most("lost");
        }
        auto problems = problems_of(row, p, f, j.wanted.stops);
        for (const auto& problem : problems) {
            remarks += fmt::format(
                "WRONG: {}: {}, {}, {}\n", problem, owner.title, f.name, p.guard_title());
            j.exit_code = 1;
        }
        if (!problems.empty())
            row.set("failure", fmt::format("{}", fmt::join(problems, "; ")));
        j.results.push_back(std::move(row));
    }
    if (can_lose && lost_without_guard == 0) {
        remarks +=
            fmt::format("{}, {}: nothing was lost without a guard either: this has shown nothing\n",
                        owner.title,
                        f.name);
        j.exit_code = 1;
    }
    co_return remarks;
}

/// @return what is missing for it
std::string add_curator(job& j, std::vector<lock_owner>& owners) {
    peer_kind peer = find_peer("curator");
    peer.name = "curator-updater";
    peer.source = "CuratorUpdater";
    j.on.shown().update("preparing " + std::string(peer.title));
    auto program = prepare_peer(peer);
    if (!program.missing.empty())
        return fmt::format("{}: left out, {}\n", peer.title, program.missing);
    lock_owner owner;
    owner.system = "curator";
    owner.title = fmt::format("{} {}", peer.title, program.version);
    owner.hosts = j.on.hosts();
    owner.program = program.words;
    owners.push_back(owner);
    return {};
}

/// Those that can be played here. @param remarks what is missing for the others
std::vector<fault> possible_faults(const job& j, std::string& remarks) {
    if (j.wanted.stops == 0)
        return {no_fault};
    auto faults = faults_of(j.wanted.faults);
    auto leave_out = [&](std::string_view kind, std::string_view reason) {
        auto count = std::erase_if(faults, [kind](const fault& f) { return f.kind == kind; });
        if (count > 0)
            remarks += fmt::format("{}: left out, {}\n", kind, reason);
    };
    if (!on_this_machine(j.on.hosts()))
        leave_out("partition", "the proxy is for servers at 127.0.0.1");
    if (moved_clock::library().empty())
        leave_out("clock", "not installed: Debian's package faketime");
    return faults;
}

boost::asio::awaitable<void> run_safety(job& j) {
    system_servers servers(j);
    table t({"lock",
             "fault",
             "data in",
             "guard",
             "faults",
             "told",
             "overlaps",
             "added",
             "refused",
             "unknown",
             "lost"});
    std::string remarks = servers.remarks();
    auto faults = possible_faults(j, remarks);
    std::vector<lock_owner> owners;
    for (const auto& system : servers.all()) {
        lock_owner owner;
        owner.system = system.kind->name;
        owner.title = system.title;
        owner.hosts = system.hosts;
        owners.push_back(owner);
    }
    if (!j.wanted.peers.empty())
        remarks += add_curator(j, owners);
    bool moves_clocks =
        std::any_of(faults.begin(), faults.end(), [](const fault& f) { return f.kind == "clock"; });
    bool has_ours = std::any_of(
        owners.begin(), owners.end(), [](const lock_owner& o) { return o.system == "corozk"; });
    if (moves_clocks && !has_ours)
        remarks += "clock: left out, it is played with corozk's lock only: --systems corozk\n";
    for (const auto& owner : owners) {
        for (const auto& f : faults)
            remarks += co_await run_owner(j, owner, f, t);
    }
    j.output = heading(j) + "\n" + t.str();
    j.output +=
        "\npause: stopped between the last check of the lock and the write, until the session was "
        "over and another process had written\npartition: cut off from the servers for as long, "
        "but not from the file, and running; it checks the lock afterwards, or has checked it "
        "before\nwall clock, monotonic clock: moved by five hours while the lock was held\ntold: "
        "when the lock reported its loss, before or after it was granted to another process; the "
        "latest\noverlaps: updates that began while another process believed that it held the "
        "lock\nlost: updates that were acknowledged and are not in the set at the end\n" +
        remarks;
}

void check_safety(const settings& s) {
    if (s.processes < 2)
        throw usage_error("--processes must be at least 2");
    if (s.faults.empty())
        throw usage_error("--fault needs a name; --stops 0 plays none");
    if (s.stops >= s.processes)
        throw usage_error(
            "--stops must be smaller than --processes: another process has to write meanwhile");
    for (const auto& peer : s.peers) {
        if (peer != "curator")
            throw usage_error("of the peers only Curator takes part: --peers curator, or none");
    }
}

void defaults_of_safety(settings& s) {
    s.peers = {"curator"};
    s.systems = {"corozk", "etcd", "redis"};
    s.faults = {"pause", "partition", "clock"};
    s.repeat = 1;
    s.processes = 4;
    s.operations = 20;
    s.session_timeout = std::chrono::milliseconds(4'000);
}

}  // namespace

command safety_command() {
    return command{
        "safety",
        "what a lock protects when its holder is stopped or cut off: lost updates, by guard",
        "The lock workloads of Jepsen's test of etcd. K processes add elements to a set, each "
        "under a lock (--systems): they read all of it, and write it back with one more. A fault "
        "(--fault) happens to some processes (--stops) while they hold it. A pause: they are "
        "stopped (SIGSTOP) right before a write, after their last check of the lock, and continue "
        "when their session has expired and another process has written. A partition: they keep "
        "running for as long, but a proxy cuts them off from the servers, while the file remains "
        "reachable; they check the lock afterwards and write, or have checked it before. valid() "
        "of corozk's lock uses the local clock and is false before the servers end the session "
        "('told'): a process that checks after the partition loses nothing, unlike one that was "
        "between the check and the write. A jump of the clock, with corozk's lock only: "
        "libfaketime moves the wall clock by five hours, forward or back, for longer than the "
        "session, which must change nothing; in other rows it moves the monotonic clock forward as "
        "well, so that corozk abandons its session: too early, which is safe for a process that "
        "checks. The set is in a file, which represents any store that does not know the lock, or "
        "in the lock's own servers; writes are not guarded, preceded by valid(), checked by "
        "fencing token, or sent with a condition that the server checks: the ownership's commit(), "
        "a transaction of etcd that compares the revision at which the lock's key was created, a "
        "script of Redis that compares the lock's value, a transaction that checks the node of "
        "Curator's lock. At the end the set is compared with the acknowledged updates. No lock can "
        "prevent two processes from believing that they hold it ('overlaps'); with fencing tokens "
        "and such conditions no update may be lost, and the rows without them show why they are "
        "needed. The exit code is 1 if a guarded update was lost, if none was lost without a guard "
        "(the experiment has then shown nothing), or if processes without a fault could not write. "
        "--stops 0 is the control, without faults: no update is lost, and none overlap.",
        {"--systems", "--peers", "--processes", "--operations", "--stops", "--fault"},
        defaults_of_safety,
        run_safety,
        check_safety};
}

}  // namespace corozk::bench
