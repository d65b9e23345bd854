// SPDX-License-Identifier: Apache-2.0
#include "sizing/measure.hpp"

#include "usage.hpp"

#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace corozk::bench {

namespace {

constexpr std::size_t sized_requests = 30'000;
constexpr std::size_t sized_in_flight = 500;
constexpr std::size_t listed_names = 10'000;
constexpr std::size_t sized_listings = 50;
constexpr std::size_t told_sessions = 100;
constexpr std::size_t tellings = 30;

/// The best of some: Java compiles what is called often, and other programs take their time.
template <class Rate>
double us_for_each(std::size_t tries, Rate per_second) {
    double best = 0;
    for (std::size_t i = 0; i < tries; ++i)
        best = std::max(best, per_second());
    return 1e6 / best;
}

/// Of the servers that are our own.
std::vector<double> cpu_times(stage& on) {
    std::vector<double> seconds;
    for (std::size_t i = 0; i < on.servers(); ++i)
        seconds.push_back(usage::process_cpu_seconds(on.server(i).pid()));
    return seconds;
}

void add_cpu(server_costs& costs,
             stage& on,
             const std::vector<double>& before,
             std::size_t writes) {
    const std::vector<double> after = cpu_times(on);
    const std::size_t leader = on.leader().value_or(0);
    const double each = 1e6 / static_cast<double>(writes);
    for (std::size_t i = 0; i < after.size(); ++i) {
        const double cpu_us = (after[i] - before[i]) * each;
        if (i == leader)
            costs.leader_cpu_us = cpu_us;
        else
            costs.follower_cpu_us += cpu_us / static_cast<double>(after.size() - 1);
    }
}

/// From a delete until all sessions have heard of it, each with a watch of its own.
boost::asio::awaitable<latencies> tell_all(stage& on) {
    std::string node = on.fresh_path("told");
    auto clients = co_await on.connect(told_sessions);
    client& teller = clients.front();
    latencies times;
    for (std::size_t i = 0; i < tellings; ++i) {
        on.shown().update("measuring notifications", i, tellings);
        co_await teller.create(node, std::string(), create_options());
        std::vector<watched_stat> watched;
        for (auto& c : clients) {
            co_await c.sync(node);
            auto seen = co_await c.watch_exists(node);
            watched.push_back(std::move(seen));
        }
        auto began = clock::now();
        teller.erase(node, any_version, [](error_code) {});
        for (auto& w : watched)
            co_await w.changed.next();
        times.add(to_microseconds(clock::now() - began));
        co_await teller.sync(node);
    }
    co_await stage::close(clients);
    co_return times;
}

}  // namespace

boost::asio::awaitable<server_costs> measure_costs(stage& on, std::size_t tries, double servers) {
    server_costs costs;
    auto loop = on.raw();
    std::vector<double> before = cpu_times(on);
    costs.write_us =
        us_for_each(tries, [&] { return loop->sets_per_second(sized_requests, sized_in_flight); });
    add_cpu(costs, on, before, tries * sized_requests);
    costs.transaction_us = us_for_each(
        tries, [&] { return loop->transactions_per_second(sized_requests, sized_in_flight); });
    costs.read_us = us_for_each(
        tries, [&] { return loop->pipeline(sized_requests, sized_in_flight).exists_per_s; });
    std::string folder = on.fresh_path("list");
    loop->make(folder);
    loop->fill(folder, "12345678-1234-1234-1234-123456789abc-lock-", listed_names);
    loop->listings(folder, sized_listings);
    double listing_us = loop->listings(folder, sized_listings).p50();
    auto idle = loop->measure(floor_samples);
    loop.reset();
    costs.read_latency_us = idle.exists.p50();
    costs.handover_latency_us = idle.handover.p50();
    costs.name_us = std::max(listing_us - costs.read_latency_us, 0.0) / listed_names;
    auto told = co_await tell_all(on);
    // Each server tells its own sessions, all of them at the same time.
    double told_by_each = static_cast<double>(told_sessions) / servers;
    costs.event_us = std::max(told.p50() - costs.handover_latency_us, 0.0) / told_by_each;
    co_return costs;
}

}  // namespace corozk::bench
