// SPDX-License-Identifier: Apache-2.0
#include "compare/comparison.hpp"
#include "measures.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace corozk::bench {

namespace {

/// From one session's write to what another one's cache tells.
class cache_comparison : public comparison {
public:
    explicit cache_comparison(std::size_t operations) : operations_(operations) {}

    bool has(std::string_view peer) const override { return peer != "zookeeper"; }
    std::string family() const override { return "cache"; }

    std::vector<comparison_part> parts() const override {
        comparison_part part;
        part.title = "node cache: another session's set -> new state";
        part.key = "latency_us.p50";
        part.key_p99 = "latency_us.p99";
        part.per = "operation";
        return {part};
    }

    void describe(result& row) const override {
        row.set("workload", "cache").set("recipe", "node_cache").set("sessions", std::size_t{2});
    }

    boost::asio::awaitable<void> ours(job& j, rows r) override {
        return measure_node_cache(j, operations_, r[0]);
    }

    void floor(job& j, rows r) override {
        auto samples = j.on.floor(150);
        const latencies& l = samples.handover;
        r[0].add("latency_us.p50", l.p50()).add("latency_us.p99", l.p99()).add(l);
    }

    std::string request(const std::string& path) const override {
        return fmt::format("cache path={} operations={}", path, operations_);
    }
    std::string warm_up(const std::string& path) const override { return request(path); }

    void from_peer(const peer_phases& phases, rows r) const override {
        const peer_phase& changes = phases.at("changes");
        add_latencies(r[0], changes, "latency_us");
        add_phase(r[0], changes, "operation", changes.operations);
    }

private:
    std::size_t operations_;
};

}  // namespace

std::unique_ptr<comparison> compare_cache(std::size_t operations) {
    return std::make_unique<cache_comparison>(operations);
}

}  // namespace corozk::bench
