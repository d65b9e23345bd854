// SPDX-License-Identifier: Apache-2.0
#include "compare/comparison.hpp"
#include "contest.hpp"
#include "replay.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace corozk::bench {

namespace {

/// Passing something on from one waiter to the next.
class handover_comparison : public comparison {
public:
    handover_comparison(std::string recipe,
                        std::size_t waiters,
                        std::size_t sessions,
                        const comparison_sizes& sizes)
        : recipe_(std::move(recipe)),
          waiters_(waiters),
          sessions_(sessions),
          readers_(sizes.readers),
          limit_(sizes.limit) {}

    bool has(std::string_view peer) const override {
        return peer != "zookeeper" || recipe_ == "lock" || recipe_ == "election";
    }

    std::string family() const override {
        return fmt::format("{} {}", recipe_, sessions_ == waiters_ ? 0 : sessions_);
    }

    std::vector<comparison_part> parts() const override {
        std::string what = recipe_ == "shared_lock" ? "shared lock" : recipe_;
        std::string sessions = sessions_ == 1 ? "1 session" : fmt::format("{} sessions", sessions_);
        comparison_part part;
        part.title = fmt::format("hand-over, {}: {} waiters, {}",
                                 what,
                                 count_text(static_cast<double>(waiters_)),
                                 sessions);
        part.key = "handover_us.p50";
        part.key_p99 = "handover_us.p99";
        part.per = "handover";
        return {part};
    }

    void describe(result& row) const override {
        row.set("workload", "handover").set("recipe", recipe_);
        row.set("waiters", waiters_).set("sessions", sessions_);
        if (recipe_ == "shared_lock")
            row.set("readers_per_writer", readers_);
        if (recipe_ == "semaphore")
            row.set("limit", limit_);
    }

    boost::asio::awaitable<void> ours(job& j, rows r) override {
        contest_setup setup("ours", waiters_);
        setup.recipe = recipe_;
        setup.sessions = sessions_;
        setup.readers = readers_;
        setup.limit = limit_;
        return run_bare_contest(j.on, setup, r[0]);
    }

    void floor(job& j, rows r) override {
        auto samples = j.on.floor(150);
        const latencies& l = samples.handover;
        r[0].add("handover_us.p50", l.p50()).add("handover_us.p99", l.p99());
        r[0].add("handover_us.max", l.max()).add(l);
    }

    std::string request(const std::string& path) const override {
        return request_for(path, waiters_, sessions_);
    }

    std::string warm_up(const std::string& path) const override {
        std::size_t few = std::min<std::size_t>(waiters_, 100);
        return request_for(path, few, sessions_ == waiters_ ? few : std::min(sessions_, few));
    }

    void from_peer(const peer_phases& phases, rows r) const override {
        const peer_phase& queue = phases.at("queue");
        const peer_phase& drain = phases.at("drain");
        auto n = static_cast<double>(waiters_);
        auto times = replay(grants_from(drain.values), recipe_ == "semaphore" ? limit_ : 0);
        result& row = r[0];
        row.add("queue_s", queue.seconds).add("drain_s", drain.seconds);
        row.add("handovers_per_s", n / drain.seconds);
        row.add("handover_us.p50", times.p50()).add("handover_us.p99", times.p99());
        row.add("handover_us.max", times.max()).add(times);
        if (drain.server_is_ours)
            row.add("requests_per_waiter", (queue.requests + drain.requests) / n);
        add_phase(row, drain, "handover", n);
        if (queue.memory_bytes > 0)  // a collection can free more than what comes
            row.add("memory_per_waiter_bytes", queue.memory_bytes / n);
        row.set("threads", std::max(queue.threads, drain.threads));
    }

private:
    std::string request_for(const std::string& path,
                            std::size_t waiters,
                            std::size_t sessions) const {
        // A contender of ZooKeeper's lock is a session, and one more holds it first.
        std::size_t holders = sessions == waiters && sessions > 1 ? 1 : 0;
        return fmt::format("handover kind={} path={} waiters={} sessions={} readers={} limit={}",
                           recipe_,
                           path,
                           waiters,
                           sessions + holders,
                           readers_,
                           limit_);
    }

    std::string recipe_;
    std::size_t waiters_;
    std::size_t sessions_;
    std::size_t readers_;
    std::size_t limit_;
};

}  // namespace

std::unique_ptr<comparison> compare_handover(std::string recipe,
                                             std::size_t waiters,
                                             std::size_t sessions,
                                             const comparison_sizes& sizes) {
    return std::make_unique<handover_comparison>(std::move(recipe), waiters, sessions, sizes);
}

}  // namespace corozk::bench
