// SPDX-License-Identifier: Apache-2.0
// Shards that are divided among the live workers. Only the owner of a shard records its progress,
// and the next owner resumes from there.
//
//   sharding 127.0.0.1:2181
#include "../2_recipes/program.hpp"
#include <corozk/recipe/partitioner.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <iostream>
#include <map>
#include <stdexcept>
#include <vector>

using boost::asio::awaitable;

const std::vector<std::string> shards{"0", "1", "2", "3", "4", "5"};

corozk::partitioner_options soon() {
    corozk::partitioner_options options;
    options.settle = std::chrono::milliseconds(50);  // for an example that ends soon
    return options;
}

/// One process.
class worker {
public:
    worker(corozk::client zk, std::string name)
        : zk_(std::move(zk)), name_(std::move(name)), group_(zk_, "/shards", shards, soon()) {}

    awaitable<void> join() { co_await group_.join(name_); }

    /// Takes part until it has so many shards; a worker that does more than show how does so forever.
    awaitable<void> run_until(std::size_t count) {
        while (held_.size() != count) {
            auto change = co_await group_.next();
            for (const auto& shard : change.lost)
                held_.erase(shard);
            for (const auto& shard : change.to_release)
                held_.erase(shard);  // releases it: another worker waits for it
            for (auto& grant : change.gained)
                held_.emplace(grant.resource, std::move(grant.held));
        }
        std::cout << name_ << " has";
        for (const auto& [shard, own] : held_)
            std::cout << ' ' << shard;
        std::cout << '\n';
    }

    /// One step of the work on each of its shards.
    awaitable<void> work() {
        for (auto& [shard, own] : held_) {
            const std::string offset = "/offsets/" + shard;
            auto last = co_await own.read(offset);
            corozk::transaction step;
            step.set(offset, std::to_string(std::stoi(last.data) + 1), last.stat.version);
            co_await own.commit(step);  // rejected if it no longer owns the shard
        }
    }

    awaitable<void> stop() {
        held_.clear();
        co_await zk_.close();
    }

private:
    corozk::client zk_;
    std::string name_;
    corozk::partitioner group_;
    std::map<std::string, corozk::ownership> held_;
};

awaitable<void> work(std::string hosts) {
    using namespace boost::asio::experimental::awaitable_operators;
    corozk::client_options options(hosts);
    auto zk = co_await corozk::client::connect(options);
    co_await erase_leftovers(zk, "/shards");
    co_await erase_leftovers(zk, "/offsets");
    co_await zk.ensure_path("/offsets");
    for (const auto& shard : shards)
        co_await zk.create("/offsets/" + shard, "0");

    worker anna(co_await corozk::client::connect(options), "anna");
    worker berta(co_await corozk::client::connect(options), "berta");
    co_await anna.join();
    co_await anna.run_until(6);
    co_await berta.join();
    co_await (anna.run_until(3) && berta.run_until(3));
    co_await (anna.work() && berta.work());
    co_await anna.stop();  // or its process dies
    co_await berta.run_until(6);
    co_await berta.work();
    co_await berta.stop();

    for (const auto& shard : shards) {
        auto last = co_await zk.get("/offsets/" + shard);
        if (last.data != "2")
            throw std::runtime_error("not two steps of shard " + shard);
    }
    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
