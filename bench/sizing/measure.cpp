// SPDX-License-Identifier: Apache-2.0
#include "sizing/measure.hpp"

#include <algorithm>

namespace corozk::bench {

namespace {

constexpr std::size_t sized_requests = 50'000;
constexpr std::size_t sized_nodes = 20'000;
constexpr std::size_t sized_in_flight = 500;
constexpr std::size_t listed_names = 10'000;
constexpr std::size_t sized_listings = 50;

/// The second time: Java compiles what is called often.
template <class Work>
double warm(Work work) {
    work();
    return work();
}

double us_for_each(double per_second) {
    return 1e6 / per_second;
}

}  // namespace

server_costs measure_costs(stage& on) {
    server_costs costs;
    auto loop = on.raw();
    costs.write_us =
        us_for_each(warm([&] { return loop->sets_per_second(sized_requests, sized_in_flight); }));
    costs.transaction_us = us_for_each(
        warm([&] { return loop->transactions_per_second(sized_requests, sized_in_flight); }));
    auto plain = warm([&] { return loop->pipeline(sized_nodes, sized_in_flight).exists_per_s; });
    costs.read_us = us_for_each(plain);
    double erase_us = us_for_each(loop->pipeline(sized_nodes, sized_in_flight).erase_per_s);
    double with_event_us = us_for_each(
        warm([&] { return loop->watched_erases_per_second(sized_nodes, sized_in_flight); }));
    costs.event_us = std::max(with_event_us - erase_us, 0.0);
    std::string folder = on.fresh_path("list");
    loop->make(folder);
    loop->fill(folder, "12345678-1234-1234-1234-123456789abc-lock-", listed_names);
    double listing_us = warm([&] { return loop->listings(folder, sized_listings).p50(); });
    auto idle = loop->measure(floor_samples);
    costs.read_latency_us = idle.exists.p50();
    costs.handover_latency_us = idle.handover.p50();
    costs.name_us = std::max(listing_us - costs.read_latency_us, 0.0) / listed_names;
    return costs;
}

}  // namespace corozk::bench
