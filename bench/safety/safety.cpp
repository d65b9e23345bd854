// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"
#include "command.hpp"
#include "contest_rows.hpp"
#include "judge/judged_process.hpp"
#include "safety/store.hpp"
#include "safety/updates.hpp"
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
    safety_run(job& j, const protection& p, boost::asio::any_io_executor executor)
        : job_(j), protection_(p), timer_(executor), workers_(j.wanted.processes) {}

    boost::asio::awaitable<void> run(result& r) {
        auto clients = co_await job_.on.connect(1);
        client& c = clients.front();
        lock_path_ = job_.on.fresh_path("safety");
        node_ = job_.on.fresh_path("set");
        co_await c.ensure_path(node_);
        start();
        co_await until([this] { return all(&worker::ready); });
        for (auto& w : workers_)
            w.process->send("go");
        co_await until([this] { return all(&worker::done); });
        bool file = protection_.store == "file";
        std::string text;
        if (file) {
            text = text_of_file(store());
        } else {
            auto node = co_await c.get(node_);
            text = node.data;
        }
        add_figures(r, parse_elements(text));
        co_await stage::close(clients);
    }

private:
    struct worker {
        std::unique_ptr<judged_process> process;
        bool ready = false;
        bool done = false;
        bool stopped = false;
        std::size_t stopped_at = 0;  ///< after so many updates of all, which were acknowledged
    };

    bool all(bool worker::*what) const {
        return std::all_of(
            workers_.begin(), workers_.end(), [what](const worker& w) { return w.*what; });
    }

    std::string store() const {
        return protection_.store == "file" ? std::string(folder_.path() / "set") : node_;
    }

    void start() {
        for (std::size_t i = 0; i < workers_.size(); ++i) {
            judged_process::start s;
            s.command = {"/proc/self/exe",
                         "worker",
                         "safety",
                         job_.on.hosts(),
                         std::to_string(job_.wanted.session_timeout.count()),
                         lock_path_,
                         protection_.name(),
                         store(),
                         std::to_string(i + 1),
                         std::to_string(job_.wanted.operations),
                         i < job_.wanted.stops ? "1" : "0"};
            s.folder = folder_.path() / std::to_string(i + 1);
            workers_[i].process = std::make_unique<judged_process>(
                timer_.get_executor(), s, [this] { timer_.cancel(); });
        }
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
            w.stopped_at = added();
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
            if (added() > w.stopped_at) {
                go_on(w);
                others = true;
            } else if (!first || w.stopped_at < first->stopped_at) {
                first = &w;
            }
        }
        if (first && !others)
            go_on(*first);
    }

    std::size_t added() const { return count(update_outcome::added); }

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
    boost::asio::steady_timer timer_;
    testing::temporary_directory folder_;
    std::string lock_path_;
    std::string node_;
    std::vector<worker> workers_;
    std::vector<update> updates_;
    std::size_t pauses_ = 0;
};

std::string_view title_of_store(const protection& p) {
    return p.store == "file" ? "elsewhere (a file)" : "a znode";
}

std::string_view title_of_guard(const protection& p) {
    if (p.guard == "valid")
        return "valid() before each write";
    if (p.guard == "token")
        return "fencing token, checked by the store";
    if (p.guard == "commit")
        return "commit() of the ownership";
    return "none";
}

boost::asio::awaitable<void> run_safety(job& j) {
    auto executor = co_await boost::asio::this_coro::executor;
    table t({"data in", "guard", "pauses", "overlaps", "added", "refused", "unknown", "lost"});
    std::string remarks;
    double lost_without_guard = 0;
    for (const protection& p : protections) {
        result row;
        row.set("recipe", "lock").set("implementation", "ours");
        row.set("store", p.store).set("guard", p.guard).set("case", p.name());
        row.set("processes", j.wanted.processes).set("updates", j.wanted.operations);
        row.set("repeat", j.wanted.repeat);
        for (std::size_t i = 0; i < j.wanted.repeat; ++i) {
            safety_run run(j, p, executor);
            co_await run.run(row);
        }
        t.add({std::string(title_of_store(p)),
               std::string(title_of_guard(p)),
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
            remarks += fmt::format("WRONG: {} updates lost, {} written although refused, {}\n",
                                   count_text(row.most("lost")),
                                   count_text(row.most("ghosts")),
                                   title_of_guard(p));
            j.exit_code = 1;
        }
        j.results.push_back(std::move(row));
    }
    if (lost_without_guard == 0 && j.wanted.stops > 0) {
        remarks += "nothing was lost without a guard either: this has shown nothing\n";
        j.exit_code = 1;
    }
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
}

void defaults_of_safety(settings& s) {
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
        "corozk's lock: they read all of it, and write it back with one more. Some processes "
        "(--stops) are stopped (SIGSTOP) right before a write, after their last look at the "
        "lock, and go on when their session has expired and another process has written. The set "
        "is in a file, which stands for any store that knows nothing of ZooKeeper, or in a znode; "
        "writes are not guarded, preceded by valid(), checked by fencing token, or sent with the "
        "ownership's commit(). At the end the set is compared with what was acknowledged. No lock "
        "can keep two processes from believing to hold it ('overlaps'); fencing tokens and "
        "commit() must lose nothing, and the rows without them show what they are for. The exit "
        "code is 1 if a guarded update was lost, or if none was lost without a guard, which would "
        "show nothing. --stops 0 is the control: nobody loses anything, and nothing overlaps.",
        {"--processes", "--operations", "--stops"},
        defaults_of_safety,
        run_safety,
        check_safety};
}

}  // namespace corozk::bench
