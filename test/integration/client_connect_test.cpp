// SPDX-License-Identifier: Apache-2.0
// Connecting, closing, and the session's state: each bad input gives its own error within the time
// allowed, and nothing is left behind.
// ctest: CHROOT
#include "client_fixture.hpp"
#include "connecting.hpp"
#include "early_operations.hpp"
#include <corozk/client.hpp>
#include <corozk/testing/port.hpp>
#include <corozk/version.hpp>

#include <boost/asio/steady_timer.hpp>

#include <catch2/catch.hpp>

#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace corozk::testing::client_tests::client_connect_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

/// Accepts connections (the kernel does) and never says a word.
class silent_listener {
public:
    silent_listener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* generic = reinterpret_cast<sockaddr*>(&address);
        bool good = ::bind(socket_, generic, size) == 0 && ::listen(socket_, 64) == 0 &&
                    ::getsockname(socket_, generic, &size) == 0;
        if (!good)
            throw std::runtime_error("cannot listen");
        port_ = ntohs(address.sin_port);
    }
    ~silent_listener() { ::close(socket_); }
    silent_listener(const silent_listener&) = delete;
    silent_listener& operator=(const silent_listener&) = delete;

    std::string hosts() const { return "127.0.0.1:" + std::to_string(port_); }

private:
    int socket_;
    std::uint16_t port_ = 0;
};

/// Time enough for a server to accept a connection, and for a session where nothing is wrong, on a busy
/// machine, too.
constexpr std::chrono::milliseconds ample{3'000};

client_options hasty_options(std::string hosts, std::chrono::milliseconds connect_timeout = 700ms) {
    client_options options = quiet_options(std::move(hosts));
    options.connect_timeout = connect_timeout;
    return options;
}

/// A client that tries to connect where nobody listens yet, for ever.
template <class Body>
void with_nobody_there(Body body) {
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port());
    proxy.set_acceptance(acceptance::not_listening);
    run(context, [&]() -> awaitable<void> {
        client_options options = quiet_options(rooted(proxy.hosts()));
        options.session_timeout = 30s;
        options.queue_timeout = 3s;
        options.connect_timeout = 0ms;
        client zk(co_await boost::asio::this_coro::executor, options);
        outcome<> connecting;
        zk.connect(connecting.handler());
        early_operations asked(zk, fresh_path());
        co_await body(zk, proxy, asked);
        co_await zk.close(as_tuple());
    });
    run_to_idle(context);
}

awaitable<void> all_ended(const early_operations& asked) {
    try {
        co_await eventually_async([&] { return asked.waiting().empty(); });
    } catch (const timeout_error&) {
        for (const std::string& operation : asked.waiting())
            FAIL_CHECK(operation << " has not ended");
    }
}

void check_all(const early_operations& asked, const error_code& expected) {
    for (const auto& [operation, ec] : asked.answers()) {
        INFO(operation << ": " << ec.message());
        CHECK(ec == expected);
    }
}

}  // namespace

TEST_CASE("connect: malformed host lists are refused at once, in words") {
    for (std::string hosts : {"",
                              ",",
                              "a:0",
                              "a:65536",
                              "a:port",
                              ":2181",
                              "a b:1",
                              "::1:2181",
                              "a:2181/",
                              "a:2181/x/",
                              "/app"}) {
        if (hosts == "a:2181/")
            continue;  // the root itself is fine
        INFO("hosts \"" << hosts << "\"");
        boost::asio::io_context context;
        std::string log;
        run(context, [&]() -> awaitable<void> {
            client_options options(hosts);
            options.connect_timeout = 0ms;  // even for ever
            options.logger =
                logger(log_level::error, [&](log_level, std::string_view text) { log += text; });
            auto executor = co_await boost::asio::this_coro::executor;
            client zk(executor, options);
            auto [ec] = co_await zk.connect(as_tuple());
            CHECK(ec == errc::bad_host_list);
            CHECK_THAT(log, Contains("host list \"" + hosts + "\""));
            try {
                co_await client::connect(executor, options);
                FAIL("no error");
            } catch (const error& e) {
                CHECK(e.code() == errc::bad_host_list);
                CHECK(e.operation() == "connect");
                CHECK(e.path() == hosts);
            }
        });
        run_to_idle(context);
    }
}

