// SPDX-License-Identifier: Apache-2.0
// What the tests of the client share: a server for the whole program, a root that may be a chroot,
// and a record of how an operation ended.
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
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace corozk::testing::client_tests {

using boost::asio::awaitable;
using boost::asio::cancellation_type;

inline server_options client_server_options() {
    server_options options;
    options.tick_time = std::chrono::milliseconds(200);
    options.java_properties = {"zookeeper.extendedTypesEnabled=true", containers_stay};
    return options;
}

/// Started at first use, stopped with the program.
inline server& the_server() {
    static server instance(client_server_options());
    return instance;
}

/// The folder that is the clients' root, such as "/app"; empty when the suite runs without one.
inline std::string chroot() {
    const char* text = std::getenv("COROZK_TEST_CHROOT");
    return text ? text : "";
}

/// The host list with the folder, which is created if it is missing.
inline std::string rooted(const std::string& hosts, server& at = the_server()) {
    if (!chroot().empty()) {
        admin hand(at.port());
        if (!hand.exists(chroot()))
            hand.plant(chroot());
    }
    return hosts + chroot();
}

inline std::string the_hosts() {
    return rooted(the_server().hosts());
}

/// A client's path as the server sees it.
inline std::string at_server(const std::string& path) {
    return path == "/" && !chroot().empty() ? chroot() : chroot() + path;
}

inline admin observer() {
    return admin(the_server().port());
}

/// Enough for a busy machine, short enough for a test of expiry.
constexpr std::chrono::milliseconds quiet_session_timeout{6'000};

/// For tests in which no heartbeat may come between their own requests.
constexpr std::chrono::milliseconds steady_session_timeout{60'000};

inline client_options quiet_options(
    std::string hosts, std::chrono::milliseconds session_timeout = quiet_session_timeout) {
    client_options options(std::move(hosts));
    options.session_timeout = session_timeout;
    options.logger.level = log_level::off;
    return options;
}

inline auto as_tuple() {
    return boost::asio::as_tuple(boost::asio::use_awaitable);
}

/// A path that no other test uses.
inline std::string fresh_path() {
    static std::atomic<int> number{0};
    return "/test-" + std::to_string(++number);
}

inline awaitable<client> connected_client(client_options options) {
    auto executor = co_await boost::asio::this_coro::executor;
    client zk = co_await client::connect(executor, options);
    co_return zk;
}

/// Runs a coroutine with a connected client and an existing, empty folder of its own; closes the
/// client, and sees that nothing is left to run.
template <class Body>
void with_client(Body body,
                 std::chrono::milliseconds limit = run_limit,
                 std::chrono::milliseconds session_timeout = quiet_session_timeout) {
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client zk = co_await connected_client(quiet_options(the_hosts(), session_timeout));
            std::string path = fresh_path();
            co_await zk.create(path);
            co_await body(zk, path);
            auto [ec] = co_await zk.close(as_tuple());
            CHECK_FALSE(ec);
        },
        limit);
    run_to_idle(context);
}

/// The same through a proxy: `body(zk, proxy, path)`.
template <class Body>
void with_proxy(Body body,
                client_options options = quiet_options(""),
                fault_proxy_options proxy_options = {},
                std::chrono::milliseconds limit = std::chrono::seconds(60)) {
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port(), proxy_options);
    run(
        context,
        [&]() -> awaitable<void> {
            options.hosts = rooted(proxy.hosts());
            client zk = co_await connected_client(options);
            std::string path = fresh_path();
            co_await zk.create(path);
            co_await body(zk, proxy, path);
            co_await zk.close(as_tuple());
        },
        limit);
    run_to_idle(context);
}

/// How an operation ended that was started with `handler()` as its token.
template <class Value = std::monostate>
class outcome {
public:
    /// A completion handler for `void(error_code)` and `void(error_code, Value)`.
    auto handler() {
        struct record {
            std::shared_ptr<shared> to;
            void operator()(error_code ec) { (*this)(ec, Value()); }
            void operator()(error_code ec, Value v) {
                ++to->calls;
                to->ec = ec;
                to->value = std::move(v);
            }
        };
        return boost::asio::bind_cancellation_slot(state_->signal.slot(), record{state_});
    }

    int calls() const { return state_->calls; }
    bool done() const { return state_->calls > 0; }
    error_code error() const { return state_->ec; }
    Value& value() { return state_->value; }
    void cancel(cancellation_type type) { state_->signal.emit(type); }

    /// Waits for the end.
    awaitable<error_code> wait() {
        co_await eventually_async(
            [this] { return done(); }, std::chrono::seconds(20), "an operation's end");
        co_return error();
    }

private:
    struct shared {
        int calls = 0;
        error_code ec;
        Value value{};
        boost::asio::cancellation_signal signal;
    };
    std::shared_ptr<shared> state_ = std::make_shared<shared>();
};

/// Waits until the client's state is this one.
inline awaitable<session_status> reach(client& zk, session_state wanted) {
    session_status status = zk.status();
    while (status.state != wanted)
        status = co_await zk.next_status(status);
    co_return status;
}

/// Adds each status from now on, until one has that state.
inline awaitable<void> record_until(client& zk,
                                    session_state wanted,
                                    std::vector<session_status>& seen) {
    session_status status = zk.status();
    while (status.state != wanted) {
        status = co_await zk.next_status(status);
        seen.push_back(status);
    }
}

/// Lets all that is ready to run on the executor do so, several times over.
inline awaitable<void> let_others_run(int times = 20) {
    auto executor = co_await boost::asio::this_coro::executor;
    for (int i = 0; i < times; ++i) {
        co_await boost::asio::post(executor, boost::asio::use_awaitable);
    }
}

/// The requests for these operations that were sent, in order.
inline std::vector<testing::op_code> sent(const fault_proxy& proxy,
                                          std::initializer_list<testing::op_code> of_interest) {
    std::vector<testing::op_code> found;
    for (const frame_record& r : proxy.log()) {
        const bool wanted =
            std::find(of_interest.begin(), of_interest.end(), r.frame.op) != of_interest.end();
        if (r.frame.way == direction::to_server && wanted)
            found.push_back(r.frame.op);
    }
    return found;
}

/// Another client changes the node's data to "new" while the connection is away.
/// @return a read that waited for the next connection, which may be made now
inline awaitable<outcome<node_data>> changed_while_away(client& zk,
                                                        fault_proxy& proxy,
                                                        std::string path) {
    proxy.set_acceptance(acceptance::not_listening);
    proxy.cut();
    co_await reach(zk, session_state::suspended);
    observer().set(at_server(path), "new");
    outcome<node_data> read;
    zk.get(path, read.handler());
    proxy.set_acceptance(acceptance::normal);
    co_return read;
}

/// Ends a session at the server, as if it had expired; the client's connection is cut, so that it
/// hears of it at once.
inline void expire_through(fault_proxy& proxy, server& at = the_server()) {
    session_record record = proxy.session();
    REQUIRE(expire_session(at.port(), record.session_id, record.password));
    proxy.cut_session(record.session_id);
}

}  // namespace corozk::testing::client_tests
