// SPDX-License-Identifier: Apache-2.0
// Servers that are cut off from their quorum: three, of which two are stopped, and proxies before one
// server, whose answers say so.
// ctest: PROCESSORS 2 TIMEOUT 300
#include "client_fixture.hpp"
#include "ensemble_fixture.hpp"
#include "tls/tls_front.hpp"
#include <corozk.hpp>
#include <corozk/testing/turn_clock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace corozk::testing::client_tests::read_only_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;

namespace {

/// A server without a quorum serves sessions of its own making only.
ensemble_options with_read_only() {
    ensemble_options options = configurable();
    options.member.java_properties.push_back("readonlymode.enabled=true");
    options.member.config_lines.push_back("localSessionsEnabled=true");
    options.member.config_lines.push_back("localSessionsUpgradingEnabled=true");
    return options;
}

/// Stops two of three servers; the first one notices.
awaitable<void> leave_one(ensemble& all) {
    all[1].kill();
    all[2].kill();
    co_await eventually_async([&] { return four_letter(all[0].port(), "isro") == "ro"; }, 60s);
}

client_options content_with_reading(const std::string& hosts) {
    client_options options = quiet_options(hosts);
    options.session_timeout = 60s;
    options.connect_timeout = 60s;
    options.allow_read_only = true;
    return options;
}

/// The last byte of the answer to a connect request says whether the server only reads.
std::string cut_off(const frame_info& frame, std::string bytes) {
    if (frame.kind == frame_kind::connect)
        bytes.back() = 1;
    return bytes;
}

auto open_files() {
    auto list = std::filesystem::directory_iterator("/proc/self/fd");
    return std::distance(begin(list), end(list));
}

}  // namespace

