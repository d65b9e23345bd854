// SPDX-License-Identifier: Apache-2.0
#include "compare/comparison.hpp"
#include "measures.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace corozk::bench {

namespace {

comparison_part rate(std::string title, std::string operation) {
    comparison_part part;
    part.title = std::move(title);
    part.key = "ops_per_s";
    part.per = "operation";
    part.is_rate = true;
    part.operation = std::move(operation);
    return part;
}

void add_rate(result& r, const peer_phase& phase) {
    r.add("ops_per_s", phase.operations / phase.seconds);
    add_phase(r, phase, "operation", phase.operations);
}

/// Items in, items out.
class queue_comparison : public comparison {
public:
    queue_comparison(std::size_t items, std::size_t workers, bool acknowledged)
        : items_(items), workers_(workers), acknowledged_(acknowledged) {}

    bool has(std::string_view peer) const override { return !acknowledged_ || peer == "kazoo"; }

    std::string family() const override {
        return fmt::format("queue {} {}", workers_, acknowledged_);
    }

    std::vector<comparison_part> parts() const override {
        std::string what = fmt::format("queue{}, {} items",
                                       acknowledged_ ? " with acknowledgement" : "",
                                       count_text(static_cast<double>(items_)));
        std::string at_a_time = workers_ > 1 ? fmt::format(", {} at a time", workers_) : "";
        return {rate(what + ": put" + at_a_time, "put"),
                acknowledged_ ? rate(what + ": take + acknowledge", "consume")
                              : rate(what + ": take" + at_a_time, "take")};
    }

    void describe(result& row) const override {
        row.set("workload", "queue").set("recipe", acknowledged_ ? "locking_queue" : "queue");
        row.set("waiters", workers_).set("sessions", std::size_t{1}).set("items", items_);
    }

    boost::asio::awaitable<void> ours(job& j, rows r) override {
        queue_task task;
        task.workers = workers_;
        task.items = items_;
        task.work = queue_work::put;
        co_await measure_queue(j, task, r[0]);
        task.work = acknowledged_ ? queue_work::consume : queue_work::take;
        co_await measure_queue(j, task, r[1]);
    }

    void floor(job& j, rows r) override {
        auto bare = j.on.raw()->pipeline(items_, 1'000);
        double take = bare.erase_per_s;
        if (acknowledged_)  // the claim, then the item
            take = 1 / (1 / bare.create_per_s + 1 / bare.erase_per_s);
        r[0].add("ops_per_s", bare.create_per_s);
        r[1].add("ops_per_s", take);
    }

    std::string request(const std::string& path) const override {
        return request_for(path, items_);
    }
    std::string warm_up(const std::string& path) const override {
        return request_for(path, std::min<std::size_t>(items_, 300));
    }

    void from_peer(const peer_phases& phases, rows r) const override {
        add_rate(r[0], phases.at("put"));
        add_rate(r[1], phases.at("take"));
    }

private:
    std::string request_for(const std::string& path, std::size_t items) const {
        return fmt::format("{} path={} items={} workers={}",
                           acknowledged_ ? "locking_queue" : "queue",
                           path,
                           items,
                           workers_);
    }

    std::size_t items_;
    std::size_t workers_;
    bool acknowledged_;
};

/// Items in and out at the same time.
class queue_passes_comparison : public comparison {
public:
    queue_passes_comparison(std::size_t clients, std::size_t items)
        : clients_(clients), items_(items) {}

    bool has(std::string_view peer) const override { return peer != "zookeeper"; }
    std::string family() const override { return "queue passes"; }

    std::vector<comparison_part> parts() const override {
        return {
            rate(fmt::format("queue, {}: put + take",
                             clients_ == 1 ? "1 session" : fmt::format("{} sessions", clients_)),
                 "put + take")};
    }

    void describe(result& row) const override {
        row.set("workload", "queue").set("recipe", "queue");
        row.set("waiters", clients_).set("sessions", clients_).set("items", items_);
    }

    boost::asio::awaitable<void> ours(job& j, rows r) override {
        queue_task task;
        task.work = queue_work::pass;
        task.workers = clients_;
        task.sessions = clients_;
        task.items = items_;
        co_await measure_queue(j, task, r[0]);
    }

    void floor(job& j, rows r) override {
        auto bare = j.on.raw()->pipeline(items_, std::min<std::size_t>(clients_, items_));
        r[0].add("ops_per_s", 1 / (1 / bare.create_per_s + 1 / bare.erase_per_s));
    }

    std::string request(const std::string& path) const override {
        return request_for(path, clients_, items_);
    }
    std::string warm_up(const std::string& path) const override {
        return request_for(
            path, std::min<std::size_t>(clients_, 10), std::min<std::size_t>(items_, 300));
    }

    void from_peer(const peer_phases& phases, rows r) const override {
        add_rate(r[0], phases.at("pass"));
    }

private:
    static std::string request_for(const std::string& path,
                                   std::size_t clients,
                                   std::size_t items) {
        return fmt::format("queue_passes path={} items={} clients={}", path, items, clients);
    }

    std::size_t clients_;
    std::size_t items_;
};

}  // namespace

std::unique_ptr<comparison> compare_queue_passes(std::size_t clients, std::size_t items) {
    return std::make_unique<queue_passes_comparison>(clients, items);
}

std::unique_ptr<comparison> compare_queue(std::size_t items, std::size_t workers) {
    return std::make_unique<queue_comparison>(items, workers, false);
}

std::unique_ptr<comparison> compare_acknowledged_queue(std::size_t items) {
    return std::make_unique<queue_comparison>(items, 1, true);
}

}  // namespace corozk::bench
