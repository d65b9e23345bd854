// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "contest_rows.hpp"
#include "crew.hpp"
#include "measures.hpp"
#include "table.hpp"
#include "work_figures.hpp"
#include <corozk/recipe/counter.hpp>

#include <boost/asio/this_coro.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <stdexcept>
#include <vector>

namespace corozk::bench {

namespace {

std::vector<counting> all_kinds(const settings& s) {
    std::vector<counting> kinds;
    for (std::size_t n : s.clients) {
        kinds.push_back({n, false, s.operations});
        if (n > 1)
            kinds.push_back({n, true, s.operations});
    }
    return kinds;
}

/// The additions made so far.
struct tally {
    std::vector<std::size_t> of_each;
    std::size_t of_all = 0;
    std::optional<std::size_t> least;  ///< of one client, when the first one was done
};

/// One after the other; each result is larger than the one before.
boost::asio::awaitable<void> add_some(
    counter& c, std::size_t count, std::size_t who, tally& done, latencies& all) {
    std::int64_t last = 0;
    for (std::size_t i = 0; i < count; ++i) {
        auto began = clock::now();
        std::int64_t value = co_await c.add(1);
        all.add(to_microseconds(clock::now() - began));
        if (value <= last)
            throw std::logic_error("the counter went backwards");
        last = value;
        ++done.of_each[who];
        ++done.of_all;
    }
    if (!done.least)
        done.least = *std::min_element(done.of_each.begin(), done.of_each.end());
}

}  // namespace

std::string counting::title() const {
    if (clients == 1)
        return "1 client";
    return fmt::format(
        "{} clients, {}", clients, own_sessions ? "a session each" : "one object on one session");
}

boost::asio::awaitable<void> measure_counter(job& j, const counting& kind, result& r) {
    auto sessions = kind.own_sessions ? kind.clients : 1;
    auto clients = co_await j.on.connect(sessions);
    std::string path = j.on.fresh_path("counter");
    std::deque<counter> counters;
    for (auto& c : clients)
        counters.emplace_back(c, path);
    co_await counters.front().add(0);  // the node is made
    for (auto& c : counters)
        co_await c.get();

    std::size_t each = std::max<std::size_t>(kind.operations / kind.clients, 1);
    std::size_t total = each * kind.clients;
    tally done;
    done.of_each.resize(kind.clients);
    latencies all;
    all.reserve(total);
    work_figures figures(clients);
    auto executor = co_await boost::asio::this_coro::executor;
    crew adders(executor, j.on.shown());
    for (std::size_t i = 0; i < kind.clients; ++i) {
        adders.add(add_some(counters[i % counters.size()], each, i, done, all));
    }
    double seconds = co_await adders.finish("counting: " + kind.title(), done.of_all, total);
    figures.add_to(r, static_cast<double>(total));
    r.add("ops_per_s", static_cast<double>(total) / seconds);
    r.add("least_share", static_cast<double>(*done.least) / static_cast<double>(each));
    r.add("latency_us.p50", all.p50()).add("latency_us.p99", all.p99());
    r.add("latency_us.max", all.max());
    r.add(all);

    std::int64_t value = co_await counters.back().get();
    if (value != static_cast<std::int64_t>(total)) {
        throw std::logic_error(fmt::format("{} additions made {}", total, value));
    }
    counters.clear();
    co_await stage::close(clients);
}

boost::asio::awaitable<void> run_counter(job& j) {
    table t({"",
             "additions/s",
             "/ floor",
             "p50",
             "p99",
             "longest",
             "fairness",
             "requests",
             "bytes",
             "CPU/addition"});
    result floor;
    for (const counting& kind : all_kinds(j.wanted)) {
        result row;
        row.set("implementation", "ours").set("recipe", "counter");
        row.set("waiters", kind.clients).set("sessions", kind.own_sessions ? kind.clients : 1);
        row.set("processes", 1).set("threads", 1).set("repeat", j.wanted.repeat);
        std::size_t samples = std::max<std::size_t>(j.wanted.operations / 10, floor_samples);
        for (std::size_t i = 0; i < j.wanted.repeat; ++i) {
            auto loop = j.on.raw();
            latencies sets = loop->conditional_sets(samples);
            co_await measure_counter(j, kind, row);
            sets.add(loop->conditional_sets(samples));
            double most = 1e6 / sets.mean();
            floor.add("ops_per_s", most);
            row.add("floor_ops_per_s", most);
            row.add("floor_ratio", row.last("ops_per_s") / most);
            row.add("floor_us.p50", sets.p50()).add("floor_us.p99", sets.p99());
        }
        t.add({kind.title(),
               with_spread(row, "ops_per_s", count_text),
               with_spread(row, "floor_ratio", ratio_text),
               microseconds_text(row.median("latency_us.p50")),
               microseconds_text(row.median("latency_us.p99")),
               microseconds_text(row.median("latency_us.max")),
               fmt::format("{:.2f}", row.median("least_share")),
               figure_text(row.median("requests_per_operation")),
               bytes_text(row.median("bytes_per_operation")),
               fmt::format("{:.1f} us", row.median("client_cpu_us_per_operation"))});
        j.results.push_back(std::move(row));
    }
    j.output = heading(j) + "\n" + t.str();
    j.output += fmt::format(
        "\nfloor: conditional sets of one node, one after the other, bare C client, measured "
        "around "
        "each row: {}/s\n{} additions in each row; requests and bytes per addition; fairness: the "
        "fewest additions of "
        "a client when the first one has done all of its own, as a part of these; medians, with "
        "(least .. most)\n",
        with_spread(floor, "ops_per_s", count_text),
        count_text(static_cast<double>(j.wanted.operations)));
}

}  // namespace corozk::bench
