// SPDX-License-Identifier: Apache-2.0
// One leader among all instances runs the periodic job: here it counts, twice a second. When it
// ends, another instance continues.
#pragma once

#include "health.hpp"
#include "number.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <chrono>
#include <string>

namespace service {

class leader {
public:
    leader(corozk::client& zk, std::string name)
        : election_(zk, "/service/leader", corozk::election_options(std::move(name))) {}

    /// Campaigns and leads, forever. The body is cancelled when the leadership is lost.
    awaitable<void> lead(health::part& state) {
        co_await election_.get_leader();  // fails unless the election is reachable
        state.works();
        auto term = [&state](corozk::ownership& held) -> awaitable<void> {
            asio::steady_timer pause(co_await asio::this_coro::executor);
            for (;;) {
                co_await tick(held, state);
                pause.expires_after(std::chrono::milliseconds(500));
                co_await pause.async_wait(asio::use_awaitable);
            }
        };
        co_await election_.run(term);
    }

    awaitable<corozk::election_leader> next(corozk::election_leader seen) {
        corozk::election_leader now = co_await election_.next_leader(seen);
        co_return now;
    }

private:
    /// Does not resign because of errors that another leader would have as well: tries again.
    static awaitable<void> tick(corozk::ownership& held, health::part& state) {
        try {
            addition done = co_await add(held, "/service/ticks", 1);
            co_await held.commit(done.change);
            state.works();
        } catch (const not_a_number& e) {
            state.fails(e.what());
        }
    }

    corozk::election election_;
};

}  // namespace service
