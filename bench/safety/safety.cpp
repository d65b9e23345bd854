// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"
#include "command.hpp"
#include "compare/peer_kind.hpp"
#include "contest_rows.hpp"
#include "judge/judged_process.hpp"
#include "safety/site.hpp"
#include "safety/updates.hpp"
#include "systems/system_servers.hpp"
#include "table.hpp"
#include <corozk/testing/temporary_directory.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <stdexcept>

namespace corozk::bench {

namespace {

/// Nothing is said for so long: something is wrong.
constexpr auto patience = std::chrono::seconds(120);

/// Workers that add to a set under a lock, each reading all of it and writing it back. Some are
/// stopped right before they write, until their session is over and others have written.
class safety_run {
public:
    /// @param program a peer's, if it is not this one
    safety_run(job& j,
               const protection& p,
               std::string hosts,
               std::vector<std::string> program,
               boost::asio::any_io_executor executor)
        : job_(j),
          protection_(p),
          hosts_(std::move(hosts)),
          program_(std::move(program)),
          timer_(executor),
          workers_(j.wanted.processes) {}

    boost::asio::awaitable<void> run(result& r) {
        site_options o;
        o.by = &protection_;
        o.hosts = hosts_;
        o.session_timeout = job_.wanted.session_timeout;
        o.lock_name = lock_name_ = job_.on.fresh_path("safety");
        o.store = store_ = job_.on.fresh_path("set");
        if (protection_.store == "file")
            o.store = store_ = folder_.path() / "set";
        auto mine = make_site(timer_.get_executor(), o);
        co_await mine->connect();
        co_await mine->make();
        co_await mine->close();
        start();
        co_await until([this] { return all(&worker::ready); });
        for (auto& w : workers_)
            w.process->send("go");
        co_await until([this] { return all(&worker::done); });
        // The session of the first one could be over, on a machine that is busy.
        auto last = make_site(timer_.get_executor(), o);
        co_await last->connect();
        add_figures(r, parse_elements(co_await last->look()));
        co_await last->close();
    }

private:
    struct worker {
        std::unique_ptr<judged_process> process;
        bool ready = false;
        bool done = false;
        bool stopped = false;
        std::int64_t stopped_ns = 0;  ///< when it held the lock, by the clock of the updates
    };

    bool all(bool worker::*what) const {
        return std::all_of(
            workers_.begin(), workers_.end(), [what](const worker& w) { return w.*what; });
    }

    void start() {
        for (std::size_t i = 0; i < workers_.size(); ++i) {
            judged_process::start s;
            s.command = program_.empty() ? own_command(i) : peer_command(i);
            s.folder = folder_.path() / std::to_string(i + 1);
            workers_[i].process = std::make_unique<judged_process>(
                timer_.get_executor(), s, [this] { timer_.cancel(); });
        }
    }

    std::string timeout() const { return std::to_string(job_.wanted.session_timeout.count()); }

    std::vector<std::string> own_command(std::size_t i) const {
        return {"/proc/self/exe",
                "worker",
                "safety",
                hosts_,
                timeout(),
                lock_name_,
                protection_.name(),
                store_,
                std::to_string(i + 1),
                std::to_string(job_.wanted.operations),
                stops(i)};
    }

    const char* stops(std::size_t i) const { return i < job_.wanted.stops ? "1" : "0"; }

    /// As bench/peers/CuratorUpdater.java wants it.
    std::vector<std::string> peer_command(std::size_t i) const {
        auto words = program_;
        words.insert(words.end(),
                     {hosts_,
                      timeout(),
                      lock_name_,
                      std::string(protection_.store),
                      store_,
                      std::string(protection_.guard),
                      std::to_string(i + 1),
                      std::to_string(job_.wanted.operations),
                      stops(i)});
        return words;
    }

    template <class Condition>
    boost::asio::awaitable<void> until(Condition holds) {
        auto moved = clock::now();
        std::size_t seen = updates_.size();
        for (listen(); !holds(); listen()) {
            wake();
            if (updates_.size() != seen)
                moved = clock::now();
            seen = updates_.size();
            if (clock::now() - moved > patience)
                throw std::runtime_error("nothing moves any more");
            job_.on.shown().update(
                "updating under a lock", updates_.size(), workers_.size() * job_.wanted.operations);
            timer_.expires_after(std::chrono::milliseconds(20));
            co_await timer_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
        }
    }