TEST_CASE("connect: options that make no sense are refused at once") {
    std::vector<std::pair<std::string, client_options>> cases;
    auto with = [&](std::string name, auto change) {
        client_options options = quiet_options("127.0.0.1:1");
        change(options);
        cases.emplace_back(name, options);
    };
    with("session_timeout", [](client_options& o) { o.session_timeout = 0ms; });
    with("session_timeout", [](client_options& o) { o.session_timeout = -1ms; });
    with("session_timeout", [](client_options& o) { o.session_timeout = 99ms; });
    with("session_timeout", [](client_options& o) { o.session_timeout = std::chrono::hours(999); });
    with("connect_timeout", [](client_options& o) { o.connect_timeout = -1ms; });
    with("close_timeout", [](client_options& o) { o.close_timeout = -1ms; });
    with("queue_timeout", [](client_options& o) { o.queue_timeout = -1ms; });
    with("max_request_size", [](client_options& o) { o.max_request_size = 1000; });
    with("auth", [](client_options& o) { o.auth.emplace_back("", "carol:secret"); });
    for (auto& [name, options] : cases) {
        INFO(name);
        refusal r = refused(options);
        CHECK(r.ec == errc::bad_option);
        CHECK_THAT(r.log, Contains(name));
    }
}

TEST_CASE("connect: TLS and SASL without settings, or without a library that has them") {
    client_options tls = quiet_options("127.0.0.1:1");
    tls.tls.emplace();
    refusal r = refused(tls);
    CHECK(r.ec == (has_tls() ? errc::bad_option : errc::not_supported));
    CHECK_THAT(r.log, Contains(has_tls() ? "ca_file" : "TLS was requested"));
    client_options sasl = quiet_options("127.0.0.1:1");
    sasl.sasl.emplace();
    r = refused(sasl);
    CHECK(r.ec == (has_sasl() ? errc::bad_option : errc::not_supported));
    CHECK_THAT(r.log, Contains(has_sasl() ? "password_file" : "SASL was requested"));
}

TEST_CASE("connect: no server at the address") {
    port_reservation nobody;
    refusal r = refused(hasty_options("127.0.0.1:" + std::to_string(nobody.port())));
    CHECK(r.ec == errc::no_server);
    CHECK_THAT(r.log, Contains("is ZooKeeper running there"));
}

TEST_CASE("connect: a name that cannot be resolved") {
    refusal r = refused(hasty_options("no-such-host.invalid:2181"));
    CHECK(r.ec == errc::host_not_found);
    CHECK_THAT(r.log, Contains("no-such-host.invalid"));
}

TEST_CASE("connect: a server that never answers") {
    silent_listener listener;
    refusal r = refused(hasty_options(listener.hosts(), ample));
    CHECK(r.ec == errc::server_silent);
    // Among several, the one that accepted is what to look at.
    port_reservation nobody;
    refusal mixed = refused(
        hasty_options("127.0.0.1:" + std::to_string(nobody.port()) + "," + listener.hosts()));
    bool either = mixed.ec == errc::server_silent || mixed.ec == errc::no_server;
    CHECK(either);
}

TEST_CASE("connect: a server that hangs up at once, or that is stopped") {
    fault_proxy proxy(the_server().port());
    proxy.set_acceptance(acceptance::close_at_once);
    refusal hung_up = refused(hasty_options(proxy.hosts()));
    bool either = hung_up.ec == errc::server_silent || hung_up.ec == errc::no_server;
    CHECK(either);
    proxy.set_acceptance(acceptance::normal);
    proxy.black_hole(true);
    refusal stopped = refused(hasty_options(proxy.hosts(), ample));
    CHECK(stopped.ec == errc::server_silent);
}

TEST_CASE("connect: a folder that does not exist") {
    the_hosts();
    refusal r = refused(quiet_options(the_server().hosts() + "/no-such-folder/at-all"));
    CHECK(r.ec == errc::chroot_missing);
    CHECK_THAT(r.log, Contains("\"/no-such-folder/at-all\"") && Contains("create it first"));
    CHECK_THAT(r.log, Contains("it has no node /no-such-folder/at-all"));
}

