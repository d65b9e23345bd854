// SPDX-License-Identifier: Apache-2.0
// Partitioner: processes divide shards among them, each shard with one process at a time.
//
//   partitioner 127.0.0.1:2181
#include "program.hpp"
#include <corozk/recipe/partitioner.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <iostream>
#include <map>
#include <string>
#include <vector>

using boost::asio::awaitable;
using namespace boost::asio::experimental::awaitable_operators;

const std::vector<std::string> shards{"0", "1", "2", "3"};

corozk::partitioner_options soon() {
    corozk::partitioner_options options;
    options.settle = std::chrono::milliseconds(50);  // for an example that ends soon
    return options;
}

class process {
public:
    process(const corozk::client& zk, std::string name)
        : name_(std::move(name)), partitioner_(zk, "/app/shards", shards, soon()) {}

    awaitable<void> join() { co_await partitioner_.join(name_); }

    /// Takes part until it has so many shards.
    awaitable<void> work_until(std::size_t count) {
        while (held_.size() != count) {
            auto change = co_await partitioner_.next();
            for (const auto& shard : change.lost)
                end(shard, "lost");
            for (const auto& shard : change.to_release)
                end(shard, "gives back");  // only then another one is granted it
            for (auto& grant : change.gained) {
                std::cout << name_ << " has " << grant.resource << '\n';
                held_.emplace(grant.resource, std::move(grant.held));
            }
        }
    }

    awaitable<void> leave() {
        co_await partitioner_.leave();
        co_await work_until(0);
    }

private:
    void end(const std::string& shard, const char* how) {
        std::cout << name_ << ' ' << how << ' ' << shard << '\n';
        held_.erase(shard);  // an ownership: its destruction releases it
    }

    std::string name_;
    corozk::partitioner partitioner_;
    std::map<std::string, corozk::ownership> held_;
};

awaitable<void> work(std::string hosts) {
    // Two clients represent two processes.
    auto here = co_await corozk::client::connect(corozk::client_options(hosts));
    auto there = co_await corozk::client::connect(corozk::client_options(hosts));
    process a(here, "a");
    process b(there, "b");
    co_await a.join();
    co_await a.work_until(4);
    co_await b.join();
    co_await (a.work_until(2) && b.work_until(2));
    co_await (a.leave() && b.work_until(4));
    co_await b.leave();
    co_await here.close();
    co_await there.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