TEST_CASE("read-only: what works and what waits, until the quorum is back") {
    ensemble all(with_read_only());
    boost::asio::io_context context;
    turn_clock turns;
    run(
        context,
        [&]() -> awaitable<void> {
            auto executor = co_await boost::asio::this_coro::executor;
            {
                client hand = co_await connected_client(quiet_options(all.hosts()));
                co_await hand.create("/w", "old");
                co_await hand.create("/lock");
                co_await hand.create("/group");
                co_await queue(hand, "/queue").put("item");
                for (std::size_t i = 0; i < all.size(); ++i) {
                    client each = co_await connected_client(quiet_options(all[i].hosts()));
                    co_await each.sync();
                    co_await each.close();
                }
                co_await hand.close();
            }
            co_await leave_one(all);
            client zk = co_await connected_client(content_with_reading(all.hosts()));
            REQUIRE(zk.state() == session_state::read_only);
            // Another client of the same process that wants a quorum.
            client_options strict = content_with_reading(all.hosts());
            strict.allow_read_only = false;
            client other(executor, strict);
            outcome<> connecting;
            other.connect(connecting.handler());

            const std::int64_t alone = zk.session_id();
            node_data old = co_await zk.get("/w");
            CHECK(old.data == "old");
            node_children below = co_await zk.get_children("/");
            CHECK(below.names.size() == 6);
            watched_data watched = co_await zk.watch_data("/w");
            watched_stat missing = co_await zk.watch_exists("/later");
            auto [refused, created] = co_await zk.create("/r", as_tuple());
            CHECK(refused == zk_errc::not_read_only);
            auto [not_set, none] = co_await zk.set("/w", "x", any_version, as_tuple());
            CHECK(not_set == zk_errc::not_read_only);
            auto [not_erased] = co_await zk.erase("/w", as_tuple());
            CHECK(not_erased == zk_errc::not_read_only);
            auto [not_synced] = co_await zk.sync(as_tuple());
            CHECK(not_synced == zk_errc::not_read_only);
            transaction steps;
            steps.check("/w", any_version);
            auto [not_committed, results] = co_await zk.commit(steps, as_tuple());
            CHECK(not_committed == zk_errc::not_read_only);
            semaphore permits(zk, "/semaphore", 2);
            auto [no_permit, permit] = co_await permits.acquire(1, as_tuple());
            CHECK(no_permit == zk_errc::not_read_only);
            election leaders(zk, "/election");
            auto [not_elected, leadership] = co_await leaders.campaign(as_tuple());
            CHECK(not_elected == zk_errc::not_read_only);
            queue items(zk, "/queue");
            auto [not_put] = co_await items.put("x", as_tuple());
            CHECK(not_put == zk_errc::not_read_only);
            for (int i = 0; i < 2; ++i) {
                queue_item first = co_await items.peek();
                CHECK(first.data == "item");
                co_await zk.get("/w");  // the queue is idle meanwhile
            }
            counter number(zk, "/counter");
            auto [not_added, sum] = co_await number.add(1, as_tuple());
            CHECK(not_added == zk_errc::not_read_only);
            lock mutex(zk, "/lock");
            auto [not_queued, nothing] = co_await mutex.acquire(as_tuple());
            CHECK(not_queued == zk_errc::not_read_only);
            membership group(zk, "/group");
            outcome<> joining;
            group.join("me", "", joining.handler());

            // It has not been satisfied with what the first one has found.
            CHECK(connecting.calls() == 0);
            CHECK(other.state() == session_state::connecting);

            auto before = open_files();
            auto bring_back = [&] {
                // One is enough. The first one then has a quorum, too, and lets go of its clients.
                all[1].launch();
                all.wait_for_quorum();
            };
            co_await in_background(bring_back);
            co_await reach(zk, session_state::connected);
            error_code ec = co_await connecting.wait();
            CHECK_FALSE(ec);
            CHECK(other.state() == session_state::connected);
            ec = co_await joining.wait();
            CHECK_FALSE(ec);
            ownership held = co_await mutex.acquire();
            // What a server without a quorum grants is no session of the ensemble: there is one now.
            CHECK(zk.generation() == 1);
            CHECK(zk.session_id() != alone);
            auto owners = co_await other.get_children("/lock");
            REQUIRE(owners.names.size() == 1);
            auto contender = co_await other.exists("/lock/" + owners.names.front());
            REQUIRE(contender);
            CHECK(contender->ephemeral_owner == zk.session_id());

            CHECK(watched.changed.pending());
            CHECK(missing.changed.pending());
            for (error_code failed = zk_errc::connection_loss; failed;) {
                auto [set_ec, record] = co_await other.set("/w", "new", any_version, as_tuple());
                failed = set_ec;
                REQUIRE((!failed || is_recoverable(failed)));
            }
            watch_event event = co_await watched.changed.next();
            CHECK(event.type == watch_event_type::data_changed);
            co_await other.create("/later");
            event = co_await missing.changed.next();
            CHECK(event.type == watch_event_type::created);
            co_await eventually_async([&] { return open_files() <= before + 2; });
            co_await held.release();
            co_await other.close();
            co_await zk.close();
        },
        150s);
    run_to_idle(context);
    WARN("longest turn: " << turns.take_longest().took.count() / 1000 << " us");
}

TEST_CASE("read-only: what was asked for before, and is more than a socket takes, is answered") {
    constexpr std::ptrdiff_t many = 100;
    const std::string much(40'000, 'x');
    ensemble all(with_read_only());
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            {
                client hand = co_await connected_client(quiet_options(all[0].hosts()));
                co_await hand.create("/w", "old");
                co_await hand.close();
            }
            co_await leave_one(all);
            client zk(co_await boost::asio::this_coro::executor,
                      content_with_reading(all[0].hosts()));
            outcome<> connecting;
            zk.connect(connecting.handler());
            std::vector<error_code> ended;
            for (std::size_t i = 0; i < many; ++i)
                zk.set(
                    "/w", much, any_version, [&](error_code ec, auto&&) { ended.push_back(ec); });
            CHECK(zk.counters().queued == many);
            auto [ec, read] = co_await zk.get("/w", as_tuple());
            CHECK_FALSE(ec);
            CHECK(read.data == "old");
            CHECK_FALSE(co_await connecting.wait());
            CHECK(zk.state() == session_state::read_only);
            CHECK(std::count(ended.begin(), ended.end(), zk_errc::not_read_only) == many);
            CHECK(zk.counters().connects == 1);
            co_await zk.close(as_tuple());
        },
        150s);
    run_to_idle(context);
}

