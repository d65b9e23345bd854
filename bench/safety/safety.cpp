// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"
#include "command.hpp"
#include "compare/peer_kind.hpp"
#include "contest_rows.hpp"
#include "judge/judged_process.hpp"
#include "safety/cut_line.hpp"
#include "safety/fault.hpp"
#include "safety/moved_clock.hpp"
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
#include <cmath>
#include <deque>
#include <limits>
#include <stdexcept>

namespace corozk::bench {

namespace {

/// Nothing is said for so long: something is wrong.
constexpr auto patience = std::chrono::seconds(120);

/// Whose lock it is.
struct lock_owner {
    lock_owner() = default;

    std::string system;
    std::string title;
    std::string hosts;
    std::vector<std::string> program;  ///< of the processes; empty: this one
};

/// Workers that add to a set under a lock, each reading all of it and writing it back. A fault
/// befalls some of them before they write, until their session is over and others have written.
class safety_run {
public:
    safety_run(job& j,
               const protection& p,
               const fault& f,
               const lock_owner& owner,
               boost::asio::any_io_executor executor)
        : job_(j),
          protection_(p),
          fault_(f),
          owner_(owner),
          timer_(executor),
          workers_(j.wanted.processes) {}

    boost::asio::awaitable<void> run(result& r) {
        site_options o;
        o.by = &protection_;
        o.hosts = owner_.hosts;
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
        std::unique_ptr<cut_line> line;  ///< if it is to be cut off
        std::unique_ptr<moved_clock> its_clock;
        std::unique_ptr<judged_process> process;
        bool ready = false;
        bool done = false;
        bool waits = false;  ///< for the end of its fault
        // By the clock of the updates:
        std::int64_t held_ns = 0;  ///< when it held the lock, and its fault began
        std::int64_t told_ns = 0;  ///< when the lock said that it is lost
    };

    bool all(bool worker::*what) const {
        return std::all_of(
            workers_.begin(), workers_.end(), [what](const worker& w) { return w.*what; });
    }

    void start() {
        for (std::size_t i = 0; i < workers_.size(); ++i) {
            worker& w = workers_[i];
            judged_process::start s;
            s.folder = folder_.path() / std::to_string(i + 1);
            if (i < job_.wanted.stops)
                prepare_fault(w, s);
            std::string hosts = w.line ? w.line->hosts() : owner_.hosts;
            s.command = owner_.program.empty() ? own_command(i, hosts) : peer_command(i, hosts);
            w.process = std::make_unique<judged_process>(
                timer_.get_executor(), s, [this] { timer_.cancel(); });
        }
    }

    void prepare_fault(worker& w, judged_process::start& s) {
        if (fault_.by == fault_means::cut_off)
            w.line = std::make_unique<cut_line>(owner_.hosts, uses_zookeeper());
        if (fault_.kind != "clock")
            return;
        bool monotonic = fault_.by == fault_means::all_clocks;
        auto file = s.folder;
        file += ".clock";
        w.its_clock = std::make_unique<moved_clock>(file, monotonic);
        s.environment = w.its_clock->environment();
    }

    bool uses_zookeeper() const {
        return protection_.system == "corozk" || protection_.system == "curator";
    }

    std::string timeout() const { return std::to_string(job_.wanted.session_timeout.count()); }

    std::vector<std::string> own_command(std::size_t i, const std::string& hosts) const {
        return {"/proc/self/exe",
                "worker",
                "safety",
                hosts,
                timeout(),
                lock_name_,
                protection_.name(),
                store_,
                std::to_string(i + 1),
                std::to_string(job_.wanted.operations),
                moment(i)};
    }

    const char* moment(std::size_t i) const {
        if (i >= job_.wanted.stops)
            return "never";
        return fault_.after_look ? "after_look" : "before_look";
    }

    /// As bench/peers/CuratorUpdater.java wants it.
    std::vector<std::string> peer_command(std::size_t i, const std::string& hosts) const {
        auto words = owner_.program;
        words.insert(words.end(),
                     {hosts,
                      timeout(),
                      lock_name_,
                      std::string(protection_.store),
                      store_,
                      std::string(protection_.guard),
                      std::to_string(i + 1),
                      std::to_string(job_.wanted.operations),
                      moment(i)});
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
        } else if (line == "holding") {
            begin_fault(w);
        } else if (line.starts_with("told ")) {
            w.told_ns = std::stoll(line.substr(line.find(' ')));
        } else if (line == "jumped wall") {
            ++wall_jumps_;
        } else if (line == "jumped monotonic") {
            ++monotonic_jumps_;
        } else {
            updates_.push_back(parse_update(line));
            if (w.line)
                w.line->cut(false);
        }
    }

