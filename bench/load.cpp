// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"
#include "command.hpp"
#include "contest_rows.hpp"
#include "crew.hpp"
#include "open_loop.hpp"
#include "paced_lock.hpp"
#include "table.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <memory>

namespace corozk::bench {

namespace {

constexpr std::size_t capacity_sets = 100'000;
constexpr std::size_t capacity_in_flight = 500;
constexpr auto load_settling = std::chrono::seconds(1);

/// Sets a second, many on their way at a time: what one server on this machine can do while the
/// client that asks for it has its share.
double measure_capacity(job& j) {
    auto loop = j.on.raw();
    loop->sets_per_second(capacity_sets, capacity_in_flight);  // Java compiles what is called
    return loop->sets_per_second(capacity_sets, capacity_in_flight);
}

void add_quantiles(result& row, const std::string& key, const latencies& times) {
    row.add(key + ".p50", times.p50()).add(key + ".p99", times.p99());
    row.add(key + ".p999", times.quantile(0.999)).add(key + ".max", times.max());
}

boost::asio::awaitable<void> wait_for(clock::duration time) {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, time);
    co_await timer.async_wait(boost::asio::use_awaitable);
}

boost::asio::awaitable<void> until_passed(const open_loop& loop, clock::time_point t) {
    while (!loop.has_passed(t))
        co_await wait_for(std::chrono::milliseconds(5));
}

/// One repetition, while others use so much of the servers' capacity.
boost::asio::awaitable<void> measure_at(job& j, double capacity, std::size_t load, result& row) {
    auto executor = co_await boost::asio::this_coro::executor;
    std::unique_ptr<open_loop> others;
    if (load > 0) {
        double rate = capacity * static_cast<double>(load) / 100;
        others = j.on.at_rate(open_loop::request::set, rate);
        co_await until_passed(*others, clock::now() + load_settling);
    }
    double bare_rate = std::chrono::duration<double>(1) / paced_interval;
    auto bare = j.on.at_rate(open_loop::request::set, bare_rate);
    co_await until_passed(*bare, clock::now());
    auto clients = co_await j.on.connect(j.wanted.sessions + 1);
    client alone = std::move(clients.back());
    clients.pop_back();
    {
        paced_handovers handovers(clients, j.on.fresh_path("lock"), j.wanted.operations);
        latencies acquiring;
        crew all(executor, j.on.shown());
        auto began = clock::now();
        double cpu = j.on.cpu_seconds();
        for (std::size_t i = 0; i < handovers.players(); ++i)
            all.add(handovers.play(i));
        all.add(acquire_paced(alone, j.on.fresh_path("lock"), j.wanted.operations, acquiring));
        std::string label = fmt::format("at {} % load", load);
        co_await all.finish(label, handovers.done(), j.wanted.operations);
        auto ended = clock::now();
        cpu = j.on.cpu_seconds() - cpu;
        double seconds = to_seconds(ended - began);
        co_await until_passed(*bare, ended);
        if (others)
            co_await until_passed(*others, ended);
        auto count = others ? others->answered(began, ended) : 0;
        row.add("load_per_s", static_cast<double>(count) / seconds);
        if (j.on.owns_servers())
            row.add("server_cores", cpu / seconds);
        add_quantiles(row, "handover_us", handovers.times());
        add_quantiles(row, "acquire_us", acquiring);
        add_quantiles(row, "set_us", bare->between(began, ended));
    }
    clients.push_back(std::move(alone));
    co_await stage::close(clients);
}

std::vector<std::string> line_of(std::size_t load, const result& row) {
    std::vector<std::string> line{
        fmt::format("{} %", load),
        count_text(row.median("load_per_s")),
        row.has("server_cores") ? figure_text(row.median("server_cores")) : ""};
    for (const char* key : {"handover_us", "acquire_us", "set_us"}) {
        for (const char* quantile : {"p50", "p99", "p999"})
            line.push_back(microseconds_text(row.median(fmt::format("{}.{}", key, quantile))));
    }
    return line;
}

}  // namespace

boost::asio::awaitable<void> run_load(job& j) {
    table t({"load",
             "sets/s",
             "server cores",
             "hand-over p50",
             "p99",
             "p99.9",
             "acquire p50",
             "p99",
             "p99.9",
             "bare set p50",
             "p99",
             "p99.9"});
    double capacity = measure_capacity(j);
    j.facts["capacity_per_s"] = capacity;
    for (std::size_t load : j.wanted.loads) {
        result row;
        row.set("implementation", "ours").set("recipe", "lock");
        row.set("case", fmt::format("{} % load", load)).set("load_percent", load);
        row.set("sessions", j.wanted.sessions).set("handovers", j.wanted.operations);
        row.set("processes", 1).set("threads", 1).set("repeat", j.wanted.repeat);
        for (std::size_t i = 0; i < j.wanted.repeat; ++i)
            co_await measure_at(j, capacity, load, row);
        t.add(line_of(load, row));
        j.results.push_back(std::move(row));
    }
    j.output = heading(j);
    j.output +=
        fmt::format("capacity: {} sets a second, {} in flight at a time, measured first\n\n",
                    count_text(capacity),
                    capacity_in_flight);
    j.output += t.str();
    j.output += fmt::format(
        "\n{} of each, {} a second at fixed times, measured from when they were due: a lock handed "
        "over among {} sessions (the release was due -> the next session has it), acquiring an "
        "uncontended lock, and a set by the bare C client\nsets/s: of the other clients, as "
        "answered\n",
        count_text(j.wanted.operations),
        std::chrono::seconds(1) / paced_interval,
        j.wanted.sessions);
}

void check_load(const settings& s) {
    if (s.sessions < 2)
        throw usage_error("--sessions: a lock is handed over between at least two sessions");
}

}  // namespace corozk::bench