TEST_CASE("read-only: a session of the quorum waits for it, and a later one begins without") {
    ensemble all(with_read_only());
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client_options patient = content_with_reading(all.hosts());
            client waiting = co_await connected_client(patient);
            client_options hasty = patient;
            hasty.session_timeout = 4s;
            client renewed = co_await connected_client(hasty);
            create_options fleeting;
            fleeting.mode = create_mode::ephemeral;
            co_await waiting.create("/e", "", fleeting);
            std::int64_t id = waiting.session_id();
            // From before: it may be lost before the remaining server says that it only reads.
            std::vector<session_status> seen;
            auto record = record_until(renewed, session_state::read_only, seen);
            boost::asio::co_spawn(context, std::move(record), boost::asio::detached);
            co_await leave_one(all);
            // No server continues it: it is suspended, and then lost by the local clock.
            session_status status = co_await reach(renewed, session_state::read_only);
            CHECK(std::any_of(seen.begin(), seen.end(), [](const session_status& s) {
                return s.state == session_state::lost;
            }));
            CHECK(status.generation == 2);
            CHECK(waiting.state() == session_state::suspended);
            auto bring_back = [&] {
                all[1].launch();
                all.wait_for_quorum();
            };
            co_await in_background(bring_back);
            co_await reach(waiting, session_state::connected);
            co_await reach(renewed, session_state::connected);
            CHECK(waiting.session_id() == id);
            CHECK(waiting.generation() == 1);
            for (error_code ec = zk_errc::connection_loss; ec;) {
                auto [failed, found] = co_await waiting.exists("/e", as_tuple());
                ec = failed;
                REQUIRE((!ec || is_recoverable(ec)));
                if (!ec)
                    CHECK((found && found->ephemeral_owner == id));
            }
            co_await waiting.close(as_tuple());
            co_await renewed.close(as_tuple());
        },
        150s);
    run_to_idle(context);
}

TEST_CASE(
    "read-only: a continued session is not kept alive by what a server without a quorum says") {
    fault_proxy proxy(the_server().port());
    proxy.edit(direction::to_client, cut_off);
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client first = co_await connected_client(quiet_options(the_server().hosts()));
            client_options options = content_with_reading(proxy.hosts());
            options.session_timeout = 4s;
            options.session = first.credentials();
            co_await first.leave_session();
            client zk = co_await connected_client(options);
            REQUIRE(zk.state() == session_state::read_only);
            CHECK(zk.session_id() == options.session->id);
            co_await reach(zk, session_state::lost);
            co_await zk.close(as_tuple());
        },
        60s);
    run_to_idle(context);
}

TEST_CASE("read-only: that the chroot is missing, only a quorum says") {
    fault_proxy proxy(the_server().port());
    proxy.edit(direction::to_client, cut_off);
    const std::string root = fresh_path();
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client zk(co_await boost::asio::this_coro::executor,
                      content_with_reading(proxy.hosts() + root));
            outcome<> connecting;
            zk.connect(connecting.handler());
            co_await eventually_async(
                [&] { return proxy.statistics().replies_of(op_code::exists) >= 2; });
            CHECK(connecting.calls() == 0);
            observer().plant(root);
            CHECK_FALSE(co_await connecting.wait());
            CHECK(zk.state() == session_state::read_only);
            co_await zk.close(as_tuple());
        },
        60s);
    run_to_idle(context);
}

TEST_CASE("read-only: over TLS, also the question to the other servers") {
    if (!has_tls())
        return;
    fault_proxy proxy(the_server().port());
    proxy.edit(direction::to_client, cut_off);
    tls_front reading(proxy.port());
    tls_front writing(the_server().port());
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client_options options = content_with_reading(rooted(reading.hosts()));
            options.tls = tls_front::trusted();
            client zk = co_await connected_client(options);
            REQUIRE(zk.state() == session_state::read_only);
            watched_stat missing = co_await zk.watch_exists("/over-tls");
            co_await zk.set_hosts(rooted(reading.hosts() + "," + writing.hosts()));
            co_await reach(zk, session_state::connected);
            CHECK(missing.changed.pending());
            CHECK(proxy.statistics().connections_open == 0);
            co_await zk.close();
        },
        60s);
    run_to_idle(context);
}

