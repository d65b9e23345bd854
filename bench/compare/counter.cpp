// SPDX-License-Identifier: Apache-2.0
#include "compare/comparison.hpp"
#include "measures.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace corozk::bench {

namespace {

/// Additions to one number. Our clients share an object, as coroutines of one program do, unless they
/// are to have a session each; the peers' have that and a thread each.
class counter_comparison : public comparison {
public:
    counter_comparison(std::size_t clients, bool own_sessions, std::size_t operations)
        : clients_(clients), own_sessions_(own_sessions), operations_(operations) {}

    bool has(std::string_view peer) const override { return peer != "zookeeper"; }
    std::string family() const override {
        return fmt::format("counter {}{}", clients_, own_sessions_ ? " sessions" : "");
    }

    std::vector<comparison_part> parts() const override {
        comparison_part part;
        part.title = "counter, 1 client";
        if (clients_ > 1)
            part.title =
                fmt::format("counter, {} {}", clients_, own_sessions_ ? "sessions" : "clients");
        part.key = "ops_per_s";
        part.per = "operation";
        part.is_rate = true;
        return {part};
    }

    void describe(result& row) const override {
        row.set("workload", "counter").set("recipe", "counter").set("waiters", clients_);
        row.set("sessions", own_sessions_ ? clients_ : 1);
    }

    boost::asio::awaitable<void> ours(job& j, rows r) override {
        counting kind;
        kind.clients = clients_;
        kind.own_sessions = own_sessions_;
        kind.operations = operations_ * (clients_ > 1 ? 5 : 1);  // quick, or it is over at once
        co_await measure_counter(j, kind, r[0]);
    }

    void floor(job& j, rows r) override {
        r[0].add("ops_per_s", 1e6 / j.on.raw()->conditional_sets(400).mean());
    }

    std::string request(const std::string& path) const override {
        return request_for(path, operations_);
    }
    std::string warm_up(const std::string& path) const override {
        return request_for(path, std::min<std::size_t>(operations_, 320));
    }

    void from_peer(const peer_phases& phases, rows r) const override {
        const peer_phase& count = phases.at("count");
        r[0].add("ops_per_s", count.operations / count.seconds);
        add_phase(r[0], count, "operation", count.operations);
    }

private:
    std::string request_for(const std::string& path, std::size_t operations) const {
        return fmt::format("counter path={} clients={} operations={}", path, clients_, operations);
    }

    std::size_t clients_;
    bool own_sessions_;
    std::size_t operations_;
};

}  // namespace

std::unique_ptr<comparison> compare_counter(std::size_t clients,
                                            bool own_sessions,
                                            std::size_t operations) {
    return std::make_unique<counter_comparison>(clients, own_sessions, operations);
}

}  // namespace corozk::bench
