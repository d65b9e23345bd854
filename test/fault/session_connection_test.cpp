// SPDX-License-Identifier: Apache-2.0
// Connections that break, stand still or come back, and sessions that end: what the client says of
// it, and what it does.
#include "client_fixture.hpp"
#include <corozk/client.hpp>
#include <corozk/recipe/membership.hpp>
#include <corozk/testing/port.hpp>
#include <corozk/testing/process_guard.hpp>
#include <corozk/testing/temporary_directory.hpp>
#include <corozk/testing/wire_lie.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <netinet/in.h>
#include <optional>
#include <set>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace corozk::testing::client_tests::session_connection_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;
using boost::asio::co_spawn;
using boost::asio::detached;
using boost::asio::use_awaitable;
using boost::asio::ip::tcp;
using wire = corozk::testing::op_code;

namespace {

/// Runs something that blocks on another thread, so that the client goes on meanwhile.
template <class Function>
awaitable<void> in_background(Function& f) {
    auto done = std::async(std::launch::async, [&f] { f(); });
    co_await eventually_async([&] { return done.wait_for(0s) == std::future_status::ready; },
                              60s,
                              "the end of a function on another thread");
    done.get();
}

create_options ephemeral() {
    create_options options;
    options.mode = create_mode::ephemeral;
    return options;
}

/// The states that the client went through until `last`, which is waited for.
class history {
public:
    explicit history(client& zk) : status_(zk.status()) {}

    awaitable<void> follow(client& zk, session_state last) {
        do {
            status_ = co_await zk.next_status(status_);
            states.push_back(status_.state);
        } while (status_.state != last);
    }

    std::vector<session_state> states;

private:
    session_status status_;
};

}  // namespace

TEST_CASE("connect: a call made while another one waits has its own time") {
    server mine(client_server_options());
    fault_proxy proxy(mine.port());
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client_options options = quiet_options(proxy.hosts());
            options.session_timeout = 60s;
            options.connect_timeout = 8s;
            client zk = co_await connected_client(options);
            proxy.set_acceptance(acceptance::not_listening);
            proxy.cut();
            co_await reach(zk, session_state::suspended);
            outcome<> first;
            outcome<> second;
            zk.connect(first.handler());
            boost::asio::steady_timer gap(zk.get_executor(), 6s);
            co_await gap.async_wait(use_awaitable);
            zk.connect(second.handler());
            error_code ec = co_await first.wait();
            CHECK(ec == errc::no_server);
            proxy.set_acceptance(acceptance::normal);
            ec = co_await second.wait();
            CHECK_FALSE(ec);
            co_await zk.close();
        },
        60s);
    run_to_idle(context);
}

TEST_CASE("server killed and restarted: the session, its nodes and its watches survive") {
    server mine(client_server_options());
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client_options options = quiet_options(mine.hosts());
            options.session_timeout = 60s;
            client zk = co_await connected_client(options);
            std::int64_t id = zk.session_id();
            co_await zk.create("/a", "1");
            co_await zk.create("/e", "", ephemeral());
            watched_data on_data = co_await zk.watch_data("/a");
            watched_children on_children = co_await zk.watch_children("/a");
            watched_stat on_none = co_await zk.watch_exists("/none");
            mine.kill();
            co_await reach(zk, session_state::suspended);
            outcome<node_data> queued;
            zk.get("/a", queued.handler());
            auto restart = [&] { mine.restart(); };
            co_await in_background(restart);
            co_await reach(zk, session_state::connected);
            error_code ec = co_await queued.wait();
            CHECK_FALSE(ec);
            CHECK(zk.session_id() == id);
            CHECK(zk.generation() == 1);
            auto e = co_await zk.exists("/e");
            REQUIRE(e);
            CHECK(e->ephemeral_owner == id);
            CHECK(on_data.changed.pending());
            admin hand(mine.port());
            hand.set("/a", "2");
            hand.plant("/a/b");
            hand.plant("/none");
            watch_event event = co_await on_data.changed.next();
            CHECK(event.type == watch_event_type::data_changed);
            event = co_await on_children.changed.next();
            CHECK(event.type == watch_event_type::children_changed);
            event = co_await on_none.changed.next();
            CHECK(event.type == watch_event_type::created);
            co_await zk.close();
        },
        120s);
    run_to_idle(context);
}

TEST_CASE("black hole shorter than the timeout: suspended, then connected, the same session") {
    client_options options = quiet_options("");
    options.session_timeout = 30s;
    with_proxy(
        [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            std::int64_t id = zk.session_id();
            co_await zk.create(path + "/e", "", ephemeral());
            watched_data w = co_await zk.watch_data(path);
            history h(zk);
            // The silence is noticed by the client; the cut only makes it happen sooner.
            proxy.black_hole(true);
            proxy.cut();
            co_await h.follow(zk, session_state::suspended);
            observer().set(at_server(path), "changed meanwhile");
            proxy.black_hole(false);
            co_await h.follow(zk, session_state::connected);
            CHECK(h.states == std::vector{session_state::suspended, session_state::connected});
            CHECK(zk.session_id() == id);
            CHECK(zk.generation() == 1);
            auto there = co_await zk.exists(path + "/e");
            CHECK(there);
            // The change that happened in between is not missed.
            co_await w.changed.next();
        },
        options);
}