TEST_CASE("connect: silent and dead servers do not keep us from one that works") {
    silent_listener silent;
    port_reservation nobody;
    std::string others = silent.hosts() + ",127.0.0.1:" + std::to_string(nobody.port()) +
                         ",no-such-host.invalid:2181,";
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        for (int i = 0; i < 3; ++i) {
            client zk = co_await connected_client(quiet_options(others + the_hosts()));
            co_await zk.get("/");
            co_await zk.close();
        }
    });
    run_to_idle(context);
}

namespace {

/// Takes no connection and refuses none, as an address behind a firewall: what a listener does whose
/// queue is full.
class dead_address {
public:
    dead_address() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* generic = reinterpret_cast<sockaddr*>(&address);
        bool good = ::bind(socket_, generic, size) == 0 && ::listen(socket_, 0) == 0 &&
                    ::getsockname(socket_, generic, &size) == 0;
        if (!good)
            throw std::runtime_error("cannot listen");
        port_ = ntohs(address.sin_port);
        for (int& filler : fillers_) {
            filler = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
            static_cast<void>(::connect(filler, generic, size));
        }
    }
    ~dead_address() {
        for (int filler : fillers_)
            ::close(filler);
        ::close(socket_);
    }
    dead_address(const dead_address&) = delete;
    dead_address& operator=(const dead_address&) = delete;

    std::string hosts() const { return "127.0.0.1:" + std::to_string(port_); }

private:
    int socket_;
    std::array<int, 4> fillers_{};
    std::uint16_t port_ = 0;
};

server& server_of_both_families() {
    server_options options = client_server_options();
    options.config_lines = {"clientPortAddress=::"};
    static server instance(options);
    return instance;
}

}  // namespace

TEST_CASE("connect: IPv6, alone and among others, whatever is wrong with these") {
    server& both = server_of_both_families();
    std::string port = ":" + std::to_string(both.port());
    std::string good = "[::1]" + port;
    port_reservation nobody;
    std::string refused_port = ":" + std::to_string(nobody.port());
    std::vector<std::string> lists = {
        good,
        "[0:0:0:0:0:0:0:1]" + port,
        "[::ffff:127.0.0.1]" + port,
        "127.0.0.1" + port + "," + good,
        "127.0.0.1" + refused_port + "," + good,
        "[::1]" + refused_port + ",127.0.0.1" + port,
        "[fe80::1]" + port + "," + good,
        "[fe80::1%no-such-interface]" + port + "," + good,
        "no-such-host.invalid:1,[2001:db8::1]" + port + "," + good,
        "255.255.255.255" + port + ",0.0.0.0:1," + good,
    };
    boost::asio::io_context context;
    for (const std::string& list : lists) {
        INFO(list);
        run(context, [&]() -> awaitable<void> {
            for (int i = 0; i < 4; ++i) {  // in several orders
                client zk = co_await connected_client(quiet_options(rooted(list, both)));
                co_await zk.get("/");
                co_await zk.close();
            }
        });
        run_to_idle(context);
    }
}

TEST_CASE("connect: a session moves between IPv4 and IPv6") {
    server& both = server_of_both_families();
    fault_proxy proxy(both.port());
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connected_client(quiet_options(rooted(proxy.hosts(), both)));
        co_await zk.close();
        client_options options =
            quiet_options(rooted(proxy.hosts() + ",[::1]:" + std::to_string(both.port()), both));
        for (int i = 0; i < 30; ++i) {
            zk = co_await connected_client(options);
            if (proxy.session().session_id == zk.session_id())
                break;
            co_await zk.close();
        }
        std::int64_t id = zk.session_id();
        session_status status = zk.status();
        proxy.set_acceptance(acceptance::not_listening);
        proxy.cut();
        co_await zk.next_status(status);
        co_await reach(zk, session_state::connected);
        CHECK(zk.session_id() == id);
        co_await zk.get("/");
        co_await zk.close();
    });
    run_to_idle(context);
}

TEST_CASE("connect: addresses without an answer cost their share of the time allowed") {
    dead_address one, two;
    boost::asio::io_context context;
    the_hosts();
    run(context, [&]() -> awaitable<void> {
        for (int i = 0; i < 4; ++i) {
            client_options options =
                quiet_options(one.hosts() + "," + two.hosts() + "," + the_hosts());
            // A third of it is what the good one has at least.
            options.connect_timeout = 6s;
            options.session_timeout = 20s;
            client zk = co_await connected_client(options);
            co_await zk.close();
        }
    });
    run_to_idle(context);
}

