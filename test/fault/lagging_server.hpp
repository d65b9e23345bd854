// SPDX-License-Identifier: Apache-2.0
// A server that lags behind the one of the session before.
#pragma once

#include "lag_behind.hpp"
#include "pending_result.hpp"

#include <string>

namespace corozk::testing {

/// Ends the session, and waits for the next one, whose server lags behind.
inline boost::asio::awaitable<void> next_session_lags(client& zk,
                                                      fault_proxy& proxy,
                                                      std::string folder) {
    const std::int64_t before = zk.session_id();
    lag_behind(proxy, std::move(folder));
    expire(proxy.session());
    co_await eventually_async(
        [&] { return zk.state() == session_state::connected && zk.session_id() != before; },
        std::chrono::seconds(20),
        "the next session");
}

}  // namespace corozk::testing
