// SPDX-License-Identifier: Apache-2.0
#include "compare/comparison.hpp"
#include "measures.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace corozk::bench {

namespace {

/// A double barrier: everybody in, everybody out.
class barrier_comparison : public comparison {
public:
    barrier_comparison(std::size_t members, std::size_t sessions)
        : members_(members), sessions_(sessions) {}

    bool has(std::string_view peer) const override { return peer != "zookeeper"; }
    std::string family() const override { return "barrier"; }

    std::vector<comparison_part> parts() const override { return {part("enter"), part("leave")}; }

    void describe(result& row) const override {
        row.set("workload", "barrier").set("recipe", "double_barrier");
        row.set("waiters", members_).set("sessions", sessions_);
    }

    boost::asio::awaitable<void> ours(job& j, rows r) override {
        result both;
        co_await measure_barrier(j, members_, sessions_, both);
        for (std::size_t i = 0; i < names.size(); ++i) {
            std::string name = names[i];
            r[i].add("time_us", both.last(name + "_s") * 1e6);
            for (std::string_view what : {"requests", "notifications", "bytes"}) {
                r[i].add(fmt::format("{}_per_operation", what),
                         both.last(fmt::format("{}_{}_per_member", name, what)));
            }
        }
    }

    void floor(job& j, rows r) override {
        auto bare = j.on.raw()->pipeline(members_, members_);
        r[0].add("time_us", 1e6 * static_cast<double>(members_) / bare.create_per_s);
        r[1].add("time_us", 1e6 * static_cast<double>(members_) / bare.erase_per_s);
    }

    std::string request(const std::string& path) const override {
        return request_for(path, members_);
    }
    std::string warm_up(const std::string& path) const override {
        return request_for(path, std::min<std::size_t>(members_, 200));
    }

    void from_peer(const peer_phases& phases, rows r) const override {
        for (std::size_t i = 0; i < names.size(); ++i) {
            const peer_phase& phase = phases.at(names[i]);
            r[i].add("time_us", phase.seconds * 1e6);
            add_phase(r[i], phase, "operation", phase.operations);
        }
    }

private:
    static constexpr std::array<const char*, 2> names{"enter", "leave"};

    comparison_part part(const char* operation) const {
        comparison_part p;
        p.title = fmt::format(
            "double barrier, {} members: {}", count_text(static_cast<double>(members_)), operation);
        p.key = "time_us";
        p.per = "operation";
        p.operation = operation;
        return p;
    }

    std::string request_for(const std::string& path, std::size_t members) const {
        return fmt::format(
            "barrier path={} members={} sessions={}", path, members, std::min(sessions_, members));
    }

    std::size_t members_;
    std::size_t sessions_;
};

}  // namespace

std::unique_ptr<comparison> compare_barrier(std::size_t members, std::size_t sessions) {
    return std::make_unique<barrier_comparison>(members, sessions);
}

}  // namespace corozk::bench