TEST_CASE("connect: the log says of each server and name why not") {
    port_reservation nobody;
    std::string refused_port = std::to_string(nobody.port());
    silent_listener silent;
    client_options options =
        quiet_options("[::1]:" + refused_port + ",127.0.0.1:" + refused_port + "," +
                      silent.hosts() + ",[fe80::1]:1,no-such-host.invalid:2181");
    options.connect_timeout = 5s;
    refusal r = refused(options);
    CHECK_THAT(r.log, Contains("[::1]:" + refused_port + ": Connection refused"));
    CHECK_THAT(r.log, Contains("127.0.0.1:" + refused_port + ": Connection refused"));
    CHECK_THAT(r.log, Contains(silent.hosts() + ": it accepted the connection"));
    CHECK_THAT(r.log, Contains("fe80::1: a link-local address needs"));
    CHECK_THAT(r.log, Contains("no-such-host.invalid: "));
    CHECK_THAT(r.log, !Contains("No such file"));
}

TEST_CASE("connect: again after a failure, and again when it is connected") {
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port());
    proxy.set_acceptance(acceptance::not_listening);
    run(context, [&]() -> awaitable<void> {
        auto executor = co_await boost::asio::this_coro::executor;
        // The calls that succeed have no other timeout than the one that fails.
        client zk(executor, hasty_options(rooted(proxy.hosts()), ample));
        auto [failed] = co_await zk.connect(as_tuple());
        CHECK(failed == errc::no_server);
        proxy.set_acceptance(acceptance::normal);
        co_await zk.connect();
        co_await zk.connect();
        CHECK(zk.state() == session_state::connected);
        CHECK(zk.generation() == 1);
        co_await zk.get("/");
        co_await zk.close();
        co_await zk.connect();
        CHECK(zk.generation() == 2);
        co_await zk.get("/");
        co_await zk.close();
    });
    run_to_idle(context);
}

TEST_CASE("connect: several calls wait for the same session") {
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        auto executor = co_await boost::asio::this_coro::executor;
        client zk(executor, quiet_options(the_hosts()));
        outcome<> one, two, three;
        zk.connect(one.handler());
        zk.connect(two.handler());
        zk.connect(three.handler());
        two.cancel(cancellation_type::terminal);
        error_code first = co_await one.wait();
        error_code second = co_await two.wait();
        error_code third = co_await three.wait();
        CHECK_FALSE(first);
        CHECK(second == boost::asio::error::operation_aborted);
        CHECK_FALSE(third);
        CHECK(zk.state() == session_state::connected);
        co_await zk.close();
    });
    run_to_idle(context);
}

TEST_CASE("connect: before the first session, too, each call has its own time") {
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port());
    proxy.set_acceptance(acceptance::not_listening);
    run(context, [&]() -> awaitable<void> {
        auto executor = co_await boost::asio::this_coro::executor;
        client zk(executor, hasty_options(rooted(proxy.hosts()), 8s));
        outcome<> first, second;
        zk.connect(first.handler());
        boost::asio::steady_timer later(executor, 6s);
        co_await later.async_wait(boost::asio::use_awaitable);
        zk.connect(second.handler());
        SECTION("the first one ends at its time") {
            error_code ec = co_await first.wait();
            CHECK(ec == errc::no_server);
        }
        SECTION("the first one is cancelled") {
            first.cancel(cancellation_type::terminal);
            error_code ec = co_await first.wait();
            CHECK(ec == boost::asio::error::operation_aborted);
            later.expires_after(2s + 50ms);  // as long as it would have had
            co_await later.async_wait(boost::asio::use_awaitable);
        }
        CHECK_FALSE(second.done());
        proxy.set_acceptance(acceptance::normal);
        error_code ec = co_await second.wait();
        CHECK_FALSE(ec);
        co_await zk.close();
    });
    run_to_idle(context);
}

