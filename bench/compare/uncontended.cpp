// SPDX-License-Identifier: Apache-2.0
#include "compare/comparison.hpp"
#include "measures.hpp"

#include <fmt/format.h>

namespace corozk::bench {

namespace {

/// A lock that nobody else wants.
class uncontended_comparison : public comparison {
public:
    explicit uncontended_comparison(std::size_t operations) : operations_(operations) {}

    bool has(std::string_view) const override { return true; }
    std::string family() const override { return "uncontended"; }

    std::vector<comparison_part> parts() const override {
        comparison_part part;
        part.title = "lock, uncontended: acquire + release";
        part.key = "cycle_us.p50";
        part.key_p99 = "cycle_us.p99";
        part.per = "cycle";
        return {part};
    }

    void describe(result& row) const override {
        row.set("workload", "uncontended").set("recipe", "lock").set("sessions", std::size_t{1});
    }

    boost::asio::awaitable<void> ours(job& j, rows r) override {
        return measure_lock_cycles(j, operations_, r[0]);
    }

    void floor(job& j, rows r) override {
        auto samples = j.on.floor(150);
        const latencies& l = samples.create_and_erase;
        r[0].add("cycle_us.p50", l.p50()).add("cycle_us.p99", l.p99()).add(l);
    }

    std::string request(const std::string& path) const override {
        return fmt::format("uncontended path={} operations={}", path, operations_);
    }
    std::string warm_up(const std::string& path) const override { return request(path); }

    void from_peer(const peer_phases& phases, rows r) const override {
        const peer_phase& cycles = phases.at("cycles");
        add_latencies(r[0], cycles, "cycle_us");
        r[0].add("ops_per_s", cycles.operations / cycles.seconds);
        add_phase(r[0], cycles, "cycle", cycles.operations);
    }

private:
    std::size_t operations_;
};

}  // namespace

std::unique_ptr<comparison> compare_uncontended(std::size_t operations) {
    return std::make_unique<uncontended_comparison>(operations);
}

}  // namespace corozk::bench