TEST_CASE("local sessions: one with an ephemeral znode moves to another server, others end") {
    ensemble all(with_read_only());
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client local = co_await connected_client(content_with_reading(all[0].hosts()));
            client global = co_await connected_client(content_with_reading(all[0].hosts()));
            create_options fleeting;
            fleeting.mode = create_mode::ephemeral;
            co_await global.create("/global", "", fleeting);
            const std::int64_t session = global.session_id();
            co_await local.set_hosts(all[1].hosts());
            co_await global.set_hosts(all[1].hosts());
            all[0].kill();
            co_await eventually_async([&] { return local.generation() == 2; }, 60s);
            co_await eventually_async([&] { return global.counters().connects > 1; }, 60s);
            co_await reach(global, session_state::connected);
            CHECK(global.generation() == 1);
            CHECK(global.session_id() == session);
            co_await local.close(as_tuple());
            co_await global.close(as_tuple());
        },
        150s);
    run_to_idle(context);
}

TEST_CASE("read-only: the configuration of a server without a quorum is not followed") {
    fault_proxy proxy(the_server().port());
    proxy.edit(direction::to_client, cut_off);
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        client_options options = content_with_reading(proxy.hosts());
        options.follow_reconfiguration = true;
        std::string log;
        options.logger = logger(log_level::info, [&](log_level, std::string_view text) {
            log += std::string(text) + "\n";
        });
        client zk = co_await connected_client(options);
        REQUIRE(zk.state() == session_state::read_only);
        CHECK_THAT(log, Catch::Contains("session read_only at " + proxy.hosts()));
        co_await zk.exists("/");
        CHECK(proxy.statistics().requests_of(op_code::get_data) == 0);
        // Once it has a quorum it is.
        proxy.edit(direction::to_client, nullptr);
        proxy.cut();
        co_await reach(zk, session_state::connected);
        co_await eventually_async(
            [&] { return proxy.statistics().requests_of(op_code::get_data) == 1; });
        co_await zk.close(as_tuple());
    });
    run_to_idle(context);
}

TEST_CASE("read-only: a server that stops answering the question is asked again") {
    boost::asio::io_context context;
    fault_proxy reading(the_server().port());
    fault_proxy silent(the_server().port());
    reading.edit(direction::to_client, cut_off);
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connected_client(content_with_reading(rooted(reading.hosts())));
        REQUIRE(zk.state() == session_state::read_only);
        silent.black_hole(true);
        co_await zk.set_hosts(rooted(reading.hosts() + "," + silent.hosts()));
        co_await eventually_async([&] { return silent.statistics().connections_accepted >= 4; });
        CHECK(zk.state() == session_state::read_only);
        co_await zk.exists("/");
        silent.black_hole(false);
        co_await reach(zk, session_state::connected);
        CHECK(silent.session().session_id == zk.session_id());
        co_await eventually_async([&] { return silent.statistics().connections_open == 1; });
        CHECK(zk.counters().connection_losses == 0);
        co_await zk.close();
    });
    run_to_idle(context);
}

TEST_CASE("read-only: its server regains the quorum, which ends the connection") {
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port());
    proxy.edit(direction::to_client, cut_off);
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connected_client(content_with_reading(rooted(proxy.hosts())));
        REQUIRE(zk.state() == session_state::read_only);
        watched_stat missing = co_await zk.watch_exists("/regained");
        proxy.edit(direction::to_client, nullptr);
        proxy.cut();
        co_await reach(zk, session_state::connected);
        create_options fleeting;
        fleeting.mode = create_mode::ephemeral;
        co_await zk.create("/regained", "", fleeting);
        watch_event event = co_await missing.changed.next();
        CHECK(event.type == watch_event_type::created);
        co_await zk.close();
    });
    run_to_idle(context);
}

}  // namespace corozk::testing::client_tests::read_only_test
