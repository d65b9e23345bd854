// SPDX-License-Identifier: Apache-2.0
// What one instance of the service does, whoever asks: accounts under named locks, a queue of jobs, a
// periodic job of the elected leader, and who is there.
#pragma once

#include <corozk.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace service {

namespace asio = boost::asio;
using asio::awaitable;

class node {
public:
    node(corozk::client& zk, std::string name, std::string address)
        : zk_(zk),
          name_(std::move(name)),
          address_(std::move(address)),
          jobs_(zk, "/service/jobs"),
          group_(zk, "/service/members"),
          leadership_(zk, "/service/leader", corozk::election_options(name_)) {}

    /// Makes the folders, and joins the group.
    awaitable<void> begin() {
        co_await zk_.ensure_path("/service/accounts");
        co_await zk_.ensure_path("/service/ticks");
        co_await group_.join(name_, address_);
    }

    awaitable<void> end() { co_await group_.leave(); }

    /// A request that does work under a named lock: no two of them, wherever they run, work on one
    /// account at once; and what a late owner writes is refused.
    awaitable<long> deposit(std::string account, long amount) {
        corozk::lock lock(zk_, "/service/locks/" + account);
        std::string path = "/service/accounts/" + account;
        long balance = 0;
        auto body = [&](corozk::ownership& held) -> awaitable<void> {
            // Sees what the previous owner wrote.
            auto [ec, before] = co_await held.read(path, asio::as_tuple(asio::use_awaitable));
            if (ec && ec != corozk::zk_errc::no_node)
                throw boost::system::system_error(ec);
            balance = ec ? amount : std::stol(before.data) + amount;
            corozk::transaction change;
            if (ec)
                change.create(path, std::to_string(balance));
            else
                change.set(path, std::to_string(balance), before.stat.version);
            co_await held.commit(change);
        };
        co_await lock.run(body);
        co_return balance;
    }

    awaitable<void> put_job(std::string text) { co_await jobs_.put(std::move(text)); }

    /// Takes jobs, for ever: "ACCOUNT AMOUNT". A job is gone when it is done, and not before.
    awaitable<void> work_on_jobs() {
        for (;;) {
            corozk::queue_claim claim = co_await jobs_.consume();
            std::string text = claim.data();
            auto space = text.find(' ');
            if (space != std::string::npos)
                co_await deposit(text.substr(0, space), std::atol(text.c_str() + space + 1));
            co_await claim.acknowledge();
            ++done_;
        }
    }

    /// One leader among all instances counts, twice a second. When it goes, another one goes on.
    awaitable<void> lead() {
        for (;;) {
            auto term = [this](corozk::ownership& held) -> awaitable<void> {
                asio::steady_timer pause(co_await asio::this_coro::executor);
                for (;;) {
                    corozk::node_data ticks = co_await held.read("/service/ticks");
                    corozk::transaction next;
                    next.set("/service/ticks", std::to_string(std::atol(ticks.data.c_str()) + 1));
                    co_await held.commit(next);
                    pause.expires_after(std::chrono::milliseconds(500));
                    co_await pause.async_wait(asio::use_awaitable);
                }
            };
            co_await leadership_.run(term);
        }
    }

    /// Everything that the status page shows.
    awaitable<boost::json::object> status() {
        corozk::election_leader leader = co_await leadership_.leader();
        std::vector<corozk::member_info> members = co_await group_.members();
        std::size_t waiting = co_await jobs_.size();
        corozk::node_data ticks = co_await zk_.get("/service/ticks");
        boost::json::array list;
        for (const auto& m : members) {
            boost::json::object row;
            row["name"] = m.name;
            row["address"] = m.data;
            row["leader"] = m.name == leader.identity;
            list.push_back(std::move(row));
        }
        boost::json::object result;
        result["self"] = name_;
        result["session"] = boost::json::string(corozk::to_string(zk_.state()));
        result["members"] = std::move(list);
        result["waiting"] = waiting;
        result["done"] = done_;
        result["ticks"] = std::atol(ticks.data.c_str());
        co_return result;
    }

    bool healthy() const { return zk_.state() == corozk::session_state::connected; }

    std::string metrics() const {
        corozk::prometheus_sample sample(zk_.counters(), zk_.status(), {{"instance", name_}});
        return corozk::prometheus_text({&sample, 1});
    }

private:
    corozk::client& zk_;
    std::string name_;
    std::string address_;
    corozk::queue jobs_;
    corozk::membership group_;
    corozk::election leadership_;
    std::uint64_t done_ = 0;
};

}  // namespace service
