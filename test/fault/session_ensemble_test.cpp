// SPDX-License-Identifier: Apache-2.0
// Three servers: another one takes over, a quorum is lost and comes back, members change.
// ctest: PROCESSORS 2
#include "client_fixture.hpp"
#include "ensemble_fixture.hpp"
#include <corozk/client.hpp>
#include <corozk/recipe/lock.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace corozk::testing::client_tests::session_ensemble_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;

namespace {

/// The member that a session is connected to, once that can be said: they may be electing a leader.
awaitable<std::size_t> home_in_time(ensemble& all, std::int64_t session) {
    std::optional<std::size_t> home;
    auto found = [&] {
        home = home_of(all, session);
        return home.has_value();
    };
    co_await eventually_async(found, 60s, "the session's server");
    co_return *home;
}

}  // namespace

TEST_CASE("ensemble: the session moves on when its server dies, and waits for a quorum") {
    ensemble all(configurable());
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client_options options = quiet_options(all.hosts());
            options.session_timeout = 60s;
            client zk = co_await connected_client(options);
            std::int64_t id = zk.session_id();
            create_options fleeting;
            fleeting.mode = create_mode::ephemeral;
            co_await zk.create("/e", "x", fleeting);
            watched_data w = co_await zk.watch_data("/e");

            // Twice: its server dies and comes back; the session goes elsewhere.
            for (int i = 0; i < 2; ++i) {
                std::size_t home = co_await home_in_time(all, id);
                session_status status = zk.status();
                all[home].kill();
                co_await zk.next_status(status);
                co_await reach(zk, session_state::connected);
                // A server that has no leader lets go of its clients.
                std::optional<corozk::stat> e;
                for (error_code ec = zk_errc::connection_loss; ec;) {
                    auto [unsynced] = co_await zk.sync("/", as_tuple());
                    auto [failed, record] = co_await zk.exists("/e", as_tuple());
                    ec = unsynced ? unsynced : failed;
                    e = record;
                    REQUIRE((!ec || is_recoverable(ec)));
                }
                CHECK(zk.session_id() == id);
                std::size_t next = co_await home_in_time(all, id);
                CHECK(next != home);
                REQUIRE(e);
                CHECK(e->ephemeral_owner == id);
                CHECK(w.changed.pending());
                auto restart = [&] { all[home].restart(); };
                co_await in_background(restart);
            }
            // The others may elect another leader and let go of their clients meanwhile.
            for (error_code ec = zk_errc::connection_loss; ec;) {
                auto [set_ec, record] = co_await zk.set("/e", "y", any_version, as_tuple());
                ec = set_ec;
                REQUIRE((!ec || is_recoverable(ec)));
            }
            co_await w.changed.next();

            // One server alone gives no session; with a quorum the old one goes on.
            std::size_t last = co_await home_in_time(all, id);
            for (std::size_t i = 0; i < all.size(); ++i) {
                if (i != last)
                    all[i].kill();
            }
            co_await reach(zk, session_state::suspended);
            auto bring_back = [&] {
                for (std::size_t i = 0; i < all.size(); ++i) {
                    if (i != last)
                        all[i].launch();
                }
                all.wait_for_quorum();
            };
            co_await in_background(bring_back);
            co_await reach(zk, session_state::connected);
            CHECK(zk.session_id() == id);
            CHECK(zk.generation() == 1);
            node_data read = co_await zk.get("/e");
            CHECK(read.data == "y");
            co_await zk.close();
        },
        300s);
    run_to_idle(context);
}

// A follower that has lost its leader responds to reads for so long, while the leader, or the next one,
// lets its clients' sessions expire.
TEST_CASE("ensemble: a server without a leader does not keep the local clock from running") {
    ensemble_options options;
    options.sync_limit = 240;  // two minutes
    ensemble all(options);
    auto leader = all.leader();
    REQUIRE(leader);
    const std::size_t follower = all.followers().at(0);
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client_options mine = quiet_options(all[follower].hosts());
            mine.session_timeout = 5s;
            client zk = co_await connected_client(mine);
            lock l(zk, "/lock");
            ownership held = co_await l.acquire();
            all[*leader].stop();
            // Reads go on, as those of a program that looks at its configuration.
            while (held.valid()) {
                auto [ec, found] = co_await zk.exists("/", as_tuple());
                CHECK((!ec || is_recoverable(ec) || is_session_lost(ec)));
            }
            CHECK(zk.state() == session_state::lost);
            CHECK(all.mode(follower) == "follower");
            all[*leader].cont();
            co_await reach(zk, session_state::connected);
            CHECK(zk.generation() == 2);
            co_await zk.close();
        },
        120s);
    run_to_idle(context);
}

TEST_CASE("ensemble: its configuration, read, watched and changed") {
    ensemble all(configurable());
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client zk =
                co_await connected_client(quiet_options(all.hosts(), steady_session_timeout));
            watched_data config = co_await zk.watch_config();
            for (const char* member : {"server.1=", "server.2=", "server.3=", "version="}) {
                CHECK_THAT(config.node.data, Catch::Contains(member));
            }
            // Not the leader, which would have to be elected anew.
            auto followers = all.followers();
            REQUIRE_FALSE(followers.empty());
            std::string leaving = std::to_string(followers[0] + 1);
            auto [stale, none] = co_await zk.reconfigure("", leaving, "", 77, as_tuple());
            CHECK(stale == zk_errc::bad_version);
            node_data changed = co_await zk.reconfigure("", leaving, "");
            CHECK_THAT(changed.data, !Catch::Contains("server." + leaving + "="));
            watch_event event = co_await config.changed.next();
            CHECK(event.path == "/zookeeper/config");
            co_await zk.sync();
            node_data read = co_await zk.get_config();
            CHECK(read.data == changed.data);
            co_await zk.close(as_tuple());
        },
        120s);
    run_to_idle(context);
}

}  // namespace corozk::testing::client_tests::session_ensemble_test
