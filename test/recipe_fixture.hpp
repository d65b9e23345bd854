// SPDX-License-Identifier: Apache-2.0
// What the tests of several recipes share: a server for the whole program, and clients.
#pragma once

#include <corozk/client.hpp>
#include <corozk/testing/admin.hpp>
#include <corozk/testing/eventually.hpp>
#include <corozk/testing/fault_proxy.hpp>
#include <corozk/testing/four_letter.hpp>
#include <corozk/testing/run.hpp>
#include <corozk/testing/server.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>

namespace corozk::testing {

/// For servers of a test's own, where sessions shall end soon.
inline server_options recipe_server_options() {
    server_options options;
    options.tick_time = std::chrono::milliseconds(200);
    options.java_properties = {containers_stay};
    return options;
}

inline auto as_tuple() {
    return boost::asio::as_tuple(boost::asio::use_awaitable);
}

constexpr std::chrono::milliseconds usual_session_timeout{4'000};

/// For tests in which no session may end, and no heartbeat may come between their own requests.
constexpr std::chrono::milliseconds steady_session{30'000};

inline client_options options_for(
    std::string hosts, std::chrono::milliseconds session_timeout = usual_session_timeout) {
    client_options options(std::move(hosts));
    options.session_timeout = session_timeout;
    options.logger.level = log_level::off;
    return options;
}

/// A path that no other test uses.
inline std::string fresh_path() {
    static std::atomic<int> number{0};
    return "/test-" + std::to_string(++number);
}

/// Runs a coroutine with a connected client, closes it, and sees that nothing is left to run.
template <class Body>
void with_client(Body body,
                 std::chrono::milliseconds limit = run_limit,
                 std::chrono::milliseconds session_timeout = usual_session_timeout) {
    boost::asio::io_context context;
    run(
        context,
        [&]() -> boost::asio::awaitable<void> {
            client zk =
                co_await client::connect(co_await boost::asio::this_coro::executor,
                                         options_for(shared_server().hosts(), session_timeout));
            std::string path = fresh_path();
            co_await body(zk, path);
            co_await zk.close(as_tuple());
        },
        limit);
    run_to_idle(context);
}

/// The same through a proxy: `body(zk, proxy, path)`.
template <class Body>
void with_proxy(Body body,
                std::chrono::milliseconds limit = run_limit,
                std::chrono::milliseconds session_timeout = usual_session_timeout,
                bool allow_read_only = false) {
    boost::asio::io_context context;
    fault_proxy proxy(shared_server().port());
    run(
        context,
        [&]() -> boost::asio::awaitable<void> {
            client_options options = options_for(proxy.hosts(), session_timeout);
            options.allow_read_only = allow_read_only;
            client zk =
                co_await client::connect(co_await boost::asio::this_coro::executor, options);
            std::string path = fresh_path();
            co_await body(zk, proxy, path);
            co_await zk.close(as_tuple());
        },
        limit);
    run_to_idle(context);
}

}  // namespace corozk::testing
