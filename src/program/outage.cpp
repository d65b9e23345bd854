// SPDX-License-Identifier: Apache-2.0
#include "outage.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace corozk::program {

namespace asio = boost::asio;

namespace {

asio::awaitable<void> is_connected(client& zk) {
    session_status status = zk.status();
    while (status.state != session_state::connected)
        status = co_await zk.next_state(status);
}

}  // namespace

asio::awaitable<void> connected_or_late(client& zk, std::chrono::steady_clock::time_point until) {
    using namespace asio::experimental::awaitable_operators;
    auto tuple = asio::as_tuple(asio::use_awaitable);
    auto executor = co_await asio::this_coro::executor;
    // A server that comes and goes is not asked in a circle.
    asio::steady_timer pause(executor, std::chrono::milliseconds(100));
    co_await pause.async_wait(tuple);
    asio::steady_timer late(executor, until);
    ending<void> connected;
    auto first = co_await (run_to_end<void>(is_connected(zk), connected) || late.async_wait(tuple));
    if (first.index() == 1)
        throw boost::system::system_error(errc::not_connected);
    connected.take();
}

bool is_outage(const error_code& ec) noexcept {
    return is_recoverable(ec) || ec == zk_errc::session_expired || ec == errc::not_connected;
}

asio::awaitable<void> connected_again(surroundings& here,
                                      std::chrono::steady_clock::time_point until) {
    co_await here.interrupts.race<void>(connected_or_late(here.zk, until));
}

}  // namespace corozk::program
