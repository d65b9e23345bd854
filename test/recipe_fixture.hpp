// SPDX-License-Identifier: Apache-2.0
// What the tests of several recipes share: a server for the whole program, clients, and a loop that
// puts a fault at every frame.
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
    return options;
}

inline auto as_tuple() {
    return boost::asio::as_tuple(boost::asio::use_awaitable);
}

constexpr std::chrono::milliseconds usual_session_timeout{4'000};

inline client_options options_for(std::string hosts) {
    client_options options(std::move(hosts));
    options.session_timeout = usual_session_timeout;
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
void with_client(Body body, std::chrono::milliseconds limit = run_limit) {
    boost::asio::io_context context;
    run(
        context,
        [&]() -> boost::asio::awaitable<void> {
            client zk = co_await client::connect(co_await boost::asio::this_coro::executor,
                                                 options_for(shared_server().hosts()));
            std::string path = fresh_path();
            co_await body(zk, path);
            co_await zk.close(as_tuple());
        },
        limit);
    run_to_idle(context);
}

/// The same through a proxy: `body(zk, proxy, path)`.
template <class Body>
void with_proxy(Body body, std::chrono::milliseconds limit = run_limit) {
    boost::asio::io_context context;
    fault_proxy proxy(shared_server().port());
    run(
        context,
        [&]() -> boost::asio::awaitable<void> {
            client zk = co_await client::connect(co_await boost::asio::this_coro::executor,
                                                 options_for(proxy.hosts()));
            std::string path = fresh_path();
            co_await body(zk, proxy, path);
            co_await zk.close(as_tuple());
        },
        limit);
    run_to_idle(context);
}

/// What a scenario under faults gets.
struct fault_run {
    boost::asio::io_context& context;
    client& zk;  ///< through the proxy
    fault_proxy& proxy;
    std::string path;
    std::string fault;  ///< for messages
};

/// Runs a scenario once to count its requests, and then once for each request and each way to cut
/// the connection there. The scenario checks its own results.
template <class Scenario>
void cut_at_every_frame(Scenario scenario) {
    std::uint64_t frames = 0;
    auto attempt = [&](std::string fault, auto arm) {
        boost::asio::io_context context;
        fault_proxy proxy(shared_server().port());
        INFO("fault: " << fault);
        run(context, [&]() -> boost::asio::awaitable<void> {
            client zk = co_await client::connect(co_await boost::asio::this_coro::executor,
                                                 options_for(proxy.hosts()));
            proxy.reset_numbering();
            arm(proxy);
            fault_run the_run{context, zk, proxy, fresh_path(), fault};
            co_await scenario(the_run);
            frames = std::max(frames, proxy.requests());
            co_await zk.close(as_tuple());
        });
        run_to_idle(context);
    };
    attempt("none", [](fault_proxy&) {});
    std::uint64_t count = frames;
    REQUIRE(count > 0);
    for (std::uint64_t k = 1; k <= count; ++k) {
        std::string at = " at request " + std::to_string(k);
        attempt("request dropped" + at,
                [k](fault_proxy& p) { p.arm(at_request(k), drop_request_and_cut()); });
        attempt("answer swallowed" + at,
                [k](fault_proxy& p) { p.arm(at_request(k), swallow_reply_and_cut()); });
    }
}

/// The same, with the session expired at each request: the server ends it before that request.
template <class Scenario>
void expire_at_every_frame(Scenario scenario) {
    std::uint64_t frames = 0;
    auto attempt = [&](std::string fault, std::uint64_t k) {
        boost::asio::io_context context;
        fault_proxy proxy(shared_server().port());
        INFO("fault: " << fault);
        run(context, [&]() -> boost::asio::awaitable<void> {
            client zk = co_await client::connect(co_await boost::asio::this_coro::executor,
                                                 options_for(proxy.hosts()));
            proxy.reset_numbering();
            if (k > 0) {
                session_record session = proxy.session();
                proxy.arm(at_request(k), call_at_request([session](const frame_info&) {
                              raw_session_options victim;
                              victim.session_id = session.session_id;
                              victim.password = session.password;
                              try {
                                  raw_session(shared_server().port(), victim).close();
                              } catch (const std::exception&) {
                              }
                          }));
            }
            fault_run the_run{context, zk, proxy, fresh_path(), fault};
            co_await scenario(the_run);
            frames = std::max(frames, proxy.requests());
            co_await zk.close(as_tuple());
        });
        run_to_idle(context);
    };
    attempt("none", 0);
    std::uint64_t count = frames;
    for (std::uint64_t k = 1; k <= count; ++k) {
        attempt("session expired at request " + std::to_string(k), k);
    }
}

/// Calls `start(slot)`-like code with a signal that is emitted when request k has been answered
/// (and before the client knows). The scenario gets the signal's slot.
template <class Scenario>
void cancel_at_every_frame(Scenario scenario) {
    std::uint64_t frames = 0;
    auto attempt = [&](std::string fault, std::uint64_t k) {
        boost::asio::io_context context;
        fault_proxy proxy(shared_server().port());
        INFO("fault: " << fault);
        auto cancel = std::make_shared<boost::asio::cancellation_signal>();
        run(context, [&]() -> boost::asio::awaitable<void> {
            client zk = co_await client::connect(co_await boost::asio::this_coro::executor,
                                                 options_for(proxy.hosts()));
            proxy.reset_numbering();
            if (k > 0) {
                proxy.arm(at_request(k), call_at_reply([&context, cancel](const frame_info&) {
                              boost::asio::post(context, [cancel] {
                                  cancel->emit(boost::asio::cancellation_type::terminal);
                              });
                          }));
            }
            fault_run the_run{context, zk, proxy, fresh_path(), fault};
            co_await scenario(the_run, cancel->slot());
            frames = std::max(frames, proxy.requests());
            co_await zk.close(as_tuple());
        });
        run_to_idle(context);
    };
    attempt("none", 0);
    std::uint64_t count = frames;
    for (std::uint64_t k = 1; k <= count; ++k) {
        attempt("cancelled at request " + std::to_string(k), k);
    }
}

}  // namespace corozk::testing
