// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/four_letter.hpp"

#include "corozk/testing/error.hpp"
#include "corozk/testing/eventually.hpp"
#include "corozk/testing/port.hpp"
#include "corozk/testing/raw_session.hpp"
#include "corozk/testing/server.hpp"

#include <catch2/catch.hpp>

#include <system_error>

namespace corozk::testing::four_letter_test {

using namespace corozk::testing;
using namespace std::chrono_literals;

TEST_CASE("a server's numbers can be read") {
    const auto port = shared_server().port();
    CHECK(four_letter(port, "ruok") == "imok");
    CHECK(server_mode(port) == "standalone");
    CHECK(mntr(port).at("zk_server_state") == "standalone");
    CHECK_THROWS_AS(mntr_value(port, "zk_server_state"), std::runtime_error);
    CHECK_THROWS_AS(mntr_value(port, "zk_no_such_thing"), std::runtime_error);

    // Those of earlier tests and earlier questions may not have ended yet.
    eventually([&] { return connection_count(port) == 0; });
    const auto nodes = znode_count(port);
    const auto watches = watch_count(port);
    raw_session session{port};
    eventually([&] { return connection_count(port) == 1; });
    session.create("/four", "", node_kind::ephemeral);
    CHECK(znode_count(port) == nodes + 1);
    CHECK(ephemerals(port).at("/four") == session.session_id());
    session.get("/four", true);
    session.exists("/five", true);
    CHECK(watch_count(port) == watches + 2);
    CHECK(watches_by_path(port).at("/five").contains(session.session_id()));
    CHECK(watches_by_session(port).at(session.session_id()).contains("/four"));
    session.close();
    CHECK(znode_count(port) == nodes);
    CHECK_FALSE(ephemerals(port).contains("/four"));
}

TEST_CASE("the server counts packets, four-letter words included") {
    const auto port = shared_server().port();
    raw_session session{port};
    const auto received = packets_received(port);
    CHECK(packets_received(port) == received + 1);
    const auto sent = packets_sent(port);
    for (int count = 0; count < 10; ++count) {
        session.exists("/");
    }
    CHECK(packets_received(port) == received + 1 + 1 + 10 + 1);
    CHECK(packets_sent(port) - sent >= 10);
}

TEST_CASE("a server that is not there or does not answer is an error") {
    const port_reservation nobody;
    CHECK_THROWS_AS(four_letter(nobody.port(), "ruok"), std::system_error);
    server still;
    still.stop();
    CHECK_THROWS_AS(four_letter(still.port(), "ruok", 50ms), timeout_error);
}

}  // namespace corozk::testing::four_letter_test