TEST_CASE(
    "black hole longer than the timeout: lost without the server's word, then a new session") {
    client_options options = quiet_options("");
    options.session_timeout = 12s;
    with_proxy(
        [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            co_await zk.create(path + "/e", "", ephemeral());
            watched_data w = co_await zk.watch_data(path);
            std::int64_t id = zk.session_id();
            outcome<watch_event> event;
            w.changed.next(event.handler());
            history h(zk);
            proxy.black_hole(true);
            outcome<node_data> unanswered;
            zk.get(path, unanswered.handler());
            co_await h.follow(zk, session_state::lost);
            // The hole is still there: nobody told us.
            CHECK(zk.status().reason == zk_errc::session_expired);
            CHECK(zk.generation() == 1);
            CHECK(zk.counters().expirations == 1);
            error_code lost = co_await unanswered.wait();
            bool gone = lost == zk_errc::connection_loss || lost == zk_errc::session_expired;
            CHECK(gone);
            error_code dropped = co_await event.wait();
            CHECK(dropped == zk_errc::session_expired);
            proxy.black_hole(false);
            co_await h.follow(zk, session_state::connected);
            CHECK(zk.generation() == 2);
            CHECK(zk.session_id() != id);
            CHECK(h.states == std::vector{session_state::suspended,
                                          session_state::lost,
                                          session_state::connected});
            // The old session ends at the server, too.
            admin hand = observer();
            co_await eventually_async([&] { return !hand.exists(at_server(path + "/e")); }, 30s);
        },
        options);
}

TEST_CASE("expired by a second handle: known when it is not answered any more") {
    client_options options = quiet_options("");
    options.session_timeout = 4000ms;
    with_proxy(
        [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            co_await zk.create(path + "/e", "", ephemeral());
            session_status before = zk.status();
            session_record record = proxy.session();
            REQUIRE(expire_session(the_server().port(), record.session_id, record.password));
            session_status status = before;
            while (status.state != session_state::lost)
                status = co_await zk.next_status(status);
            CHECK(status.reason == zk_errc::session_expired);
            while (status.generation != 2)
                status = co_await zk.next_status(status);
            CHECK_FALSE(observer().exists(at_server(path + "/e")));
            co_await zk.create(path + "/e", "", ephemeral());
        },
        options);
}

TEST_CASE("a chroot is verified again if the connection is lost meanwhile") {
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port());
    bool applied = GENERATE(true, false);
    proxy.arm(at_op(wire::exists), applied ? swallow_reply_and_cut() : drop_request_and_cut());
    run(
        context,
        [&]() -> awaitable<void> {
            client_options options = quiet_options(rooted(proxy.hosts()) + fresh_path());
            client zk(co_await boost::asio::this_coro::executor, options);
            auto [ec] = co_await zk.connect(as_tuple());
            CHECK(ec == errc::chroot_missing);
            co_await zk.close(as_tuple());
        },
        run_limit);
    run_to_idle(context);
}

TEST_CASE("a chroot counts as found only if the server says so") {
    admin hand = observer();
    if (!hand.exists("/verified"))
        hand.plant("/verified");
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port());
    std::atomic<std::int32_t> error{0};
    std::atomic<int> checks{0};
    // The first answers are an error only.
    proxy.edit(direction::to_client, [&](const frame_info& frame, std::string bytes) {
        if (frame.op != wire::exists || ++checks > 2)
            return bytes;
        const auto code = static_cast<std::uint32_t>(error.load());
        bytes.resize(20);
        bytes.replace(0, 4, std::string("\0\0\0\x10", 4));
        for (std::size_t i = 0; i < 4; ++i)
            bytes[16 + i] = static_cast<char>(code >> (24 - 8 * i));
        return bytes;
    });
    auto connecting = [&](std::string path, std::int32_t first) {
        error = first;
        checks = 0;
        error_code result;
        run(
            context,
            [&]() -> awaitable<void> {
                const client_options options = quiet_options(proxy.hosts() + path);
                client zk(co_await boost::asio::this_coro::executor, options);
                std::tie(result) = co_await zk.connect(as_tuple());
                co_await zk.close(as_tuple());
            },
            run_limit);
        run_to_idle(context);
        context.restart();
        return result;
    };
    const auto connections = [&] { return proxy.statistics().connections_accepted; };
    auto so_far = connections();
    SECTION("throttled: it is asked again") {
        CHECK(connecting("/none", -127) == errc::chroot_missing);
        CHECK(checks == 3);
        CHECK_FALSE(connecting("/verified", -127));
        CHECK(checks == 3);
        CHECK(connections() == so_far + 2);
    }
    SECTION("another error: on another connection") {
        CHECK(connecting("/none", -5) == errc::chroot_missing);
        CHECK(checks == 3);
        CHECK(connections() == so_far + 3);
    }
    SECTION("no right to see it") {
        CHECK_FALSE(connecting("/verified", -102));
        CHECK(checks == 1);
        CHECK(connections() == so_far + 1);
    }
}

namespace {

/// Gives a session, confirms its end, and leaves the connection open until the client has closed it.
awaitable<void> end_without_hanging_up(tcp::acceptor& acceptor) {
    tcp::socket client = co_await acceptor.async_accept(use_awaitable);
    const std::string session =
        std::string("\0\0\0\x25\0\0\0\0\0\0\x75\x30\0\0\0\0\0\0\0\x01\0\0\0\x10", 24) +
        std::string(17, '\0');
    const std::string end = std::string("\0\0\0\x10", 4) + std::string(16, '\0');
    // Behind the last one the client closes the connection.
    const std::vector<std::string> responses{session, end, ""};
    for (const std::string& response : responses) {
        std::string size(4, ' ');
        auto [over, n] =
            co_await boost::asio::async_read(client, boost::asio::buffer(size), as_tuple());
        if (over)
            co_return;
        std::string request(static_cast<unsigned char>(size[3]), ' ');
        co_await boost::asio::async_read(client, boost::asio::buffer(request), use_awaitable);
        co_await boost::asio::async_write(client, boost::asio::buffer(response), use_awaitable);
    }
}

}  // namespace

