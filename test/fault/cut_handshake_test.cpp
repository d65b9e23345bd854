// SPDX-License-Identifier: Apache-2.0
// What happens before there is a session, TLS and SASL, ends at each byte of it: the client goes on with
// its next attempt. Or it stops there, and connecting is cancelled.
#include "pending_result.hpp"
#include "recipe_fixture.hpp"
#include "sasl_server.hpp"
#include "tls/tls_front.hpp"
#include <corozk/client.hpp>
#include <corozk/testing/stream_proxy.hpp>
#include <corozk/version.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

namespace corozk::testing::cut_handshake_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;
using boost::asio::awaitable;

namespace {

/// Of a connection, behind so many bytes.
struct place {
    direction way;
    std::size_t after;
};

std::string to_text(const place& where) {
    return (where.way == direction::to_server ? "to the server, after " : "to the client, after ") +
           std::to_string(where.after) + " bytes";
}

/// Within so many bytes: everywhere at first, then in steps.
std::vector<std::size_t> offsets(std::size_t bytes, std::size_t everywhere, std::size_t step) {
    std::vector<std::size_t> result;
    for (std::size_t at = 0; at < bytes; at += at < everywhere ? 1 : step)
        result.push_back(at);
    result.push_back(bytes - 1);
    return result;
}

/// Those of what passes on a connection until a client is connected that `choose(bytes)` takes, in both
/// directions.
template <class Choose>
awaitable<std::vector<place>> places(const stream_proxy& proxy,
                                     client_options options,
                                     Choose choose) {
    {
        // A client of DIGEST-MD5 sends more if one of its process has authenticated itself before.
        client first = co_await client::connect(co_await boost::asio::this_coro::executor, options);
        co_await first.close();
    }
    std::size_t connections = 0;
    std::size_t up = 0;
    std::size_t down = 0;
    // A busy server may not serve the first one in time.
    while (connections != 1) {
        connections = proxy.connections();
        up = proxy.passed(direction::to_server);
        down = proxy.passed(direction::to_client);
        client zk = co_await client::connect(co_await boost::asio::this_coro::executor, options);
        connections = proxy.connections() - connections;
        up = proxy.passed(direction::to_server) - up;
        down = proxy.passed(direction::to_client) - down;
        co_await zk.close();
    }
    UNSCOPED_INFO(up << " bytes to the server, " << down << " to the client");
    std::vector<place> result;
    for (std::size_t after : choose(up))
        result.push_back({direction::to_server, after});
    for (std::size_t after : choose(down))
        result.push_back({direction::to_client, after});
    co_return result;
}

/// No attempt ends by itself within the time of the test.
client_options without_time_limits(client_options options, const stream_proxy& proxy) {
    options.hosts = proxy.hosts();
    options.session_timeout = 600s;
    options.connect_timeout = 0ms;
    return options;
}

/// Cuts the client's first connection, and one that it makes after the loss of another.
awaitable<void> survive(stream_proxy& proxy, client_options options, place where) {
    INFO(to_text(where));
    const auto [way, after] = where;
    const cut_style how = after % 2 == 1 ? cut_style::reset : cut_style::orderly;
    std::size_t connections = proxy.connections();
    std::size_t cuts = proxy.cuts();
    client zk(co_await boost::asio::this_coro::executor, std::move(options));
    proxy.cut_next(way, after, how);
    error_code connected = boost::asio::error::in_progress;
    zk.connect([&](error_code ec) { connected = ec; });
    auto [early, root] = co_await zk.get("/", as_tuple());
    CHECK_FALSE(early);
    CHECK_FALSE(connected);
    CHECK(proxy.cuts() == cuts + 1);
    CHECK(proxy.connections() == connections + 2);

    session_status before = zk.status();
    proxy.cut_next(way, after, how);
    proxy.cut();
    session_status lost = co_await zk.next_status(before);
    CHECK(lost.state == session_state::suspended);
    auto [late, data] = co_await zk.get("/", as_tuple());
    CHECK_FALSE(late);
    CHECK(zk.session_id() == before.session_id);
    CHECK(proxy.cuts() == cuts + 2);
    // A busy server may read the request of the connection that was cut after that of the next one,
    // which it then closes, as both are of the same session.
    CHECK(proxy.connections() >= connections + 4);
    CHECK(proxy.connections() <= connections + 5);
    co_await zk.close();
}

void survives_everywhere(const client_options& settings,
                         std::uint16_t port,
                         std::size_t everywhere,
                         std::size_t step) {
    // When an attempt has failed at one, the client tries the other one at once.
    stream_proxy proxy(2);
    proxy.forward_to(port);
    const client_options options = without_time_limits(settings, proxy);
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            auto choose = [&](std::size_t bytes) { return offsets(bytes, everywhere, step); };
            const auto all = co_await places(proxy, options, choose);
            for (const place& where : all)
                co_await survive(proxy, options, where);
        },
        180s);
    run_to_idle(context);
}