    void listen() {
        for (worker& w : workers_) {
            auto how = w.process->end();
            auto& lines = w.process->lines();
            while (!lines.empty()) {
                hear(w, lines.front());
                lines.pop_front();
            }
            if (how && !w.done)
                throw std::runtime_error("a worker " + *how);
        }
    }

    void hear(worker& w, const std::string& line) {
        if (line == "ready") {
            w.ready = true;
        } else if (line == "done") {
            w.done = true;
        } else if (line == "stopping") {
            w.process->stop();
            w.stopped = true;
            w.stopped_ns = to_ns(clock::now());
            ++pauses_;
        } else {
            updates_.push_back(parse_update(line));
        }
    }

    /// Those for whom another one has written meanwhile go on: their sessions are over. Where
    /// nobody is left who could, the one that has been stopped for the longest time.
    void wake() {
        worker* first = nullptr;
        bool others = false;
        for (worker& w : workers_) {
            others = others || (!w.stopped && !w.done);
            if (!w.stopped)
                continue;
            if (overtaken(w)) {
                go_on(w);
                others = true;
            } else if (!first || w.stopped_ns < first->stopped_ns) {
                first = &w;
            }
        }
        if (first && !others)
            go_on(*first);
    }

    /// Whether somebody has got the lock since, and has written.
    bool overtaken(const worker& w) const {
        return std::any_of(updates_.begin(), updates_.end(), [&w](const update& u) {
            return u.outcome == update_outcome::added && u.granted_ns > w.stopped_ns;
        });
    }

    static std::int64_t to_ns(clock::time_point time) {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch())
            .count();
    }

    std::size_t count(update_outcome outcome) const {
        auto has_it = [outcome](const update& u) { return u.outcome == outcome; };
        return static_cast<std::size_t>(std::count_if(updates_.begin(), updates_.end(), has_it));
    }

    static void go_on(worker& w) {
        w.process->send("go on");
        w.process->cont();
        w.stopped = false;
    }

    void add_figures(result& r, const std::set<std::string>& final_set) const {
        r.add("pauses", static_cast<double>(pauses_));
        r.add("overlaps", static_cast<double>(overlaps(updates_)));
        r.add("added", static_cast<double>(count(update_outcome::added)));
        r.add("refused", static_cast<double>(count(update_outcome::refused)));
        r.add("unknown", static_cast<double>(count(update_outcome::unknown)));
        r.add("lost", static_cast<double>(lost_updates(updates_, final_set).size()));
        r.add("ghosts", static_cast<double>(ghosts(updates_, final_set).size()));
    }

    job& job_;
    const protection& protection_;
    std::string hosts_;
    std::vector<std::string> program_;
    boost::asio::steady_timer timer_;
    testing::temporary_directory folder_;
    std::string lock_name_;
    std::string store_;
    std::vector<worker> workers_;
    std::vector<update> updates_;
    std::size_t pauses_ = 0;
};

/// Whose lock it is.
struct lock_owner {
    lock_owner() = default;

