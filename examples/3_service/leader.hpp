// SPDX-License-Identifier: Apache-2.0
// One leader among all instances runs the periodic job: here it counts, twice a second. When it goes,
// another instance goes on where it was.
#pragma once

#include <corozk.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <string>

namespace service {

namespace asio = boost::asio;
using asio::awaitable;

class leader {
public:
    leader(corozk::client& zk, std::string name)
        : election_(zk, "/service/leader", corozk::election_options(std::move(name))) {}

    /// Leads whenever it is its turn, for ever. The body is cancelled when the leadership is lost.
    awaitable<void> lead() {
        for (;;) {
            auto term = [](corozk::ownership& held) -> awaitable<void> {
                asio::steady_timer pause(co_await asio::this_coro::executor);
                for (;;) {
                    corozk::node_data ticks = co_await held.read("/service/ticks");
                    long next = ticks.data.empty() ? 1 : std::stol(ticks.data) + 1;
                    corozk::transaction change;
                    change.set("/service/ticks", std::to_string(next), ticks.stat.version);
                    co_await held.commit(change);
                    pause.expires_after(std::chrono::milliseconds(500));
                    co_await pause.async_wait(asio::use_awaitable);
                }
            };
            co_await election_.run(term);
        }
    }

    awaitable<corozk::election_leader> next(corozk::election_leader seen) {
        corozk::election_leader now = co_await election_.next_leader(seen);
        co_return now;
    }

private:
    corozk::election election_;
};

}  // namespace service