/// Cancels connecting when the connection has fallen silent. The client connects afterwards.
awaitable<void> cancel_at(stream_proxy& proxy, client_options options, place where) {
    const std::size_t cuts = proxy.cuts();
    client zk(co_await boost::asio::this_coro::executor, std::move(options));
    pending_result<> connecting;
    proxy.silence_next(where.way, where.after);
    zk.connect(connecting.handler());
    co_await eventually_async([&] { return proxy.cuts() > cuts; });
    CHECK(connecting.calls() == 0);
    const std::size_t connections = proxy.connections();
    connecting.cancel();
    const error_code ec = co_await finished(connecting);
    CHECK(ec == boost::asio::error::operation_aborted);
    CHECK(zk.state() == session_state::closed);
    CHECK(proxy.connections() == connections);
    co_await zk.connect();
    co_await zk.get("/");
    CHECK(connecting.calls() == 1);
    co_await zk.close();
}

/// At so many places in each direction.
void can_be_cancelled(const client_options& settings, std::uint16_t port, std::size_t many) {
    stream_proxy proxy;
    proxy.forward_to(port);
    const client_options options = without_time_limits(settings, proxy);
    std::vector<place> all;
    boost::asio::io_context measuring;
    run(measuring, [&]() -> awaitable<void> {
        auto choose = [&](std::size_t bytes) { return offsets(bytes, 0, bytes / many + 1); };
        all = co_await places(proxy, options, choose);
    });
    for (const place& where : all) {
        INFO(to_text(where));
        boost::asio::io_context context;
        run(context, [&]() -> awaitable<void> { co_await cancel_at(proxy, options, where); });
        // Nothing is left behind.
        run_to_idle(context);
    }
}

}  // namespace

TEST_CASE("a connection that ends within the TLS handshake: the next attempt is made") {
    if (!has_tls())
        return;
    client_options options = options_for("");
    options.tls = tls_front::trusted();
    tls_front any(shared_server().port());
    survives_everywhere(options, any.port(), 64, 61);
    tls_front older(shared_server().port(), tls_front::version::only_1_2);
    survives_everywhere(options, older.port(), 1, 97);
}

TEST_CASE("a connection that ends within the SASL authentication: the next attempt is made") {
    if (!has_sasl())
        return;
    sasl_server secure;
    survives_everywhere(secure.options("ann", "ann"), secure.instance.port(), 10'000, 1);
}

TEST_CASE("a TLS handshake that has stopped at any byte: connecting can be cancelled") {
    if (!has_tls())
        return;
    client_options options = options_for("");
    options.tls = tls_front::trusted();
    tls_front any(shared_server().port());
    can_be_cancelled(options, any.port(), 15);
    tls_front older(shared_server().port(), tls_front::version::only_1_2);
    can_be_cancelled(options, older.port(), 15);
}

TEST_CASE("a SASL authentication that has stopped at any byte: connecting can be cancelled") {
    if (!has_sasl())
        return;
    sasl_server secure;
    can_be_cancelled(secure.options("ann", "ann"), secure.instance.port(), 30);
}

}  // namespace corozk::testing::cut_handshake_test