TEST_CASE("close: a server whose responses take long ends the session") {
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port());
    run(context, [&]() -> awaitable<void> {
        client_options options = quiet_options(rooted(proxy.hosts()));
        options.session_timeout = 10s;
        options.close_timeout = 15s;
        client zk = co_await connected_client(options);
        proxy.set_delay(direction::to_client, 1200ms);
        co_await zk.exists("/");
        auto [ec] = co_await zk.close(as_tuple());
        CHECK_FALSE(ec);
    });
    run_to_idle(context);
}

TEST_CASE("close: a server that confirms it, but keeps the connection, has ended the session") {
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        tcp::acceptor acceptor(context, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
        co_spawn(context, end_without_hanging_up(acceptor), detached);
        const std::string port = std::to_string(acceptor.local_endpoint().port());
        client zk = co_await connected_client(quiet_options("127.0.0.1:" + port));
        auto [ec] = co_await zk.close(as_tuple());
        CHECK_FALSE(ec);
    });
    run_to_idle(context);
}

TEST_CASE("answer lost, request dropped: both are outcome unknown, and the session goes on") {
    for (bool applied : {true, false}) {
        with_proxy([applied](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            if (applied) {
                proxy.arm(at_op(wire::create2), swallow_reply_and_cut());
            } else {
                proxy.arm(at_op(wire::create2), drop_request_and_cut());
            }
            auto [ec, made] = co_await zk.create(path + "/a", "x", create_options(), as_tuple());
            CHECK(ec == zk_errc::connection_loss);
            CHECK(is_outcome_unknown(ec));
            CHECK(is_recoverable(ec));
            CHECK_FALSE(is_session_lost(ec));
            co_await reach(zk, session_state::connected);
            auto there = co_await zk.exists(path + "/a");
            CHECK(there.has_value() == applied);
            CHECK(zk.generation() == 1);
            CHECK(zk.counters().connection_losses >= 1);
        });
    }
}

TEST_CASE("cut at every request: each operation ends once, with an answer or unknown") {
    auto scenario = [](client& zk, std::string path) -> awaitable<void> {
        // Everything started at once, so that what is behind the cut is on its way, too.
        std::vector<outcome<corozk::stat>> writes(8);
        std::vector<outcome<node_data>> reads(8);
        std::vector<outcome<std::vector<read_result>>> snapshots(8);
        for (std::size_t i = 0; i < writes.size(); ++i) {
            zk.set(path, std::to_string(i), any_version, writes[i].handler());
            zk.get(path, reads[i].handler());
            // Not by the C client.
            zk.read_all(read_set().get(path), snapshots[i].handler());
        }
        int known = -1;
        for (std::size_t i = 0; i < writes.size(); ++i) {
            error_code written = co_await writes[i].wait();
            error_code read = co_await reads[i].wait();
            error_code seen = co_await snapshots[i].wait();
            bool fine = (!written || written == zk_errc::connection_loss) &&
                        (!read || read == zk_errc::connection_loss) &&
                        (!seen || seen == zk_errc::connection_loss);
            CHECK(fine);
            CHECK(writes[i].calls() == 1);
            CHECK(reads[i].calls() == 1);
            CHECK(snapshots[i].calls() == 1);
            if (!written)
                known = static_cast<int>(i);
        }
        // What was confirmed is there, or something newer.
        std::string last = observer().data(at_server(path));
        CHECK((last.empty() ? -1 : std::stoi(last)) >= known);
        co_await reach(zk, session_state::connected);
        CHECK(zk.generation() == 1);
    };
    for (std::uint64_t k = 1; k <= 24; ++k) {
        for (auto fault : {drop_request_and_cut, swallow_reply_and_cut, cut_after_reply}) {
            INFO("request " << k);
            with_proxy([&](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
                proxy.reset_numbering();
                proxy.arm(at_request(k), fault());
                co_await scenario(zk, path);
            });
        }
    }
}

namespace {

/// One server behind two proxies, and an address between them at which nobody listens.
class two_ways {
public:
    explicit two_ways(std::chrono::milliseconds tick) : own_(with_tick(tick)) {}

    client_options options(std::chrono::milliseconds session_timeout) const {
        client_options o = quiet_options(
            one_.hosts() + ",127.0.0.1:" + std::to_string(nobody_.port()) + "," + two_.hosts());
        o.session_timeout = session_timeout;
        return o;
    }

    /// The one that dies is the first and the second by turns; the client has to find the other one.
    awaitable<void> change(client& zk, int turn, acceptance dead_accepts, bool dead_is_silent) {
        fault_proxy& dead = turn % 2 == 0 ? one_ : two_;
        fault_proxy& fine = turn % 2 == 0 ? two_ : one_;
        std::int64_t id = zk.session_id();
        fine.set_acceptance(acceptance::normal);
        fine.black_hole(false);
        dead.set_acceptance(dead_accepts);
        dead.black_hole(dead_is_silent);
        dead.cut();
        // It may have been at the other one.
        co_await eventually_async([&] { return fine.statistics().connections_open == 1; }, 20s);
        co_await reach(zk, session_state::connected);
        co_await zk.sync();
        CHECK(zk.session_id() == id);
    }

    void both_are_fine() {
        one_.black_hole(false);
        two_.black_hole(false);
    }

private:
    static server_options with_tick(std::chrono::milliseconds tick) {
        server_options o;
        o.tick_time = tick;
        return o;
    }

