// SPDX-License-Identifier: Apache-2.0
// What tests of connecting share: a client with options of its own, and how one is refused.
#pragma once

#include <corozk/client.hpp>
#include <corozk/testing/run.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <string>

namespace corozk::testing {

/// Runs a coroutine with a client that these options connect, closes it, and sees that nothing is left
/// to run.
template <class Body>
void with_client(const client_options& options, Body body, std::chrono::milliseconds limit) {
    boost::asio::io_context context;
    run(
        context,
        [&]() -> boost::asio::awaitable<void> {
            client zk =
                co_await client::connect(co_await boost::asio::this_coro::executor, options);
            co_await body(zk);
            co_await zk.close(boost::asio::as_tuple(boost::asio::use_awaitable));
        },
        limit);
    run_to_idle(context);
}

struct refusal {
    error_code ec;
    std::string log;
};

/// Connects where nobody can, and sees that it ends and leaves nothing behind.
inline refusal refused(client_options options, std::chrono::milliseconds limit = run_limit) {
    using steady = std::chrono::steady_clock;
    refusal result;
    options.logger = logger(log_level::warning, [&](log_level, std::string_view text) {
        result.log += std::string(text) + "\n";
    });
    boost::asio::io_context context;
    run(
        context,
        [&]() -> boost::asio::awaitable<void> {
            constexpr auto token = boost::asio::as_tuple(boost::asio::use_awaitable);
            auto executor = co_await boost::asio::this_coro::executor;
            client zk(executor, options);
            CHECK(zk.state() == session_state::idle);
            auto started = steady::now();
            auto [ec] = co_await zk.connect(token);
            auto took =
                std::chrono::duration_cast<std::chrono::milliseconds>(steady::now() - started);
            WARN(options.hosts << ": " << ec.message() << " (after " << took.count()
                               << " ms, allowed " << options.connect_timeout.count() << " ms)");
            result.ec = ec;
            CHECK(zk.state() == session_state::closed);
            CHECK(zk.status().reason == ec);
            auto [later, data] = co_await zk.get("/", token);
            CHECK(later == errc::closed);
            auto [closed] = co_await zk.close(token);
            CHECK_FALSE(closed);
        },
        limit);
    run_to_idle(context);
    return result;
}

}  // namespace corozk::testing
