// SPDX-License-Identifier: Apache-2.0
#include "closed_contest.hpp"
#include "compare/comparison.hpp"
#include "replay.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace corozk::bench {

namespace {

/// Taking something again and again, each in a session of its own.
class turns_comparison : public comparison {
public:
    turns_comparison(std::string recipe,
                     std::size_t clients,
                     std::size_t turns,
                     std::string latency_key)
        : recipe_(std::move(recipe)),
          clients_(clients),
          turns_(turns),
          latency_key_(std::move(latency_key)) {}

    bool has(std::string_view peer) const override { return peer != "zookeeper"; }
    std::string family() const override { return recipe_ + " turns"; }

    std::vector<comparison_part> parts() const override {
        comparison_part part;
        part.title =
            fmt::format("{}, {}, in turns",
                        recipe_,
                        clients_ == 1 ? "1 session" : fmt::format("{} sessions", clients_));
        part.key = latency_key_ + ".p50";
        part.key_p99 = latency_key_ + ".p99";
        part.per = "handover";
        return {part};
    }

    void describe(result& row) const override {
        row.set("workload", "turns").set("recipe", recipe_);
        row.set("waiters", clients_).set("sessions", clients_);
    }

    boost::asio::awaitable<void> ours(job& j, rows r) override {
        contest_setup setup("ours", clients_);
        setup.recipe = recipe_;
        setup.sessions = clients_;
        return run_closed_contest(j.on, setup, turns_, r[0]);
    }

    /// The least that both a hand-over and an acquisition by somebody else take.
    void floor(job& j, rows r) override {
        auto samples = j.on.floor(150);
        const latencies& l = samples.handover;
        r[0].add(latency_key_ + ".p50", l.p50()).add(latency_key_ + ".p99", l.p99()).add(l);
    }

    std::string request(const std::string& path) const override {
        return request_for(path, clients_, turns_);
    }
    std::string warm_up(const std::string& path) const override {
        return request_for(
            path, std::min<std::size_t>(clients_, 10), std::min<std::size_t>(turns_, 200));
    }

    void from_peer(const peer_phases& phases, rows r) const override {
        const peer_phase& turns = phases.at("turns");
        auto times = replay(grants_from(turns.values), 0);
        result& row = r[0];
        row.add("handover_us.p50", times.p50()).add("handover_us.p99", times.p99());
        row.add("handover_us.max", times.max());
        add_latencies(row, turns, "acquire_us");
        row.add("turns", turns.operations);
        row.add("handovers_per_s", turns.operations / turns.seconds);
        add_phase(row, turns, "handover", turns.operations);
    }

private:
    std::string request_for(const std::string& path, std::size_t clients, std::size_t turns) const {
        return fmt::format("turns kind={} path={} clients={} turns={}",
                           recipe_,
                           path,
                           clients,
                           turns_per_client(turns, clients) * clients);
    }

    std::string recipe_;
    std::size_t clients_;
    std::size_t turns_;
    std::string latency_key_;
};

}  // namespace

std::unique_ptr<comparison> compare_turns(std::string recipe,
                                          std::size_t clients,
                                          std::size_t turns,
                                          std::string latency_key) {
    return std::make_unique<turns_comparison>(
        std::move(recipe), clients, turns, std::move(latency_key));
}

}  // namespace corozk::bench