    server own_;
    fault_proxy one_{own_.port()};
    fault_proxy two_{own_.port()};
    port_reservation nobody_;
};

}  // namespace

TEST_CASE("connections that end as soon as they are made: the client pauses between them") {
    client_options options = quiet_options("");
    options.session_timeout = 30s;
    with_proxy(
        [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            // A server that cannot be understood: each answer belongs to another request.
            proxy.edit(direction::to_client,
                       liar(wire_lie::another_xid, 1, 1, lie_span::from_then));
            std::uint64_t enough = zk.counters().connects + 5;
            auto began = std::chrono::steady_clock::now();
            while (zk.counters().connects < enough) {
                auto [ec, data] = co_await zk.get(path, as_tuple());
                CHECK(ec == zk_errc::connection_loss);
            }
            // Between them lie pauses of 50, 100 and 200 ms at least; or one lasted a second.
            CHECK(std::chrono::steady_clock::now() - began >= 350ms);
            proxy.edit(direction::to_client, nullptr);
            co_await zk.get(path);
            CHECK(zk.generation() == 1);
        },
        options);
}

TEST_CASE("connection refused at one server while another is fine") {
    boost::asio::io_context context;
    // The C client gives a silent server two thirds of the session's timeout before it tries the
    // next one: the rest must be enough for that also where the machine is busy.
    two_ways ways(1s);
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connected_client(ways.options(12s));
        for (int i = 0; i < 6; ++i) {
            acceptance dead = i < 2   ? acceptance::not_listening
                              : i < 4 ? acceptance::close_at_once
                                      : acceptance::normal;
            co_await ways.change(zk, i, dead, i >= 4);
        }
        ways.both_are_fine();
        co_await zk.close();
    });
    run_to_idle(context);
}

// An attempt that nobody follows lasts until its time is up: with this timeout 13 s, and the test too long.
TEST_CASE("who is refused by one server asks the next one at once") {
    boost::asio::io_context context;
    two_ways ways(3s);
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connected_client(ways.options(60s));
        for (int i = 0; i < 8; ++i) {
            acceptance dead = i < 4 ? acceptance::not_listening : acceptance::close_at_once;
            co_await ways.change(zk, i, dead, false);
        }
        co_await zk.close();
    });
    run_to_idle(context);
}

TEST_CASE(
    "descriptors: other sockets in the same process are not damaged by a bouncing connection") {
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port());
    bool stop = false;
    int running = 0;
    std::uint64_t echoes = 0;
    int damaged = 0;
    auto echo_once = [&]() -> awaitable<void> {
        ++running;
        auto executor = co_await boost::asio::this_coro::executor;
        while (!stop) {
            // New descriptors all the time, so that numbers are reused at once.
            tcp::acceptor acceptor(executor, tcp::endpoint(tcp::v4(), 0));
            tcp::socket near(executor);
            tcp::endpoint address(boost::asio::ip::address_v4::loopback(),
                                  acceptor.local_endpoint().port());
            auto [connected] = co_await near.async_connect(address, as_tuple());
            auto [accepted, far] = co_await acceptor.async_accept(as_tuple());
            if (connected || accepted) {
                ++damaged;
                continue;
            }
            for (int i = 0; i < 20 && !stop; ++i) {
                std::string sent = "message " + std::to_string(echoes);
                std::string got(sent.size(), ' ');
                auto [w, wn] =
                    co_await boost::asio::async_write(near, boost::asio::buffer(sent), as_tuple());
                auto [r, rn] =
                    co_await boost::asio::async_read(far, boost::asio::buffer(got), as_tuple());
                if (w || r || got != sent)
                    ++damaged;
                ++echoes;
            }
        }
        --running;
    };
    run(
        context,
        [&]() -> awaitable<void> {
            client_options options = quiet_options(rooted(proxy.hosts()));
            options.session_timeout = 60s;
            client zk = co_await connected_client(options);
            for (int i = 0; i < 4; ++i)
                co_spawn(context, echo_once(), detached);
            for (int i = 0; i < 25; ++i) {
                std::vector<outcome<node_data>> reads(5);
                for (auto& read : reads)
                    zk.get("/", read.handler());
                session_status status = zk.status();
                proxy.cut();
                if (status.state == session_state::connected) {
                    co_await zk.next_status(status);
                }
                co_await reach(zk, session_state::connected);
                for (auto& read : reads)
                    co_await read.wait();
            }
            CHECK(zk.generation() == 1);
            CHECK(zk.counters().connects == 26);
            stop = true;
            co_await eventually_async([&] { return running == 0; });
            co_await zk.close();
        },
        120s);
    run_to_idle(context);
    CHECK(damaged == 0);
    CHECK(echoes > 100);
}

TEST_CASE("descriptors: none is left behind") {
    auto count = [] {
        auto all = std::filesystem::directory_iterator("/proc/self/fd");
        return std::distance(begin(all), end(all));
    };
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port());
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connected_client(quiet_options(rooted(proxy.hosts())));
        co_await zk.get("/");
        co_await eventually_async([&] { return proxy.statistics().connections_open == 1; });
        auto before = count();
        for (int i = 0; i < 20; ++i) {
            session_status status = zk.status();
            proxy.cut();
            co_await zk.next_status(status);
            co_await reach(zk, session_state::connected);
        }
        co_await eventually_async([&] { return proxy.statistics().connections_open == 1; });
        co_await eventually_async([&] { return count() <= before; });
        co_await zk.close();
    });
    run_to_idle(context);
}