TEST_CASE("connect: who has had a session goes on, however a later call ends") {
    constexpr std::chrono::seconds time_for_each{5};
    client_options options = hasty_options("", time_for_each);
    // While it is suspended one call takes its time and fails, and the next one finds the session alive.
    options.session_timeout = 2 * time_for_each + 2s;
    with_proxy(
        [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            for (session_state without : {session_state::suspended, session_state::lost}) {
                proxy.set_acceptance(acceptance::not_listening);
                proxy.cut();
                co_await reach(zk, without);
                outcome<> cancelled, late;
                zk.connect(cancelled.handler());
                cancelled.cancel(cancellation_type::terminal);
                zk.connect(late.handler());
                error_code ec = co_await cancelled.wait();
                CHECK(ec == boost::asio::error::operation_aborted);
                ec = co_await late.wait();
                CHECK(ec == errc::no_server);
                CHECK(zk.state() != session_state::closed);
                outcome<> patient;
                zk.connect(patient.handler());
                proxy.set_acceptance(acceptance::normal);
                ec = co_await patient.wait();
                CHECK_FALSE(ec);
                co_await zk.exists(path);
            }
            CHECK(zk.generation() == 2);
            // Once it was closed it has no session until the next.
            co_await zk.close();
            proxy.set_acceptance(acceptance::not_listening);
            outcome<> connecting;
            zk.connect(connecting.handler());
            auto [closed] = co_await zk.close(as_tuple());
            CHECK_FALSE(closed);
            error_code ec = co_await connecting.wait();
            CHECK(ec == errc::closed);
        },
        options);
}

TEST_CASE("connect: waits for a server that comes later") {
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port());
    proxy.set_acceptance(acceptance::not_listening);
    run(context, [&]() -> awaitable<void> {
        auto executor = co_await boost::asio::this_coro::executor;
        client_options options = quiet_options(rooted(proxy.hosts()));
        options.connect_timeout = 0ms;
        std::string log;
        options.logger = logger(log_level::debug, [&](log_level, std::string_view text) {
            log += std::string(text) + "\n";
        });
        client zk(executor, options);
        outcome<> connecting;
        zk.connect(connecting.handler());
        CHECK(zk.state() == session_state::connecting);
        // What is started meanwhile waits for the connection.
        outcome<std::optional<corozk::stat>> early;
        zk.exists("/", early.handler());
        co_await eventually_async([&] { return log.find("refused") != log.npos; });
        CHECK_FALSE(connecting.done());
        CHECK_FALSE(early.done());
        proxy.set_acceptance(acceptance::normal);
        error_code ec = co_await connecting.wait();
        CHECK_FALSE(ec);
        ec = co_await early.wait();
        CHECK_FALSE(ec);
        co_await zk.close();
    });
    run_to_idle(context);
}

TEST_CASE("state: seen without missing a change") {
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port());
    run(context, [&]() -> awaitable<void> {
        auto executor = co_await boost::asio::this_coro::executor;
        client zk(executor, quiet_options(rooted(proxy.hosts())));
        session_status idle = zk.status();
        CHECK(idle.state == session_state::idle);
        CHECK(idle.generation == 0);
        CHECK(idle.session_id == 0);
        CHECK(zk.negotiated_timeout() == 0ms);
        outcome<session_status> next;
        zk.next_status(idle, next.handler());
        co_await let_others_run();
        CHECK_FALSE(next.done());
        outcome<> connecting;
        zk.connect(connecting.handler());
        co_await next.wait();
        CHECK(next.value().state == session_state::connecting);
        co_await connecting.wait();
        session_status now = zk.status();
        CHECK(now.state == session_state::connected);
        CHECK(now.generation == 1);
        CHECK(now.session_id == proxy.session().session_id);
        CHECK(now.negotiated_timeout == 6'000ms);
        CHECK(zk.session_id() == now.session_id);
        CHECK(zk.negotiated_timeout() == 6'000ms);
        CHECK_FALSE(now.reason);
        // What was seen long ago differs already.
        session_status at_once = co_await zk.next_status(idle);
        CHECK(at_once.revision == now.revision);

        proxy.cut();
        session_status suspended = co_await zk.next_status(now);
        CHECK(suspended.state == session_state::suspended);
        session_status again = co_await zk.next_status(suspended);
        CHECK(again.state == session_state::connected);
        CHECK(again.generation == 1);
        CHECK(again.session_id == now.session_id);
        CHECK(zk.counters().connects == 2);

        co_await zk.close();
        session_status closed = co_await zk.next_status(again);
        CHECK(closed.state == session_state::closed);
        CHECK(closed.reason == errc::closed);
        auto [over, last] = co_await zk.next_status(closed, as_tuple());
        CHECK(over == errc::closed);
        CHECK(last.state == session_state::closed);
    });
    run_to_idle(context);
}

TEST_CASE("state: the session's timeout is what the server grants") {
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        client_options options = quiet_options(the_hosts());
        options.session_timeout = 200ms;
        client zk = co_await connected_client(options);
        // Two ticks are the least.
        CHECK(zk.negotiated_timeout() == 400ms);
        co_await zk.close(as_tuple());  // so short a session may be over by then
    });
    run_to_idle(context);
}