    void begin_fault(worker& w) {
        if (fault_.by == fault_means::stop)
            w.process->stop();
        if (w.line)
            w.line->cut(true);
        // A monotonic clock does not go back; others do.
        bool back = fault_.by == fault_means::wall_clock && faults_ % 2 == 1;
        if (w.its_clock)
            w.its_clock->move(back ? "-5h" : "+5h");
        w.waits = true;
        w.held_ns = to_ns(clock::now());
        ++faults_;
    }

    /// Those for whom another one has written meanwhile go on: their sessions are over. Where
    /// nobody is left who could, the one that has been waiting for the longest time.
    void wake() {
        worker* first = nullptr;
        bool others = false;
        for (worker& w : workers_) {
            others = others || (!w.waits && !w.done);
            if (!w.waits)
                continue;
            if (overtaken(w) || outlasted(w)) {
                go_on(w);
                others = true;
            } else if (!first || w.held_ns < first->held_ns) {
                first = &w;
            }
        }
        if (first && !others && fault_.by != fault_means::wall_clock)
            go_on(*first);
    }

    /// Whether somebody has got the lock since, and has written.
    bool overtaken(const worker& w) const {
        return std::any_of(updates_.begin(), updates_.end(), [&w](const update& u) {
            return u.outcome == update_outcome::added && u.granted_ns > w.held_ns;
        });
    }

    /// Whether its session would be over, if what must change nothing did.
    bool outlasted(const worker& w) const {
        auto long_enough = std::chrono::nanoseconds(2 * job_.wanted.session_timeout).count();
        return fault_.by == fault_means::wall_clock &&
               to_ns(clock::now()) - w.held_ns > long_enough;
    }

    static std::int64_t to_ns(clock::time_point time) {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch())
            .count();
    }

    std::size_t count(update_outcome outcome) const {
        auto has_it = [outcome](const update& u) { return u.outcome == outcome; };
        return static_cast<std::size_t>(std::count_if(updates_.begin(), updates_.end(), has_it));
    }

    void go_on(worker& w) const {
        w.process->send("go on");
        if (fault_.by == fault_means::stop)
            w.process->cont();
        // A file is reached while the servers are not; where the lock is, only over the same line.
        if (w.line && protection_.store != "file")
            w.line->cut(false);
        w.waits = false;
    }

    /// The least time from a lock's word that it is lost to its grant to another one; less than 0
    /// where the word came later. Not added if it did not always come.
    void add_notice(result& r) const {
        constexpr auto never = std::numeric_limits<std::int64_t>::max();
        std::int64_t least_ns = never;
        for (std::size_t i = 0; i < job_.wanted.stops; ++i) {
            const worker& w = workers_[i];
            if (w.told_ns == 0)
                return;
            std::int64_t granted_ns = never;
            for (const update& u : updates_) {
                if (u.granted_ns > w.held_ns)
                    granted_ns = std::min(granted_ns, u.granted_ns);
            }
            if (granted_ns != never)
                least_ns = std::min(least_ns, granted_ns - w.told_ns);
        }
        if (least_ns != never)
            r.add("notice_ms", static_cast<double>(least_ns) / 1e6);
    }

    void add_figures(result& r, const std::set<std::string>& final_set) const {
        r.add("faults", static_cast<double>(faults_));
        if (fault_.kind == "clock") {
            r.add("wall_jumps", static_cast<double>(wall_jumps_));
            r.add("monotonic_jumps", static_cast<double>(monotonic_jumps_));
        }
        add_notice(r);
        r.add("overlaps", static_cast<double>(overlaps(updates_)));
        r.add("added", static_cast<double>(count(update_outcome::added)));
        r.add("refused", static_cast<double>(count(update_outcome::refused)));
        r.add("unknown", static_cast<double>(count(update_outcome::unknown)));
        r.add("lost", static_cast<double>(lost_updates(updates_, final_set).size()));
        r.add("ghosts", static_cast<double>(ghosts(updates_, final_set).size()));
    }

    job& job_;
    const protection& protection_;
    const fault& fault_;
    const lock_owner& owner_;
    boost::asio::steady_timer timer_;
    testing::temporary_directory folder_;
    std::string lock_name_;
    std::string store_;
    std::vector<worker> workers_;
    std::vector<update> updates_;
    std::size_t faults_ = 0;
    std::size_t wall_jumps_ = 0;
    std::size_t monotonic_jumps_ = 0;
};

boost::asio::awaitable<result> repeat_safety(job& j,
                                             const protection& p,
                                             const fault& f,
                                             const lock_owner& owner) {
    auto executor = co_await boost::asio::this_coro::executor;
    result row;
    row.set("recipe", "lock").set("implementation", p.system == "corozk" ? "ours" : p.system);
    row.set("fault", f.name).set("store", p.store).set("guard", p.guard).set("case", p.name());
    row.set("processes", j.wanted.processes).set("updates", j.wanted.operations);
    row.set("repeat", j.wanted.repeat);
    for (std::size_t i = 0; i < j.wanted.repeat; ++i) {
        safety_run run(j, p, f, owner, executor);
        co_await run.run(row);
    }
    co_return row;
}