namespace {

std::uint16_t port_of(int descriptor, int (*ask)(int, sockaddr*, socklen_t*)) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    bool known = ask(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    return known && address.sin_family == AF_INET ? ntohs(address.sin_port) : std::uint16_t{0};
}

/// What an exec would hand on, but for the proxy's sockets. Only asks the kernel: for the child of a
/// fork, too.
std::set<int> inherited_by_exec(const fault_proxy& proxy) {
    std::set<int> all;
    for (int descriptor = 0; descriptor < 256; ++descriptor) {
        int flags = ::fcntl(descriptor, F_GETFD);
        bool proxys = port_of(descriptor, &::getsockname) == proxy.port() ||
                      port_of(descriptor, &::getpeername) == the_server().port();
        if (flags >= 0 && (flags & FD_CLOEXEC) == 0 && !proxys)
            all.insert(descriptor);
    }
    return all;
}

/// Waits for a child. @return its exit code, or -1
int end_of_child(pid_t pid) {
    int status = 0;
    while (::waitpid(pid, &status, 0) == -1 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("exec: nothing is inherited, whatever state the client is in") {
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port());
    run(context, [&]() -> awaitable<void> {
        auto executor = co_await boost::asio::this_coro::executor;
        std::set<int> before = inherited_by_exec(proxy);
        client_options connecting_options =
            quiet_options("127.0.0.2:1,[2001:db8::1]:1,no-such-host.invalid:1");
        client other(executor, connecting_options);
        outcome<> connecting;
        other.connect(connecting.handler());
        bool same = true;
        auto look = [&] { same = same && inherited_by_exec(proxy) == before; };
        look();
        client zk = co_await connected_client(quiet_options(rooted(proxy.hosts())));
        look();
        for (int i = 0; i < 6; ++i) {
            session_status status = zk.status();
            if (i == 3)
                expire_through(proxy);
            else
                proxy.cut();
            do {
                status = co_await zk.next_status(status);
                look();
            } while (status.state != session_state::connected);
            co_await zk.get("/");
            look();
        }
        co_await zk.close();
        look();
        CHECK(same);
        co_await other.close(as_tuple());
        co_await connecting.wait();
    });
    run_to_idle(context);
}

TEST_CASE("exec: nothing is inherited by who forks in another thread while the client reconnects") {
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port());
    std::set<int> before = inherited_by_exec(proxy);
    std::atomic<bool> stop{false};
    std::atomic<int> children{0}, heirs{0};
    std::thread forker([&] {
        while (!stop) {
            pid_t pid = ::fork();
            if (pid == 0)
                ::_exit(inherited_by_exec(proxy) == before ? 0 : 1);
            if (end_of_child(pid) != 0)
                ++heirs;
            ++children;
        }
    });
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connected_client(quiet_options(rooted(proxy.hosts())));
        for (int i = 0; i < 20 || children < 100; ++i) {
            session_status status = zk.status();
            proxy.cut();
            co_await zk.next_status(status);
            co_await reach(zk, session_state::connected);
        }
        co_await zk.close();
    });
    stop = true;
    forker.join();
    CHECK(heirs == 0);
    run_to_idle(context);
}

TEST_CASE("fork: parent and child have names of their own, with a client that neither had used") {
    auto context = std::make_unique<boost::asio::io_context>();
    const std::string path = fresh_path();
    client zk(context->get_executor(), quiet_options(the_hosts()));
    membership group(zk, path);
    auto join = [&]() -> awaitable<std::string> {
        co_await zk.connect();
        co_await group.join("", "");
        co_return group.name();
    };
    int names[2];
    REQUIRE(::pipe(names) == 0);
    context->notify_fork(boost::asio::io_context::fork_prepare);
    const pid_t pid = ::fork();
    if (pid == 0) {
        context->notify_fork(boost::asio::io_context::fork_child);
        int code = 1;
        run(*context, [&]() -> awaitable<void> {
            const std::string name = co_await join();
            const auto size = static_cast<::ssize_t>(name.size());
            code = ::write(names[1], name.data(), name.size()) == size ? 0 : 2;
            co_await zk.close();
        });
        ::_exit(code);
    }
    CHECK(end_of_child(pid) == 0);
    context->notify_fork(boost::asio::io_context::fork_parent);
    std::string theirs(256, '\0');
    const ::ssize_t length = ::read(names[0], theirs.data(), theirs.size());
    REQUIRE(length > 0);
    theirs.resize(static_cast<std::size_t>(length));
    std::string ours;
    run(*context, [&]() -> awaitable<void> {
        ours = co_await join();
        co_await zk.close();
    });
    CHECK(ours != theirs);
    ::close(names[0]);
    ::close(names[1]);
}