TEST_CASE("generation: a new session after the old one was expired, or the end if so configured") {
    for (bool renew : {true, false}) {
        boost::asio::io_context context;
        fault_proxy proxy(the_server().port());
        run(context, [&]() -> awaitable<void> {
            client_options options = quiet_options(rooted(proxy.hosts()));
            options.renew_session = renew;
            client zk = co_await connected_client(options);
            std::int64_t first = zk.session_id();
            std::string path = fresh_path();
            create_options fleeting;
            fleeting.mode = create_mode::ephemeral;
            co_await zk.create(path, "", fleeting);
            watched_data watched = co_await zk.watch_data(path);
            std::vector<session_state> seen;
            session_status status = zk.status();
            expire_through(proxy);
            for (;;) {
                auto [ec, next] = co_await zk.next_status(status, as_tuple());
                if (ec)
                    break;
                status = next;
                seen.push_back(status.state);
                if (status.generation == 2)
                    break;
            }
            auto [dropped, event] = co_await watched.changed.next(as_tuple());
            CHECK(dropped == zk_errc::session_expired);
            CHECK(zk.counters().expirations == 1);
            CHECK_FALSE(observer().exists(at_server(path)));
            if (renew) {
                CHECK(seen == std::vector{session_state::suspended,
                                          session_state::lost,
                                          session_state::connected});
                CHECK(zk.session_id() != first);
                co_await zk.create(path, "", fleeting);
                co_await zk.close();
            } else {
                CHECK(seen.back() == session_state::closed);
                CHECK(zk.status().reason == zk_errc::session_expired);
                auto [ec, node] = co_await zk.get("/", as_tuple());
                CHECK(ec == errc::closed);
            }
        });
        run_to_idle(context);
    }
}

TEST_CASE("close: of a client that was moved from") {
    // Its handlers come by way of the system's threads, which may still be in the context when the
    // last one has run: it outlives them.
    static boost::asio::io_context& context = *new boost::asio::io_context;
    run(context, []() -> awaitable<void> {
        client zk;
        auto [ec] = co_await zk.close(as_tuple());
        CHECK_FALSE(ec);
        CHECK(zk.state() == session_state::closed);
        auto [refused, node] = co_await zk.get("/", as_tuple());
        CHECK(refused == errc::closed);
        auto [not_connected] = co_await zk.connect(as_tuple());
        CHECK(not_connected == errc::closed);
        auto [no_state, status] = co_await zk.next_status(session_status(), as_tuple());
        CHECK(no_state == errc::closed);
    });
}

