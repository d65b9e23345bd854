// SPDX-License-Identifier: Apache-2.0
#include "safety/safety_run.hpp"

#include "judge/judged_process.hpp"
#include "safety/cut_line.hpp"
#include "safety/moved_clock.hpp"
#include "safety/site.hpp"
#include "safety/updates.hpp"
#include <corozk/testing/temporary_directory.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <stdexcept>

namespace corozk::bench {

namespace {

/// See `patience`.
constexpr auto least_patience = std::chrono::milliseconds(120'000);

/// See run_safety_once.
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
        worker() = default;
        ~worker() {
            if (!process || !its_clock)
                return;
            bool killed = !process->has_exited();
            pid_t pid = process->pid();
            process.reset();
            if (killed)
                moved_clock::remove_traces(pid);
        }
        worker(const worker&) = delete;
        worker& operator=(const worker&) = delete;

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

    /// Nothing is said for so long: something is wrong. Those who are stopped may hold it one after the
    /// other, each until its session is over.
    std::chrono::milliseconds patience() const {
        return least_patience +
               2 * static_cast<int>(job_.wanted.stops) * job_.wanted.session_timeout;
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
            if (clock::now() - moved > patience())
                throw std::runtime_error("no further progress");
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

    /// Whether its session would be over if the wall clock counted; or the monotonic one has not
    /// moved, as its session would not last as long.
    bool outlasted(const worker& w) const {
        int times = fault_.by == fault_means::wall_clock ? 2 : 5;
        auto long_enough = std::chrono::nanoseconds(times * job_.wanted.session_timeout).count();
        return fault_.kind == "clock" && to_ns(clock::now()) - w.held_ns > long_enough;
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
            r.add("notice_ms", static_cast<double>(least_ns) / 1e6, of_repetitions::least);
    }

    void add_figures(result& r, const std::set<std::string>& final_set) const {
        auto most = [&r](std::string_view key, std::size_t number) {
            r.add(key, static_cast<double>(number), of_repetitions::most);
        };
        most("faults", faults_);
        if (fault_.kind == "clock") {
            most("wall_jumps", wall_jumps_);
            most("monotonic_jumps", monotonic_jumps_);
        }
        add_notice(r);
        most("overlaps", overlaps(updates_));
        r.add("added", static_cast<double>(count(update_outcome::added)), of_repetitions::least);
        most("refused", count(update_outcome::refused));
        most("unknown", count(update_outcome::unknown));
        most("lost", lost_updates(updates_, final_set).size());
        most("ghosts", ghosts(updates_, final_set).size());
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

}  // namespace

boost::asio::awaitable<void> run_safety_once(
    job& j, const protection& p, const fault& f, const lock_owner& owner, result& row) {
    safety_run run(j, p, f, owner, co_await boost::asio::this_coro::executor);
    co_await run.run(row);
}

}  // namespace corozk::bench
