// SPDX-License-Identifier: Apache-2.0
// Shards that are distributed over the workers that are there: each worker computes its own from the
// members of the group, and few shards move when one comes or goes.
//
//   sharding 127.0.0.1:2181
#include "../2_recipes/program.hpp"
#include <corozk.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>

using boost::asio::as_tuple;
using boost::asio::awaitable;
using boost::asio::use_awaitable;
using namespace std::chrono_literals;

using names = std::set<std::string>;

/// Rendezvous hashing: the member with the highest hash has the shard. All compute the same (FNV-1a).
std::uint64_t weight(int shard, std::string_view member) {
    std::uint64_t hash = 14695981039346656037U;
    for (char c : std::to_string(shard) + "/" + std::string(member))
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    return hash ^ (hash >> 29);
}

std::string owner_of(int shard, const names& members) {
    std::string best;
    for (const std::string& member : members) {
        if (best.empty() || weight(shard, member) > weight(shard, best))
            best = member;
    }
    return best;
}

constexpr int shards = 12;

/// One process.
class worker {
public:
    worker(corozk::client zk, std::string name)
        : zk_(std::move(zk)), name_(std::move(name)), group_(zk_, "/shards/workers") {}

    awaitable<void> join() { co_await group_.join(name_); }

    /// Follows the group; a worker that does more than show how ends with its process.
    awaitable<void> run_until(names expected) {
        for (;;) {
            bool complete = co_await rebalance();
            if (complete && members_ == expected)
                co_return;
            if (complete)
                co_await group_.next_change();
        }
    }

    /// Gives up the shards that are another's now, then takes over its own. @return whether it has all
    awaitable<bool> rebalance() {
        auto present = co_await group_.members();
        members_.clear();
        for (const auto& member : present)
            members_.insert(member.name);
        std::erase_if(held_, [this](auto& one) {
            return owner_of(one.first, members_) != name_ || !one.second.valid();
        });
        bool complete = true;
        for (int shard = 0; shard < shards; ++shard) {
            if (owner_of(shard, members_) != name_ || held_.contains(shard))
                continue;
            // Others may still see another group: a shard has one owner nevertheless.
            corozk::lock lock(zk_, "/shards/locks/" + std::to_string(shard));
            auto [ec, own] = co_await lock.acquire_for(100ms, as_tuple(use_awaitable));
            if (!ec)
                held_[shard] = std::move(own);
            else if (ec == corozk::errc::deadline_exceeded)
                complete = false;
            else
                throw corozk::error(ec, "shard", lock.path());
        }
        co_return complete;
    }

    awaitable<void> stop() {
        held_.clear();
        co_await zk_.close();
    }

    const std::map<int, corozk::ownership>& held() const { return held_; }
    const std::string& name() const { return name_; }

private:
    corozk::client zk_;
    std::string name_;
    corozk::membership group_;
    names members_;
    std::map<int, corozk::ownership> held_;
};

void print(const worker& w) {
    std::cout << w.name() << " has";
    for (const auto& [shard, held] : w.held())
        std::cout << ' ' << shard;
    std::cout << '\n';
}

awaitable<void> work(std::string hosts) {
    using namespace boost::asio::experimental::awaitable_operators;
    corozk::client_options options(hosts);
    worker anna(co_await corozk::client::connect(options), "anna");
    worker berta(co_await corozk::client::connect(options), "berta");
    names both{"anna", "berta"};
    co_await (anna.join() && berta.join());
    co_await (anna.run_until(both) && berta.run_until(both));
    print(anna);
    print(berta);
    if (anna.held().size() + berta.held().size() != shards)
        throw std::runtime_error("not each shard once");

    std::size_t before = berta.held().size();
    co_await anna.stop();  // or its process dies
    names rest{"berta"};
    co_await berta.run_until(rest);
    print(berta);
    if (before == 0 || before == shards || berta.held().size() != shards)
        throw std::runtime_error("not all shards are berta's");
    co_await berta.stop();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
