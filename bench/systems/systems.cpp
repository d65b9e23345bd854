// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"
#include "command.hpp"
#include "contest_rows.hpp"
#include "help.hpp"
#include "systems/fsync_time.hpp"
#include "systems/measure.hpp"
#include "systems/system_servers.hpp"
#include "table.hpp"

#include <boost/asio/awaitable.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;

/// Of clients that are not to be lost: nothing may expire while it is measured.
constexpr auto long_timeout = std::chrono::milliseconds(40'000);

/// A system's recipe, and all its rows.
class system_entry {
public:
    system_entry(job& j,
                 system_servers& servers,
                 const system_servers::running& s,
                 std::string recipe)
        : job_(j),
          servers_(servers),
          system_(s),
          recipe_(std::move(recipe)),
          cycles_(row("uncontended")) {
        for (std::size_t n : j.wanted.waiters)
            handovers_.push_back(row("handover").set("waiters", n));
        losses_ = row("loss");
        outages_ = row("outage");
    }

    asio::awaitable<void> run() {
        if (!failure_.empty())
            co_return;
        try {
            begin("uncontended", cycles_);
            co_await measure_cycles(job_, wish(long_timeout), job_.wanted.operations, cycles_);
            for (result& r : handovers_) {
                auto waiters = static_cast<std::size_t>(r.number("waiters"));
                begin(count_text(waiters) + " waiters", r);
                co_await measure_handovers(
                    job_, wish(long_timeout), waiters, job_.wanted.operations / 3, r);
            }
            begin("killed holder", losses_);
            auto timeout = job_.wanted.session_timeout;
            co_await measure_losses(job_, wish(timeout), job_.wanted.kills, losses_);
            begin("lost server", outages_);
            co_await lose_servers();
        } catch (const std::exception& problem) {
            failure_ = fmt::format("{}: {}", doing_, problem.what());
            measured_->set("failure", failure_);
            if (system_.kind->name == "corozk")
                job_.exit_code = 1;  // what fails of the others is in their rows
        }
    }

    std::vector<std::string> line() const {
        std::vector<std::string> cells{
            title(), cell(cycles_, "write_us"), cell(cycles_, "cycle_us")};
        for (const result& r : handovers_)
            cells.push_back(cell(r, "handover_us"));
        cells.push_back(spread(losses_, "loss_s"));
        if (has_outages(job_))
            cells.push_back(spread(outages_, "outage_s"));
        return cells;
    }

    std::string remark() const {
        return failure_.empty() ? "" : fmt::format("{} fails: {}\n", title(), failure_);
    }

    /// What was measured; also of a command that was interrupted, or failed.
    void move_rows(std::vector<result>& all) {
        handovers_.insert(handovers_.begin(), std::move(cycles_));
        handovers_.push_back(std::move(losses_));
        if (has_outages(job_))
            handovers_.push_back(std::move(outages_));
        if (!system_.kind->elects && has_outages(job_))
            handovers_.back().set("not_run", "none of its servers leads");
        for (result& r : handovers_) {
            const bool run = r.has_figures() || !r.text("not_run").empty();
            // What comes after a failure is not measured any more, but was perhaps before.
            if (!run && !failure_.empty())
                r.set("failure", failure_);
            if (run || !failure_.empty())
                all.push_back(std::move(r));
        }
    }

    /// A server that is lost is missed where there are others.
    static bool has_outages(const job& j) {
        return j.wanted.kills > 0 && j.wanted.servers > 1 && j.wanted.hosts.empty();
    }

private:
    void begin(std::string what, result& row) {
        doing_ = std::move(what);
        measured_ = &row;
    }

    asio::awaitable<void> lose_servers() {
        // Of Redlock's servers none leads.
        bool led = has_outages(job_) && system_.kind->elects;
        for (std::size_t i = 0; led && i < job_.wanted.kills; ++i) {
            job_.on.shown().update(
                std::string(system_.kind->name) + ": killing servers", i, job_.wanted.kills);
            std::size_t leader = co_await servers_.leader(system_);
            co_await lose_server(leader);
        }
    }

    /// Whatever comes of it, the others are measured with all servers.
    asio::awaitable<void> lose_server(std::size_t leader) {
        bool killed = false;
        auto kill = [&] {
            killed = true;
            servers_.kill(system_, leader);
        };
        std::exception_ptr problem;
        try {
            double seconds = co_await measure_outage(wish(long_timeout), kill);
            outages_.add("outage_s", seconds);
        } catch (...) {
            problem = std::current_exception();
        }
        if (killed)
            servers_.restart(system_, leader);
        if (problem)
            std::rethrow_exception(problem);
    }

    static std::string spread(const result& r, std::string_view key) {
        if (!r.has(key))
            return "";
        return with_spread(r, key, seconds_text);
    }

    std::string title() const {
        return system_.title + (recipe_ == "election" ? ", election" : "");
    }

    result row(std::string_view phase) const {
        result r;
        std::string_view name = system_.kind->name;
        r.set("implementation", name == "corozk" ? "ours" : name).set("title", system_.title);
        r.set("recipe", recipe_).set("phase", phase);
        r.set("servers", static_cast<std::size_t>(job_.wanted.servers));
        r.set("repeat", job_.wanted.repeat);
        return r;
    }

    lock_wish wish(std::chrono::milliseconds timeout) const {
        lock_wish w;
        w.system = system_.kind->name;
        w.hosts = system_.hosts;
        w.recipe = recipe_;
        w.name = job_.on.fresh_path("systems");
        w.timeout = timeout;
        return w;
    }

    static std::string cell(const result& r, const std::string& key) {
        if (!r.has(key + ".p50"))
            return "";
        return fmt::format("{} / {}",
                           microseconds_text(r.median(key + ".p50")),
                           microseconds_text(r.median(key + ".p99")));
    }

    job& job_;
    system_servers& servers_;
    const system_servers::running& system_;
    std::string recipe_;
    result cycles_;
    std::vector<result> handovers_;
    result losses_;
    result outages_;
    std::string doing_;
    result* measured_ = nullptr;
    std::string failure_;
};

/// Those that are measured in turn. Their rows are the job's when this is destroyed.
class system_entries {
public:
    system_entries(job& j, system_servers& servers) : job_(j) {
        for (const auto& s : servers.all()) {
            for (const auto& recipe : j.wanted.recipes) {
                if (recipe == "lock" || s.kind->elects)
                    entries_.emplace_back(j, servers, s, recipe);
            }
        }
    }
    ~system_entries() {
        for (system_entry& e : entries_)
            e.move_rows(job_.results);
    }
    system_entries(const system_entries&) = delete;
    system_entries& operator=(const system_entries&) = delete;

    std::vector<system_entry>& all() noexcept { return entries_; }

private:
    job& job_;
    std::vector<system_entry> entries_;
};

/// What figures do not say.
std::string promises(const system_servers& servers) {
    std::string text;
    for (const auto& s : servers.all()) {
        const system_kind& k = *s.kind;
        text +=
            wrapped(fmt::format("{}: order: {}. Fencing token: {}. Held after the loss of a "
                                "server: {}. A holder's death is noticed by {}.",
                                k.title,
                                k.order,
                                k.token,
                                k.failover,
                                k.session));
    }
    return text;
}

std::string data_line(const settings& s) {
    if (!s.on_disk)
        return fmt::format("data of all{} in memory (/dev/shm); Redis with appendfsync no\n",
                           s.hosts.empty() ? "" : " but ZooKeeper");
    auto times = fsync_times();
    return fmt::format(
        "data of all on disk, and each change waits for it; fdatasync here: {} / {}\n",
        microseconds_text(times.p50()),
        microseconds_text(times.p99()));
}

asio::awaitable<void> run_systems(job& j) {
    std::string data = data_line(j.wanted);
    system_servers servers(j);
    system_entries entries(j, servers);
    for (std::size_t i = 0; i < j.wanted.repeat; ++i) {
        for (system_entry& e : entries.all())
            co_await e.run();
    }
    std::vector<std::string> head{"p50 / p99", "a write", "acquire + release"};
    for (std::size_t n : j.wanted.waiters)
        head.push_back(fmt::format("hand-over, {}", count_text(n)));
    head.push_back("holder killed");
    if (system_entry::has_outages(j))
        head.push_back("leader killed");
    table t(head);
    std::string remarks = servers.remarks();
    for (const system_entry& e : entries.all()) {
        t.add(e.line());
        remarks += e.remark();
    }
    j.output = heading(j) + data + "\n" + t.str();
    if (!remarks.empty())
        j.output += "\n" + remarks;
    j.output += "\n" + promises(servers);
    j.output += fmt::format(
        "\nEach waiter is a client with connections of its own. etcd is used through its JSON "
        "gateway, as are its writes.\nholder killed: from the end of the holder's process to the "
        "next grant, with sessions, leases and keys of {} s\n",
        to_seconds(j.wanted.session_timeout));
    if (system_entry::has_outages(j))
        j.output +=
            "leader killed: the longest time without a grant when the leading server is "
            "killed; of Redlock's none leads\n";
}

void check_systems(const settings& s) {
    for (const auto& recipe : s.recipes) {
        if (recipe != "lock" && recipe != "election")
            throw usage_error("--recipe is lock or election");
    }
}

void defaults_of_systems(settings& s) {
    for (const system_kind& k : all_systems())
        s.systems.emplace_back(k.name);
    s.waiters = {1, 10, 100};
    s.recipes = {"lock", "election"};
    s.operations = 300;
    s.repeat = 1;
    s.kills = 3;
    s.session_timeout = std::chrono::milliseconds(6'000);
}

}  // namespace

command systems_command() {
    return command{
        "systems",
        "locks and elections of etcd, and Redis's locks, compared with corozk's",
        "All systems' servers run on this machine, with the same number of servers each "
        "(--servers) and their data in memory or each write on disk (--data), and are measured in "
        "turn: a plain write, acquire + release without contention, the time from a release to the "
        "next grant with N waiters, how long the lock is free after the holder's process was "
        "killed, and, with three servers, how long nothing is granted after the leader was killed. "
        "Every waiter is a client with connections and a session of its own. corozk's locks are on "
        "ZooKeeper; etcd's are those of its own lock and election service, through its gateway "
        "(JSON over HTTP); Redis's are the usual ones: SET NX PX, released by a script that "
        "compares, and waiters that subscribe to releases. With three servers these are a "
        "ZooKeeper ensemble, an etcd cluster, and three Redis servers with Redlock. Every grant is "
        "checked: two holders at a time are a failure. etcd and Redis are Debian's packages "
        "etcd-server and redis-server; one that is not installed is omitted. Consul is not in "
        "Debian 12.",
        {"--systems", "--waiters", "--recipe", "--operations", "--kill"},
        defaults_of_systems,
        run_systems,
        check_systems};
}

}  // namespace corozk::bench