std::string notice_text(const result& row) {
    if (!row.has("notice_ms"))
        return "-";
    double ms = row.least("notice_ms");
    return count_text(std::abs(ms)) + (ms < 0 ? " ms after" : " ms before");
}

/// What is wrong with a row of a clock's; nothing if it is good.
std::string judge_clock(const job& j, const fault& f, const result& row) {
    auto all = static_cast<double>(j.wanted.stops);
    bool monotonic = f.by == fault_means::all_clocks;
    if (row.least("wall_jumps") < all || row.least("monotonic_jumps") < (monotonic ? all : 0))
        return "the clock has not jumped: this has shown nothing";
    if (monotonic)
        return {};
    if (row.most("monotonic_jumps") > 0)
        return "the monotonic clock has jumped as well";
    double changed = row.most("overlaps") + row.most("refused") + row.most("unknown");
    return changed > 0 || row.has("notice_ms") ? "the wall clock's jump made a difference" : "";
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
               notice_text(row),
               count_text(row.most("overlaps")),
               count_text(row.most("added")),
               count_text(row.most("refused")),
               count_text(row.most("unknown")),
               count_text(row.most("lost"))});
        double wrong = row.most("lost") + row.most("ghosts");
        if (f.loses(p)) {
            can_lose = true;
            lost_without_guard += row.most("lost");
        } else if (wrong > 0) {
            remarks +=
                fmt::format("WRONG: {} updates lost, {} written although refused: {}, {}, {}\n",
                            count_text(row.most("lost")),
                            count_text(row.most("ghosts")),
                            owner.title,
                            f.name,
                            p.guard_title());
            j.exit_code = 1;
        }
        std::string problem = f.kind == "clock" ? judge_clock(j, f, row) : "";
        if (!problem.empty()) {
            remarks += fmt::format("WRONG: {}: {}, {}\n", problem, f.name, p.guard_title());
            j.exit_code = 1;
        }
        j.results.push_back(std::move(row));
    }
    if (can_lose && lost_without_guard == 0 && j.wanted.stops > 0) {
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
    for (const auto& owner : owners) {
        for (const auto& f : faults)
            remarks += co_await run_owner(j, owner, f, t);
    }
    j.output = heading(j) + "\n" + t.str();
    j.output +=
        "\npause: stopped between the last look at the lock and the write, until the session was "
        "over and another one had written\npartition: cut off from the servers for as long, but "
        "not from a file, and running on; it looks at the lock afterwards, or has looked "
        "before\nwall clock, monotonic clock: moved by five hours while the lock was held\ntold: "
        "when the lock said that it was lost, before or after it was granted to another one; the "
        "latest\noverlaps: updates that began while another process believed to hold the "
        "lock\nlost: updates that were acknowledged and are not in the set at the end\n" +
        remarks;
}

void check_safety(const settings& s) {
    if (s.processes < 2)
        throw usage_error(
            "safety: --processes must be at least 2\nSee corozk-bench safety --help.");
    if (s.faults.empty())
        throw usage_error(
            "safety: --fault needs a name; --stops 0 plays none\nSee corozk-bench safety --help.");
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
        "what a lock protects when its holder is stopped or cut off: updates that are lost, by "
        "guard",
        "The lock workloads of Jepsen's test of etcd. K processes add elements to a set, each "
        "under "
        "a lock (--systems): they read all of it, and write it back with one more. A fault "
        "(--fault) "
        "befalls some processes (--stops) while they hold it. "
        "A pause: they are stopped (SIGSTOP) right before a write, after their last look at the "
        "lock, and go on when their session has expired and another process has written. A "
        "partition: for as long they run on, but a proxy carries nothing between them and the "
        "servers, while a file can be reached; they look at the lock after that and write, or have "
        "looked before. valid() of corozk's lock goes by the local clock and is false before the "
        "servers end the session ('told'): who looks after the partition loses nothing, unlike "
        "who was between look and write. A jump of the clock, of corozk's lock only: libfaketime "
        "moves the wall clock by five hours, forward or back, for longer than the session, which "
        "must change nothing; and in other rows forward, with the monotonic clock, by which corozk "
        "gives its session up: too early, which is safe for who looks. The set "
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
        "show nothing. --stops 0 is the control, without faults: nobody loses anything, and "
        "nothing overlaps.",
        {"--systems", "--peers", "--processes", "--operations", "--stops", "--fault"},
        defaults_of_safety,
        run_safety,
        check_safety};
}

}  // namespace corozk::bench