TEST_CASE("fork: whatever the child does, the parent's session goes on") {
    enum class deed { destroy, close, run_context, use, connect, nothing_told, context_first };
    deed what = GENERATE(deed::destroy,
                         deed::close,
                         deed::run_context,
                         deed::use,
                         deed::connect,
                         deed::nothing_told,
                         deed::context_first);
    CAPTURE(static_cast<int>(what));
    auto context = std::make_unique<boost::asio::io_context>();
    std::optional<client> zk;
    std::string path = fresh_path();
    outcome<watch_event> event;
    watch changed;
    run(*context, [&]() -> awaitable<void> {
        zk = co_await connected_client(quiet_options(the_hosts()));
        co_await zk->create(path, "", ephemeral());
        watched_data w = co_await zk->watch_data(path);
        changed = std::move(w.changed);
        changed.next(event.handler());
    });
    session_status before = zk->status();
    outcome<node_data> read;
    zk->get(path, read.handler());  // under way, or not sent, when it forks
    bool tell = what != deed::nothing_told && what != deed::context_first;
    if (tell)
        context->notify_fork(boost::asio::io_context::fork_prepare);
    pid_t pid = ::fork();
    if (pid == 0) {
        if (tell)
            context->notify_fork(boost::asio::io_context::fork_child);
        int code = 0;
        auto expect = [&code](bool good, int number) { code = good || code != 0 ? code : number; };
        auto play = [&] { context->run_for(20s); };
        context->restart();
        switch (what) {
            case deed::destroy:
            case deed::nothing_told: break;
            case deed::context_first: context.reset(); break;
            case deed::close: {
                outcome<> closed;
                zk->close(closed.handler());
                play();
                expect(closed.done(), 1);
                break;
            }
            case deed::run_context:
                play();
                expect(read.done() && event.done(), 2);
                expect(zk->state() == session_state::closed, 3);
                break;
            case deed::use: {
                outcome<corozk::stat> written;
                zk->set(path, "child", any_version, written.handler());
                play();
                expect(written.done() && written.error() == errc::closed, 4);
                break;
            }
            case deed::connect: {
                outcome<> connected;
                zk->connect(connected.handler());
                while (!connected.done() && context->run_one_for(20s) > 0) {
                }
                expect(connected.done() && !connected.error(), 5);
                expect(zk->session_id() != before.session_id, 6);
                outcome<> closed;
                zk->close(closed.handler());
                play();
                expect(closed.done() && !closed.error(), 7);
                break;
            }
        }
        changed = watch();
        zk.reset();
        context.reset();
        ::_exit(code);
    }
    CHECK(end_of_child(pid) == 0);
    if (tell)
        context->notify_fork(boost::asio::io_context::fork_parent);
    run(*context, [&]() -> awaitable<void> {
        error_code answered = co_await read.wait();
        CHECK_FALSE(answered);
        co_await zk->set(path, "parent");
        error_code fired = co_await event.wait();
        CHECK_FALSE(fired);
        CHECK(zk->status().revision == before.revision);
        CHECK(zk->session_id() == before.session_id);
        co_await zk->close();
    });
    run_to_idle(*context);
}

TEST_CASE("read-only: a server with a quorum is looked for beside the loop, and gone to") {
    fault_proxy proxy(the_server().port());
    // The last byte of the answer to a connect request says whether the server only reads.
    proxy.edit(direction::to_client, [](const frame_info& frame, std::string bytes) {
        if (frame.kind == frame_kind::connect)
            bytes.back() = 1;
        return bytes;
    });
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client_options options = quiet_options(rooted(proxy.hosts()));
            options.session_timeout = 18'000ms;
            options.allow_read_only = true;
            client alone = co_await connected_client(options);
            REQUIRE(alone.state() == session_state::read_only);
            // Heartbeats, one in 5.4 s.
            auto requests = alone.counters().requests;
            co_await eventually_async([&] { return alone.counters().requests >= requests + 3; },
                                      60s);
            CHECK(alone.state() == session_state::read_only);
            // Not by the C client, which asks the server that it is at.
            CHECK(proxy.statistics().connections_accepted == 1);
            co_await alone.close();

            options.hosts = rooted(proxy.hosts() + "," + the_server().hosts());
            client zk;
            for (int i = 0; i < 50 && proxy.statistics().connections_accepted == 1; ++i) {
                zk = co_await connected_client(options);
                co_await reach(zk, session_state::connected);
                co_await zk.create(fresh_path());
                co_await zk.close();
            }
            CHECK(proxy.statistics().connections_accepted == 2);
        },
        90s);
    run_to_idle(context);
}

// The C client sees no responses to these requests, and gets none to its pings, as if they were behind
// many others: it would give up the connection.
TEST_CASE("a connection that is busy for longer than the session timeout is kept") {
    fault_proxy proxy(the_server().port());
    proxy.edit(direction::to_client, [](const frame_info& frame, std::string bytes) {
        return frame.op == op_code::ping ? std::string() : bytes;
    });
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        client_options options = quiet_options(rooted(proxy.hosts()));
        options.session_timeout = 12'000ms;
        client zk = co_await connected_client(options);
        const auto end = std::chrono::steady_clock::now() + zk.negotiated_timeout();
        while (std::chrono::steady_clock::now() < end)
            co_await zk.exists("/");
        CHECK(zk.counters().connects == 1);
        co_await zk.close();
    });
    run_to_idle(context);
}

// The C client sees no responses to these requests, and corozk itself decides.
TEST_CASE("a busy client gives up a server that falls silent in time to keep its session") {
    fault_proxy proxy(the_server().port());
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client_options options = quiet_options(rooted(proxy.hosts()));
            // A third of it is left for the next connection.
            options.session_timeout = 12'000ms;
            client zk = co_await connected_client(options);
            for (int round = 0; round < 2; ++round) {
                session_status status = zk.status();
                const std::uint64_t busy = zk.counters().requests + 500;
                while (zk.counters().requests <= busy)
                    co_await zk.exists("/");
                // These requests do not move the local deadline, which depends on the leader.
                co_await zk.sync();
                proxy.black_hole(true);
                error_code ec;
                while (!ec)
                    std::tie(ec, std::ignore) = co_await zk.exists("/", as_tuple());
                CHECK(ec == zk_errc::connection_loss);
                CHECK(zk.status().state == session_state::suspended);
                proxy.black_hole(false);
                co_await reach(zk, session_state::connected);
                CHECK(zk.status().generation == status.generation);
            }
            CHECK(zk.counters().expirations == 0);
            co_await zk.close();
        },
        90s);
    run_to_idle(context);
}

