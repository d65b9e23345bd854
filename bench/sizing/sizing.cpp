// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"
#include "command.hpp"
#include "contest_rows.hpp"
#include "host_list.hpp"
#include "sizing/measure.hpp"
#include "sizing/model.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <vector>

namespace corozk::bench {

namespace {

constexpr std::array sized_forms{lock_form::corozk, lock_form::textbook, lock_form::herd};
constexpr std::array sized_names{"ours", "textbook", "herd"};

/// More is not to be planned for: a server that is behind once has to catch up.
constexpr double planned_load = 0.7;

double count_servers(const job& j) {
    if (j.on.owns_servers())
        return static_cast<double>(j.on.servers());
    return static_cast<double>(parse_hosts(j.on.hosts()).size());
}

std::string costs_table(const server_costs& c) {
    table t({"a server's time for", ""});
    t.add({"a create, set or delete", microseconds_text(c.write_us)});
    t.add({"a transaction of four", microseconds_text(c.transaction_us)});
    t.add({"a read", microseconds_text(c.read_us)});
    t.add({"a notification", microseconds_text(c.event_us)});
    t.add({"a listing of 1,000 names", microseconds_text(1'000 * c.name_us)});
    t.add({"a read on idle servers", microseconds_text(c.read_latency_us)});
    t.add({"delete -> event on idle servers", microseconds_text(c.handover_latency_us)});
    if (c.follower_cpu_us > 0) {
        t.add({"CPU time of a write, leader", figure_text(c.leader_cpu_us) + " us"});
        t.add({"CPU time of a write, each follower", figure_text(c.follower_cpu_us) + " us"});
    } else if (c.leader_cpu_us > 0) {
        t.add({"CPU time of a write", figure_text(c.leader_cpu_us) + " us"});
    }
    return t.str();
}

void add_costs(result& row, const server_costs& c) {
    row.add("write_us", c.write_us).add("transaction_us", c.transaction_us);
    row.add("read_us", c.read_us).add("event_us", c.event_us).add("name_us", c.name_us);
    row.add("read_latency_us", c.read_latency_us);
    row.add("handover_latency_us", c.handover_latency_us);
    if (c.leader_cpu_us > 0)
        row.add("leader_cpu_us", c.leader_cpu_us);
    if (c.follower_cpu_us > 0)
        row.add("follower_cpu_us", c.follower_cpu_us);
}

std::string handover_text(const lock_prediction& p) {
    return std::isinf(p.handover_us) ? "never" : microseconds_text(p.handover_us);
}

std::string limit_text(std::optional<double> waiters) {
    std::string share = fmt::format("{:.0f} %", 100 * planned_load);
    if (waiters && *waiters == 0)
        return fmt::format("other clients alone load a server to {} or more", share);
    if (waiters && *waiters == 1)
        return fmt::format("1 waiter of each lock already loads a server to {} or more", share);
    return fmt::format("{} waiters of each lock load a server to {}",
                       waiters ? count_text(*waiters) : "no number of",
                       share);
}

/// What is predicted for ensembles of one size.
class predictions {
public:
    predictions(job& j, const server_costs& costs, std::size_t servers)
        : job_(j), costs_(costs), servers_(servers) {}

    std::string str() {
        for (std::size_t i = 0; i < sized_forms.size(); ++i)
            add(sized_forms[i], sized_names[i]);
        lock_demand d = demand(1);
        return fmt::format("\n{}, held for {} ms each, {}, {:.0f} % of each used by others:\n\n",
                           counted(static_cast<std::size_t>(d.locks), "lock"),
                           job_.wanted.hold.count(),
                           counted(static_cast<std::size_t>(d.servers), "server"),
                           100 * d.other_load) +
               table_.str() + "\n" + limits_;
    }

private:
    lock_demand demand(std::size_t waiters) const {
        lock_demand d;
        d.waiters = static_cast<double>(waiters);
        d.locks = static_cast<double>(job_.wanted.locks);
        d.hold_us = std::chrono::duration<double, std::micro>(job_.wanted.hold).count();
        d.servers = static_cast<double>(servers_);
        d.other_load = static_cast<double>(job_.wanted.loads.front()) / 100;
        return d;
    }

    void add(lock_form form, const char* name) {
        for (std::size_t waiters : job_.wanted.waiters) {
            lock_demand d = demand(waiters);
            lock_prediction p = predict(costs_, form, d);
            double busy = busy_us(costs_, work_of(form, d.waiters, d.hold_us), d.servers);
            table_.add({count_text(waiters),
                        std::string(name_of(form)),
                        figure_text(p.turns_per_s),
                        p.saturated ? "all" : fmt::format("{:.1f} %", 100 * p.load),
                        handover_text(p),
                        microseconds_text(busy)});
            result row;
            row.set("implementation", name).set("recipe", "lock");
            row.set("waiters", waiters).set("locks", job_.wanted.locks);
            row.add("servers", d.servers).add("hold_us", d.hold_us);
            row.add("other_load", d.other_load);
            row.add("predicted_turns_per_s", p.turns_per_s).add("predicted_load", p.load);
            row.add("predicted_busy_us", busy);
            if (!std::isinf(p.handover_us))  // JSON knows no such number
                row.add("predicted_handover_us", p.handover_us);
            add_costs(row, costs_);
            job_.results.push_back(std::move(row));
        }
        auto limit = waiters_at_load(costs_, form, demand(1), planned_load);
        limits_ += fmt::format("{}: {}\n", name_of(form), limit_text(limit));
    }

    job& job_;
    const server_costs& costs_;
    std::size_t servers_;
    table table_{{"waiters", "", "cycles/s", "server load", "hand-over", "busy per cycle"}};
    std::string limits_;
};

boost::asio::awaitable<void> run_sizing(job& j) {
    const double measured = count_servers(j);
    server_costs costs = co_await measure_costs(j.on, j.wanted.repeat, measured);
    std::vector<std::size_t> planned = j.wanted.planned_servers;
    if (planned.empty())
        planned.push_back(static_cast<std::size_t>(measured));
    j.output = heading(j) + "\n" + costs_table(costs);
    for (std::size_t servers : planned)
        j.output += predictions(j, costs, servers).str();
    j.output +=
        "\na cycle: a release, the next grant, and the former owner queues again; the figures are "
        "predicted, see doc/sizing.md\n";
}

void defaults_of_sizing(settings& s) {
    s.waiters = {10, 100, 1'000, 10'000};
    s.hold = std::chrono::milliseconds(100);
    s.loads = {0};
}

void check_sizing(const settings& s) {
    if (s.holds_itself)
        throw usage_error("--hold: a number of milliseconds");
    require_one("--load", s.loads);
}

}  // namespace

command sizing_command() {
    return command{
        "sizing",
        "what share of your servers locks will use, and with how many waiters a recipe breaks",
        "Measures the servers' time for a write, a transaction, a read, a notification and the "
        "names of a listing (the best of --repeat; about ten seconds), and computes a prediction: "
        "each of --locks locks has --waiters waiters, in a session each; each owner holds it for "
        "--hold, releases it and queues again; other clients use --load per cent of the servers. "
        "Shown are the hand-over cycles per second, the load of each server, the hand-over, and "
        "how many waiters load the servers to 70 %: for corozk's lock, for that of the recipes "
        "page, and for a herd lock; with --for, in ensembles of other sizes. Only the costs are "
        "measured: doc/sizing.md says how far the "
        "model can be trusted.",
        {"--waiters", "--locks", "--hold", "--load", "--for"},
        defaults_of_sizing,
        run_sizing,
        check_sizing};
}

}  // namespace corozk::bench
