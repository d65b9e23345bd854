// SPDX-License-Identifier: Apache-2.0
#include "systems/lease_keeper.hpp"

#include "systems/etcd_api.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;
constexpr auto keeper_result = asio::as_tuple(asio::use_awaitable);

}  // namespace

struct lease_keeper::state {
    state(const asio::any_io_executor& executor,
          std::uint16_t port,
          std::int64_t l,
          std::chrono::milliseconds duration)
        : api(executor, port),
          timer(executor),
          ended(executor, asio::steady_timer::time_point::max()),
          lease(l),
          pause(duration / 3) {}

    etcd_api api;
    asio::steady_timer timer;
    asio::steady_timer ended;
    std::int64_t lease;
    std::chrono::milliseconds pause;
    bool lost = false;
    bool closed = false;
};

lease_keeper::lease_keeper(const asio::any_io_executor& executor,
                           std::uint16_t port,
                           std::int64_t lease,
                           std::chrono::milliseconds duration)
    : state_(std::make_shared<state>(executor, port, lease, duration)) {
    asio::co_spawn(executor, renew(state_), asio::detached);
}

lease_keeper::~lease_keeper() {
    state_->closed = true;
    state_->timer.cancel();
    state_->api.close();
}

asio::awaitable<void> lease_keeper::renew(std::shared_ptr<state> s) {
    try {
        while (!s->closed) {
            s->timer.expires_after(s->pause);
            co_await s->timer.async_wait(keeper_result);
            if (!s->closed)
                co_await s->api.keep_lease_alive(s->lease);
        }
    } catch (const std::exception&) {
    }
    s->lost = true;
    s->ended.cancel();
}

asio::awaitable<void> lease_keeper::until_lost() {
    auto s = state_;
    while (!s->lost)
        co_await s->ended.async_wait(keeper_result);
}

bool lease_keeper::lost() const {
    return state_->lost;
}

}  // namespace corozk::bench