// A follower that is cut off from its leader answers pings, and no request behind one that needs the leader.
TEST_CASE("a server that may have lost its leader is left in time to keep the session") {
    fault_proxy one(the_server().port());
    fault_proxy two(the_server().port());
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client_options options = quiet_options(rooted(one.hosts() + "," + two.hosts()));
            options.session_timeout = 20'000ms;
            std::string log;
            options.logger = logger(log_level::info, [&](log_level, std::string_view text) {
                log += std::string(text) + "\n";
            });
            client zk = co_await connected_client(options);
            fault_proxy& home = one.sessions().empty() ? two : one;
            fault_proxy& other = one.sessions().empty() ? one : two;
            auto mute = [](const frame_info& frame, std::string bytes) {
                const bool answered = frame.op == wire::sync || frame.op == wire::set_data;
                return answered ? std::string() : bytes;
            };
            home.edit(direction::to_client, mute);
            outcome<corozk::stat> unanswered;
            SECTION("while the client does nothing") {}
            SECTION("while it changes something") {
                zk.set("/", "", unanswered.handler());
            }
            history h(zk);
            co_await h.follow(zk, session_state::connected);
            CHECK(h.states == std::vector{session_state::suspended, session_state::connected});
            CHECK(zk.generation() == 1);
            // Not where it came from.
            CHECK(other.sessions().size() == 1);
            CHECK(home.statistics().connections_accepted == 1);
            CHECK_THAT(log, Catch::Contains("lost: it has not responded in time"));
            CHECK((!unanswered.done() || unanswered.error() == zk_errc::connection_loss));
            co_await zk.sync();
            co_await zk.close();
        },
        120s);
    run_to_idle(context);
}

TEST_CASE("read-only: a server that falls silent is left") {
    fault_proxy proxy(the_server().port());
    proxy.edit(direction::to_client, [](const frame_info& frame, std::string bytes) {
        if (frame.kind == frame_kind::connect)
            bytes.back() = 1;
        return bytes;
    });
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client_options options = quiet_options(rooted(proxy.hosts()));
            options.session_timeout = 6'000ms;
            options.allow_read_only = true;
            client zk = co_await connected_client(options);
            session_status status = zk.status();
            REQUIRE(status.state == session_state::read_only);
            proxy.black_hole(true);
            status = co_await zk.next_status(status);
            CHECK(status.state == session_state::suspended);
            proxy.black_hole(false);
            co_await reach(zk, session_state::read_only);
            // The server has made a new session, and keeps it alive: for more than its timeout.
            const std::uint64_t heartbeats = zk.counters().requests + 6;
            co_await eventually_async([&] { return zk.counters().requests >= heartbeats; }, 45s);
            CHECK(zk.status().generation == status.generation);
            CHECK(zk.status().state == session_state::read_only);
            co_await zk.close();
        },
        90s);
    run_to_idle(context);
}

TEST_CASE("read-only: a server that falls silent before the chroot was verified is left") {
    admin hand = observer();
    if (!hand.exists("/verified"))
        hand.plant("/verified");
    fault_proxy proxy(the_server().port());
    proxy.edit(direction::to_client, [](const frame_info& frame, std::string bytes) {
        if (frame.kind == frame_kind::connect)
            bytes.back() = 1;
        return bytes;
    });
    proxy.arm(at_op(testing::op_code::exists), hold_request());
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        client_options options = quiet_options(proxy.hosts() + "/verified");
        options.session_timeout = 6'000ms;
        options.connect_timeout = 0ms;
        options.allow_read_only = true;
        client zk = co_await connected_client(options);
        CHECK(zk.state() == session_state::read_only);
        CHECK(proxy.statistics().connections_accepted == 2);
        co_await zk.close();
    });
    run_to_idle(context);
}

// As servers 3.6.0 to 3.8.0 may do (ZOOKEEPER-4537), here for ever.
TEST_CASE("a response that the server keeps back until another request arrives is asked for") {
    admin hand = observer();
    if (!hand.exists("/kept"))
        hand.plant("/kept");
    fault_proxy proxy(the_server().port());
    auto keep_next_response = [&] {
        proxy.disarm_all();
        const rule_id kept = proxy.arm(at_request(proxy.requests() + 1), hold_reply());
        proxy.arm(at_request(proxy.requests() + 2),
                  call_at_request([&proxy, kept](const frame_info&) { proxy.release(kept); }));
    };
    // Long before a heartbeat is due for the session, which is after 36 s.
    auto soon = [](auto& of) -> awaitable<error_code> {
        co_await eventually_async([&] { return of.done(); });
        co_return of.error();
    };
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        client_options options = quiet_options(proxy.hosts() + "/kept");
        options.session_timeout = 120'000ms;
        options.connect_timeout = 0ms;
        options.close_timeout = 60'000ms;
        client zk(co_await boost::asio::this_coro::executor, options);

        keep_next_response();  // whether the chroot exists
        outcome<> connected;
        zk.connect(connected.handler());
        error_code ec = co_await soon(connected);
        CHECK_FALSE(ec);

        // With the response to the heartbeat.
        co_await eventually_async([&] { return zk.counters().in_flight == 0; });
        keep_next_response();
        outcome<stat> changed;
        zk.set("/", "1", changed.handler());
        ec = co_await soon(changed);
        CHECK_FALSE(ec);

        co_await eventually_async([&] { return zk.counters().in_flight == 0; });
        keep_next_response();
        outcome<stat> last;
        outcome<> closed;
        zk.set("/", "2", last.handler());
        co_await eventually_async([&] { return zk.counters().in_flight == 1; });
        zk.close(closed.handler());
        ec = co_await soon(closed);
        CHECK_FALSE(ec);
        CHECK_FALSE(last.error());
        CHECK(proxy.statistics().connections_accepted == 1);
    });
    run_to_idle(context);
    CHECK(hand.data("/kept") == "2");
}