    std::string system;
    std::string title;
    std::string hosts;
    std::vector<std::string> program;  ///< of the processes; empty: this one
};

boost::asio::awaitable<result> repeat_safety(job& j, const protection& p, const lock_owner& owner) {
    auto executor = co_await boost::asio::this_coro::executor;
    result row;
    row.set("recipe", "lock").set("implementation", p.system == "corozk" ? "ours" : p.system);
    row.set("store", p.store).set("guard", p.guard).set("case", p.name());
    row.set("processes", j.wanted.processes).set("updates", j.wanted.operations);
    row.set("repeat", j.wanted.repeat);
    for (std::size_t i = 0; i < j.wanted.repeat; ++i) {
        safety_run run(j, p, owner.hosts, owner.program, executor);
        co_await run.run(row);
    }
    co_return row;
}

/// All protections of one. @return what is to be said of it
boost::asio::awaitable<std::string> run_owner(job& j, const lock_owner& owner, table& t) {
    std::string remarks;
    double lost_without_guard = 0;
    for (const protection& p : protections) {
        if (p.system != owner.system)
            continue;
        auto row = co_await repeat_safety(j, p, owner);
        t.add({owner.title,
               p.store_title(),
               p.guard_title(),
               count_text(row.most("pauses")),
               count_text(row.most("overlaps")),
               count_text(row.most("added")),
               count_text(row.most("refused")),
               count_text(row.most("unknown")),
               count_text(row.most("lost"))});
        double wrong = row.most("lost") + row.most("ghosts");
        if (!p.safe) {
            lost_without_guard += row.most("lost");
        } else if (wrong > 0) {
            remarks += fmt::format("WRONG: {} updates lost, {} written although refused: {}, {}\n",
                                   count_text(row.most("lost")),
                                   count_text(row.most("ghosts")),
                                   owner.title,
                                   p.guard_title());
            j.exit_code = 1;
        }
        j.results.push_back(std::move(row));
    }
    if (lost_without_guard == 0 && j.wanted.stops > 0) {
        remarks += fmt::format(
            "{}: nothing was lost without a guard either: this has shown nothing\n", owner.title);
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

boost::asio::awaitable<void> run_safety(job& j) {
    system_servers servers(j);
    table t(
        {"lock", "data in", "guard", "pauses", "overlaps", "added", "refused", "unknown", "lost"});
    std::string remarks = servers.remarks();
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
    for (const auto& owner : owners)
        remarks += co_await run_owner(j, owner, t);
    j.output = heading(j) + "\n" + t.str();
    j.output +=
        "\npauses: processes stopped between their last look at the lock and the write, until "
        "their session was over and another one had written\noverlaps: updates that began while "
        "another process believed to hold the lock\nlost: updates that were acknowledged and are "
        "not in the set at the end\n" +
        remarks;
}

void check_safety(const settings& s) {
    if (s.processes < 2)
        throw usage_error(
            "safety: --processes must be at least 2\nSee corozk-bench safety --help.");
    if (s.stops >= s.processes)
        throw usage_error(
            "safety: --stops must be smaller than --processes: somebody has to write meanwhile\n"
            "See corozk-bench safety --help.");
    for (const auto& peer : s.peers) {
        if (peer != "curator")
            throw usage_error(
                "safety: of the peers only Curator takes part: --peers curator, or none\n"
                "See corozk-bench safety --help.");
    }
}

void defaults_of_safety(settings& s) {
    s.peers = {"curator"};
    s.systems = {"corozk", "etcd", "redis"};
    s.repeat = 1;
    s.processes = 4;
    s.operations = 20;
    s.session_timeout = std::chrono::milliseconds(4'000);
}

}  // namespace

command safety_command() {
    return command{
        "safety",
        "what a lock protects when its holder is stopped: updates that are lost, by guard",
        "The lock workloads of Jepsen's test of etcd. K processes add elements to a set, each "
        "under "
        "a lock (--systems): they read all of it, and write it back with one more. Some processes "
        "(--stops) are stopped (SIGSTOP) right before a write, after their last look at the "
        "lock, and go on when their session has expired and another process has written. The set "
        "is in a file, which stands for any store that knows nothing of the lock, or where the "
        "lock "
        "is; writes are not guarded, preceded by valid(), checked by fencing token, or sent with "
        "what the server checks: the ownership's commit(), a transaction of etcd's that compares "
        "the revision at which the lock's key was made, a script of Redis's that compares the "
        "lock's value, a transaction that checks the node of Curator's lock. At the end the set is "
        "compared with what was acknowledged. No lock "
        "can keep two processes from believing to hold it ('overlaps'); fencing tokens and "
        "such "
        "checks must lose nothing, and the rows without them show what they are for. The exit "
        "code is 1 if a guarded update was lost, or if none was lost without a guard, which would "
        "show nothing. --stops 0 is the control: nobody loses anything, and nothing overlaps.",
        {"--systems", "--peers", "--processes", "--operations", "--stops"},
        defaults_of_safety,
        run_safety,
        check_safety};
}

}  // namespace corozk::bench
