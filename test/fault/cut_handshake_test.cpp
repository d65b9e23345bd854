// SPDX-License-Identifier: Apache-2.0
// What happens before there is a session, TLS and SASL, ends at each byte of it: the client goes on with
// its next attempt.
#include "recipe_fixture.hpp"
#include "sasl_server.hpp"
#include "tls/tls_front.hpp"
#include <corozk/client.hpp>
#include <corozk/testing/stream_proxy.hpp>
#include <corozk/version.hpp>

#include <catch2/catch.hpp>

#include <vector>

namespace corozk::testing::cut_handshake_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;
using boost::asio::awaitable;

namespace {

/// Where to cut what has so many bytes: everywhere at first, then in steps.
std::vector<std::size_t> places(std::size_t bytes, std::size_t everywhere, std::size_t step) {
    std::vector<std::size_t> result;
    for (std::size_t at = 0; at < bytes; at += at < everywhere ? 1 : step)
        result.push_back(at);
    result.push_back(bytes - 1);
    return result;
}

/// Cuts the client's first connection, and one that it makes after the loss of another.
awaitable<void> survive(stream_proxy& proxy,
                        client_options options,
                        direction way,
                        std::size_t after) {
    INFO((way == direction::to_server ? "to the server, after " : "to the client, after ")
         << after << " bytes");
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

void survives_everywhere(client_options options,
                         std::uint16_t port,
                         std::size_t everywhere,
                         std::size_t step) {
    // One attempt that is waited for in vain takes longer than the test may.
    options.session_timeout = 600s;
    options.connect_timeout = 0ms;
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            // When an attempt has failed at one, the client tries the other one at once.
            stream_proxy proxy(2);
            proxy.forward_to(port);
            options.hosts = proxy.hosts();
            client zk =
                co_await client::connect(co_await boost::asio::this_coro::executor, options);
            const std::size_t up = proxy.passed(direction::to_server);
            const std::size_t down = proxy.passed(direction::to_client);
            co_await zk.close();
            UNSCOPED_INFO(up << " bytes to the server, " << down << " to the client");
            for (std::size_t after : places(up, everywhere, step))
                co_await survive(proxy, options, direction::to_server, after);
            for (std::size_t after : places(down, everywhere, step))
                co_await survive(proxy, options, direction::to_client, after);
        },
        180s);
    run_to_idle(context);
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

}  // namespace corozk::testing::cut_handshake_test