// The same, with pings as such requests.
TEST_CASE("the response to the request that ends a session is asked for as well") {
    fault_proxy proxy(the_server().port(), {.number_pings = true});
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        client_options options = quiet_options(rooted(proxy.hosts()));
        options.session_timeout = 120'000ms;
        options.close_timeout = 60'000ms;
        client zk = co_await connected_client(options);
        co_await eventually_async([&] { return zk.counters().in_flight == 0; });
        std::atomic<bool> pinged = false;
        const rule_id kept = proxy.arm(at_request(proxy.requests() + 1), hold_reply());
        proxy.arm(at_request(proxy.requests() + 2),
                  call_at_request([&proxy, &pinged, kept](const frame_info& frame) {
                      pinged = frame.op == op_code::ping;
                      proxy.release(kept);
                  }));
        outcome<> closed;
        zk.close(closed.handler());
        co_await eventually_async([&] { return closed.done(); });
        CHECK_FALSE(closed.error());
        CHECK(pinged);
    });
    run_to_idle(context);
}

// The victim of the test below: a process of its own. What it sees goes to a file, a line each.
TEST_CASE("child: tells what it sees", "[.]") {
    std::ofstream out(std::getenv("COROZK_TEST_OUTPUT"));
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            auto executor = co_await boost::asio::this_coro::executor;
            client_options options = quiet_options(std::getenv("COROZK_TEST_HOSTS"));
            options.session_timeout = 4'000ms;
            client zk = co_await client::connect(executor, options);
            co_await zk.create("/child", "", ephemeral());
            out << "connected" << std::endl;
            bool stop = false;
            // Somebody who only looks, as often as possible, without waiting for a change.
            auto look = [&]() -> awaitable<void> {
                boost::asio::steady_timer timer(executor);
                std::string last = "connected";
                while (!stop) {
                    std::string now(to_string(zk.state()));
                    if (now != last)
                        out << "look " << now << std::endl;
                    last = now;
                    timer.expires_after(1ms);
                    co_await timer.async_wait(use_awaitable);
                }
            };
            co_spawn(context, look(), detached);
            session_status status = zk.status();
            while (status.generation < 2) {
                status = co_await zk.next_status(status);
                out << "told " << to_string(status.state) << std::endl;
            }
            stop = true;
            co_await zk.close(as_tuple());
            out << "end" << std::endl;
        },
        60s);
}

TEST_CASE("process stopped beyond the timeout: the first thing to be seen is the loss") {
    temporary_directory folder;
    auto output = folder.path() / "seen";
    auto lines = [&] {
        std::vector<std::string> all;
        std::ifstream in(output);
        for (std::string line; std::getline(in, line);)
            all.push_back(line);
        return all;
    };
    process_options options;
    options.command = {std::filesystem::read_symlink("/proc/self/exe"),
                       "child: tells what it sees"};
    options.environment = {{"COROZK_TEST_OUTPUT", output},
                           {"COROZK_TEST_HOSTS", the_server().hosts()}};
    process_guard child(options);
    eventually([&] { return !lines().empty(); }, 30s, "the child's connection");
    REQUIRE(observer().exists("/child"));
    child.stop();
    // Whatever it saw before it stood still does not count.
    std::size_t before = lines().size();
    eventually([] { return !observer().exists("/child"); }, 30s, "the end of its session");
    child.cont();
    eventually([&] { return !lines().empty() && lines().back() == "end"; }, 30s, "the child's end");
    std::vector<std::string> seen = lines();
    std::string all;
    for (const auto& line : seen)
        all += line + "; ";
    INFO(all);
    REQUIRE(seen.size() > before);
    for (const char* who : {"look ", "told "}) {
        for (std::size_t i = before; i < seen.size(); ++i) {
            if (!seen[i].starts_with(who))
                continue;
            CHECK(seen[i] == std::string(who) + "lost");
            break;
        }
    }
    CHECK(child.wait(30s));
    CHECK(child.exit_status() == 0);
}

TEST_CASE("a thread that is busy for less than the session timeout: the connection stays") {
    boost::asio::io_context context;
    run(
        context,
        []() -> awaitable<void> {
            const client_options options = quiet_options(the_server().hosts(), 16s);
            client idle = co_await connected_client(options);
            client active = co_await connected_client(options);
            REQUIRE(idle.status().negotiated_timeout == 16s);
            co_await idle.sync();
            // The session has looked after the C client since the response.
            boost::asio::steady_timer gap(idle.get_executor(), 1700ms);
            co_await gap.async_wait(use_awaitable);
            co_await active.sync();
            const session_status before[] = {idle.status(), active.status()};
            outcome<session_status> changed[2];
            idle.next_status(before[0], changed[0].handler());
            active.next_status(before[1], changed[1].handler());
            std::this_thread::sleep_for(11s);
            for (client* zk : {&idle, &active}) {
                auto [ec, root] = co_await zk->get("/", as_tuple());
                CHECK_FALSE(ec);
                // A silent server would be given up now.
                gap.expires_after(500ms);
                co_await gap.async_wait(use_awaitable);
                CHECK(zk->counters().connects == 1);
            }
            CHECK_FALSE(changed[0].done());
            CHECK_FALSE(changed[1].done());
            co_await idle.close();
            co_await active.close();
        },
        60s);
}

}  // namespace corozk::testing::client_tests::session_connection_test