TEST_CASE("close: in every state") {
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port());
    run(context, [&]() -> awaitable<void> {
        auto executor = co_await boost::asio::this_coro::executor;
        client_options options = quiet_options(rooted(proxy.hosts()));
        SECTION("idle") {
            client zk(executor, options);
            outcome<session_status> next;
            zk.next_status(zk.status(), next.handler());
            auto [early, node] = co_await zk.get("/", as_tuple());
            CHECK(early == errc::closed);
            auto [ec] = co_await zk.close(as_tuple());
            CHECK_FALSE(ec);
            CHECK(zk.state() == session_state::closed);
            co_await next.wait();
            CHECK(next.value().state == session_state::closed);
        }
        SECTION("connecting") {
            proxy.black_hole(true);
            client zk(executor, options);
            outcome<> connecting;
            outcome<node_data> queued;
            zk.connect(connecting.handler());
            zk.get("/", queued.handler());
            co_await eventually_async([&] { return proxy.statistics().connections_open > 0; });
            auto [ec] = co_await zk.close(as_tuple());
            CHECK_FALSE(ec);
            error_code stopped = co_await connecting.wait();
            CHECK(stopped == errc::closed);
            error_code refused = co_await queued.wait();
            CHECK(refused == errc::closed);
        }
        SECTION("connected, with operations under way and watches pending") {
            client zk = co_await connected_client(options);
            watched_data watched = co_await zk.watch_data("/");
            std::vector<outcome<node_data>> reads(50);
            outcome<watch_event> event;
            watched.changed.next(event.handler());
            for (auto& read : reads)
                zk.get("/", read.handler());
            outcome<> first, second;
            zk.close(first.handler());
            zk.close(second.handler());
            CHECK(zk.state() == session_state::closed);
            error_code ec = co_await first.wait();
            CHECK_FALSE(ec);
            ec = co_await second.wait();
            CHECK_FALSE(ec);
            error_code dropped = co_await event.wait();
            CHECK(dropped == errc::closed);
            for (auto& read : reads) {
                error_code end = co_await read.wait();
                bool answered_or_not_sent = !end || end == errc::closed;
                CHECK(answered_or_not_sent);
                CHECK(read.calls() == 1);
            }
            auto [again] = co_await zk.close(as_tuple());
            CHECK_FALSE(again);
        }
        SECTION("suspended") {
            client zk = co_await connected_client(options);
            proxy.set_acceptance(acceptance::not_listening);
            proxy.cut();
            co_await reach(zk, session_state::suspended);
            outcome<node_data> queued;
            zk.get("/", queued.handler());
            auto [ec] = co_await zk.close(as_tuple());
            CHECK(ec == errc::session_left_to_expire);
            error_code refused = co_await queued.wait();
            CHECK(refused == errc::closed);
            auto [again] = co_await zk.close(as_tuple());
            CHECK(again == errc::session_left_to_expire);
            proxy.set_acceptance(acceptance::normal);
            co_await zk.connect();
            auto [confirmed] = co_await zk.close(as_tuple());
            CHECK_FALSE(confirmed);
        }
        SECTION("the connection goes while the last answers are awaited") {
            options.close_timeout = 60s;  // longer than anybody waits here: it is known at once
            client zk = co_await connected_client(options);
            outcome<node_data> read;
            rule_id rule = proxy.arm(at_op(testing::op_code::get_data), hold_request());
            zk.get("/", read.handler());
            co_await eventually_async([&] { return proxy.fired(rule) == 1; });
            outcome<> closing;
            zk.close(closing.handler());
            co_await let_others_run();
            CHECK_FALSE(closing.done());
            proxy.cut();
            error_code ec = co_await closing.wait();
            CHECK(ec == errc::session_left_to_expire);
            error_code lost = co_await read.wait();
            CHECK(lost == zk_errc::connection_loss);
            CHECK(is_outcome_unknown(lost));
        }
        SECTION("the connection goes instead of the answer to the closing request") {
            options.close_timeout = 60s;
            client zk = co_await connected_client(options);
            proxy.arm(at_op(testing::op_code::close_session), swallow_reply_and_cut());
            auto [ec] = co_await zk.close(as_tuple());
            CHECK(ec == errc::session_left_to_expire);
        }
        SECTION("the credentials are refused while the last answers are awaited") {
            client zk = co_await connected_client(options);
            outcome<> auth;
            rule_id rule = proxy.arm(at_op(testing::op_code::auth), hold_request());
            zk.add_auth("no-such-scheme", "x", auth.handler());
            co_await eventually_async([&] { return proxy.fired(rule) == 1; });
            outcome<> closing;
            zk.close(closing.handler());
            co_await let_others_run();
            CHECK_FALSE(closing.done());
            proxy.release(rule);
            error_code ec = co_await closing.wait();
            CHECK(ec == errc::session_left_to_expire);
            error_code refused = co_await auth.wait();
            CHECK(refused == zk_errc::auth_failed);
        }
        SECTION("the server is silent") {
            options.close_timeout = 300ms;
            client zk = co_await connected_client(options);
            proxy.black_hole(true);
            outcome<node_data> read;
            zk.get("/", read.handler());
            auto [ec] = co_await zk.close(as_tuple());
            CHECK(ec == errc::session_left_to_expire);
            CHECK(zk.state() == session_state::closed);
            error_code lost = co_await read.wait();
            bool unknown_or_not_sent = lost == zk_errc::connection_loss || lost == errc::closed;
            CHECK(unknown_or_not_sent);
        }
        co_return;
    });
    run_to_idle(context);
}

