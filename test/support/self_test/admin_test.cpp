// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/admin.hpp"

#include "corozk/testing/server.hpp"

#include <catch2/catch.hpp>

namespace corozk::testing::admin_test {

using namespace corozk::testing;

TEST_CASE("an admin plants, looks at and removes nodes") {
    admin hand{shared_server().port()};
    CHECK(hand.plant("/admin/b/c/d", "x") == "/admin/b/c/d");
    hand.plant("/admin/a");
    CHECK_THROWS_AS(hand.plant("/admin/a"), zookeeper_error);
    CHECK(hand.children("/admin") == std::vector<std::string>{"a", "b"});
    CHECK(hand.tree("/admin") ==
          std::vector<std::string>{"/admin/a", "/admin/b", "/admin/b/c", "/admin/b/c/d"});
    CHECK(hand.data("/admin/b/c/d") == "x");
    hand.set("/admin/b/c/d", "y");
    CHECK(hand.data("/admin/b/c/d") == "y");
    CHECK(hand.stat("/admin/b/c/d")->version == 1);
    CHECK(hand.exists("/admin/a"));
    CHECK(hand.erase("/admin/a"));
    CHECK_FALSE(hand.erase("/admin/a"));
    CHECK(hand.erase_recursively("/admin") == 4);
    CHECK(hand.erase_recursively("/admin") == 0);
    CHECK(hand.children("/admin").empty());
    CHECK_THROWS_AS(hand.data("/admin"), zookeeper_error);
}

TEST_CASE("an admin removes many nodes") {
    admin hand{shared_server().port()};
    hand.plant("/many");
    for (int count = 0; count < 1'200; ++count) {
        hand.plant("/many/n-", "", node_kind::persistent_sequential);
    }
    CHECK(hand.erase_recursively("/many") == 1'201);
}

TEST_CASE("an admin connects again when it has to") {
    server zk;
    admin hand{zk.port()};
    hand.plant("/here");
    zk.restart();
    CHECK(hand.exists("/here"));
    const auto id = hand.session().session_id();
    CHECK(expire_session(zk.port(), id, hand.session().password()));
    hand.session().disconnect();
    CHECK(hand.exists("/here"));
    CHECK(hand.session().session_id() != id);
    CHECK(hand.tree() == std::vector<std::string>{"/here"});
    CHECK(hand.erase_recursively("/") == 1);
}

}  // namespace corozk::testing::admin_test
