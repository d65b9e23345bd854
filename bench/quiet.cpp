// SPDX-License-Identifier: Apache-2.0
#include "quiet.hpp"

#include "session_use.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace corozk::bench {

boost::asio::awaitable<void> until_quiet(const stage& s,
                                         const std::vector<client>& clients,
                                         int looks,
                                         std::function<void()> check) {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
    session_use seen;
    looks += static_cast<int>(s.lag() / quiet_interval);
    for (int still = 0; still < looks;) {
        timer.expires_after(quiet_interval);
        co_await timer.async_wait(boost::asio::use_awaitable);
        check();
        auto now = use_of(clients);
        bool same = now.on_their_way == 0 && now.requests == seen.requests &&
                    now.notifications == seen.notifications;
        still = same ? still + 1 : 0;
        seen = now;
    }
}

}  // namespace corozk::bench
