// SPDX-License-Identifier: Apache-2.0
// Clients that follow the ensemble's configuration.
// ctest: PROCESSORS 2
#include "certificates.hpp"
#include "client_fixture.hpp"
#include "ensemble_fixture.hpp"
#include <corozk/client.hpp>
#include <corozk/version.hpp>

#include <catch2/catch.hpp>

#include <set>
#include <sstream>
#include <string>

namespace corozk::testing::client_tests::reconfiguration_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;

namespace {

/// The hosts of a list, without the path behind it.
std::set<std::string> hosts_of(const std::string& list) {
    std::set<std::string> result;
    std::istringstream in(list.substr(0, list.find('/')));
    for (std::string host; std::getline(in, host, ',');)
        result.insert(host);
    return result;
}

/// The line of a member in a configuration.
std::string line_of(const std::string& configuration, const std::string& id) {
    std::istringstream in(configuration);
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("server." + id + "="))
            return line;
    }
    return {};
}

client_options following(const std::string& hosts) {
    client_options options = quiet_options(hosts);
    options.session_timeout = 12s;  // much more than home_of stops the loop
    options.connect_timeout = 60s;
    options.follow_reconfiguration = true;
    return options;
}

}  // namespace

TEST_CASE("reconfiguration: followed, also by a client with a chroot, which keeps its session") {
    ensemble all(configurable());
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client hand =
                co_await connected_client(quiet_options(all.hosts(), steady_session_timeout));
            co_await hand.create("/app");
            co_await hand.sync();
            node_data configuration = co_await hand.get_config();
            auto followers = all.followers();
            REQUIRE_FALSE(followers.empty());
            std::size_t leaving = followers[0];
            std::string id = std::to_string(leaving + 1);

            client zk = co_await connected_client(following(all[leaving].hosts() + "/app"));
            client plain = co_await connected_client(following(all.hosts()));
            std::int64_t session = zk.session_id();
            create_options fleeting;
            fleeting.mode = create_mode::ephemeral;
            for (error_code ec = zk_errc::connection_loss; ec;) {
                auto [failed, node] = co_await zk.create("/e", "", fleeting, as_tuple());
                ec = failed;
                REQUIRE((!ec || is_recoverable(ec) || ec == zk_errc::no_node));
            }
            watched_data watched = co_await zk.watch_data("/e");
            auto full = hosts_of(all.hosts());
            co_await eventually_async([&] { return hosts_of(zk.hosts()) == full; }, 30s);
            CHECK(zk.hosts().ends_with("/app"));

            // One member leaves: its clients move, the others stay.
            co_await hand.reconfigure("", id, "");
            auto rest = full;
            rest.erase(all[leaving].hosts());
            co_await eventually_async(
                [&] { return hosts_of(zk.hosts()) == rest && hosts_of(plain.hosts()) == rest; },
                30s);
            for (client* each : {&zk, &plain}) {
                co_await eventually_async(
                    [&] {
                        auto home = home_of(all, each->session_id());
                        return home && *home != leaving;
                    },
                    60s);
                co_await reach(*each, session_state::connected);
            }
            CHECK(zk.session_id() == session);
            CHECK(zk.generation() == 1);
            CHECK(watched.changed.pending());

            // And comes back.
            for (error_code ec = zk_errc::reconfig_in_progress; ec;) {
                auto [failed, config] =
                    co_await hand.reconfigure(line_of(configuration.data, id), "", "", as_tuple());
                ec = failed;
                REQUIRE((!ec || is_recoverable(ec) || ec == zk_errc::reconfig_in_progress ||
                         ec == zk_errc::new_config_no_quorum));
            }
            co_await eventually_async(
                [&] { return hosts_of(zk.hosts()) == full && hosts_of(plain.hosts()) == full; },
                30s);
            for (error_code ec = zk_errc::connection_loss; ec;) {
                auto [failed, stat] = co_await zk.set("/e", "y", any_version, as_tuple());
                ec = failed;
                REQUIRE((!ec || is_recoverable(ec)));
            }
            watch_event event = co_await watched.changed.next();
            CHECK(event.type == watch_event_type::data_changed);
            CHECK(zk.session_id() == session);
            for (client* each : {&zk, &plain, &hand})
                co_await each->close(as_tuple());
        },
        240s);
    run_to_idle(context);
}

TEST_CASE("reconfiguration: followed over TLS") {
    if (!has_tls())
        return;
    // One port for both: the configuration has a single one.
    ensemble_options options = configurable();
    speak_tls(options.member, 0, "server", "none");
    auto& lines = options.member.config_lines;
    std::erase(lines, "secureClientPort=0");
    lines.emplace_back("client.portUnification=true");
    ensemble all(options);
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client_options by_tls = following(all[0].hosts());
            by_tls.session_timeout = 60s;
            by_tls.tls.emplace();
            by_tls.tls->ca_file = made().file("ca.pem");
            client zk = co_await connected_client(by_tls);
            const auto full = hosts_of(all.hosts());
            co_await eventually_async([&] { return hosts_of(zk.hosts()) == full; }, 30s);
            const std::int64_t session = zk.session_id();
            const auto home = home_of(all, session);
            REQUIRE(home);
            const auto connects = zk.counters().connects;
            all[*home].kill();
            co_await eventually_async([&] { return zk.counters().connects > connects; }, 60s);
            co_await reach(zk, session_state::connected);
            CHECK(zk.session_id() == session);
            CHECK(zk.generation() == 1);
            co_await zk.close(as_tuple());
        },
        240s);
    run_to_idle(context);
}

TEST_CASE("reconfiguration: a list that is set by hand holds until the next change") {
    ensemble all(configurable());
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client zk = co_await connected_client(following(all.hosts()));
            auto full = hosts_of(all.hosts());
            auto followers = all.followers();
            REQUIRE_FALSE(followers.empty());
            std::string kept = all[followers[0]].hosts();
            // Reads the configuration, and then another session does.
            co_await zk.get_config();
            co_await zk.set_hosts(kept);
            co_await eventually_async([&] { return home_of(all, zk.session_id()) == followers[0]; },
                                      60s);
            co_await reach(zk, session_state::connected);
            co_await zk.get_config();
            co_await let_others_run();
            CHECK(zk.hosts() == kept);
            // Also in the next session.
            REQUIRE(expire_session(
                all[followers[0]].port(), zk.session_id(), std::string(zk.credentials().password)));
            co_await eventually_async([&] { return zk.status().generation == 2; }, 60s);
            co_await reach(zk, session_state::connected);
            co_await zk.get_config();
            co_await let_others_run();
            CHECK(zk.hosts() == kept);
            co_await zk.close();
        },
        240s);
    run_to_idle(context);
}

TEST_CASE("reconfiguration: where the configuration has no addresses the list stays") {
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        std::string log;
        client_options options = following(the_hosts());
        options.logger = logger(log_level::warning, [&](log_level, std::string_view text) {
            log += std::string(text) + "\n";
        });
        client zk = co_await connected_client(options);
        co_await zk.get_config();
        co_await let_others_run();
        CHECK(zk.hosts() == the_hosts());
        CHECK_THAT(log, Catch::Contains("the ensemble's configuration"));
        co_await zk.close();
    });
    run_to_idle(context);
}

}  // namespace corozk::testing::client_tests::reconfiguration_test