TEST_CASE("the first connection: every operation waits for it") {
    with_nobody_there(
        [](client& zk, fault_proxy& proxy, early_operations& asked) -> awaitable<void> {
            asked.ask_all();
            // For longer than an operation waits for the next connection.
            boost::asio::steady_timer timer(zk.get_executor(), 3'500ms);
            co_await timer.async_wait(boost::asio::use_awaitable);
            CHECK(zk.state() == session_state::connecting);
            CHECK(asked.ended() == 0);
            check_all(asked, error_code());
            proxy.set_acceptance(acceptance::normal);
            co_await all_ended(asked);
            check_all(asked, error_code());
        });
}

TEST_CASE("the first connection: until the operation's deadline") {
    with_nobody_there([](client& zk, fault_proxy&, early_operations& asked) -> awaitable<void> {
        asked.ask_limited(100ms);
        co_await all_ended(asked);
        check_all(asked, errc::deadline_exceeded);
        CHECK(zk.state() == session_state::connecting);
    });
}

TEST_CASE("the first connection: until the client is closed") {
    with_nobody_there([](client& zk, fault_proxy&, early_operations& asked) -> awaitable<void> {
        asked.ask_all();
        asked.ask_limited(1h);
        co_await let_others_run();
        CHECK(asked.ended() == 0);
        co_await zk.close();
        co_await all_ended(asked);
        check_all(asked, errc::closed);
    });
}

TEST_CASE("the first connection: until the client gives up, or if it was never told to connect") {
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port());
    proxy.set_acceptance(acceptance::not_listening);
    run(context, [&]() -> awaitable<void> {
        client_options options = hasty_options(rooted(proxy.hosts()));
        client zk(co_await boost::asio::this_coro::executor, options);
        early_operations too_early(zk, fresh_path());
        too_early.ask_all();
        too_early.ask_limited(1h);
        co_await all_ended(too_early);
        check_all(too_early, errc::closed);
        outcome<> connecting;
        zk.connect(connecting.handler());
        early_operations asked(zk, fresh_path());
        asked.ask_all();
        asked.ask_limited(1h);
        co_await all_ended(asked);
        check_all(asked, errc::closed);
        CHECK(co_await connecting.wait() == errc::no_server);
    });
    run_to_idle(context);
}

TEST_CASE("queue: an operation waits for a connection only as long as it may") {
    client_options options = quiet_options("");
    options.queue_timeout = 200ms;
    with_proxy(
        [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            proxy.set_acceptance(acceptance::not_listening);
            proxy.cut();
            co_await reach(zk, session_state::suspended);
            auto [ec, made] = co_await zk.create(path + "/a", "", create_options(), as_tuple());
            CHECK(ec == errc::not_connected);
            CHECK_FALSE(is_outcome_unknown(ec));
            CHECK_FALSE(is_session_lost(ec));
            outcome<created_node> second;
            proxy.set_acceptance(acceptance::normal);
            co_await reach(zk, session_state::connected);
            auto there = co_await zk.exists(path + "/a");
            CHECK_FALSE(there);
        },
        options);
}

TEST_CASE("log: what happens to the session, the C client's lines, and no credentials") {
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port());
    std::string log;
    std::size_t from_c = 0;
    run(context, [&]() -> awaitable<void> {
        client_options options = quiet_options(rooted(proxy.hosts()));
        options.auth.emplace_back("digest", "carol:very-secret");
        options.logger = logger(log_level::debug, [&](log_level, std::string_view text) {
            log += std::string(text) + "\n";
            if (text.starts_with("c client: "))
                ++from_c;
            CHECK_FALSE(text.ends_with("\n"));
        });
        client zk = co_await connected_client(options);
        co_await zk.add_auth("digest", "carol:another-secret");
        proxy.cut();
        co_await reach(zk, session_state::suspended);
        co_await reach(zk, session_state::connected);
        co_await zk.close();
    });
    run_to_idle(context);
    CHECK_THAT(log,
               Contains("session connected at 127.0.0.1:") && Contains("session suspended") &&
                   Contains("session closed"));
    CHECK(from_c > 0);
    CHECK_THAT(log, !Contains("secret"));
}

}  // namespace corozk::testing::client_tests::client_connect_test
