// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/raw_session.hpp"

#include "corozk/testing/admin.hpp"
#include "corozk/testing/error.hpp"
#include "corozk/testing/server.hpp"
#include "jute.hpp"

#include <catch2/catch.hpp>

namespace corozk::testing::raw_session_test {

using namespace corozk::testing;
using namespace std::chrono_literals;

namespace {

template <class Action>
zk_code code_of(Action action) {
    try {
        action();
    } catch (const zookeeper_error& error) {
        return error.code();
    }
    return zk_code::ok;
}

}  // namespace

TEST_CASE("nodes are created, read, written and deleted") {
    raw_session zk{shared_server().port()};
    const std::string root = zk.create("/raw", "root");
    CHECK(root == "/raw");
    CHECK(zk.create("/raw/a", std::string{"b\0c", 3}) == "/raw/a");
    auto [data, stat] = zk.get("/raw/a");
    CHECK(data == std::string{"b\0c", 3});
    CHECK(stat.data_length == 3);
    CHECK(stat.version == 0);
    CHECK(stat.ephemeral_owner == 0);
    CHECK(zk.set("/raw/a", "new").version == 1);
    CHECK(zk.exists("/raw/a")->mzxid > stat.mzxid);
    CHECK(zk.exists("/raw/a")->czxid == stat.czxid);
    CHECK(zk.children("/raw") == std::vector<std::string>{"a"});
    CHECK(zk.exists("/raw")->num_children == 1);

    CHECK(code_of([&] { zk.create("/raw/a"); }) == zk_code::node_exists);
    CHECK(code_of([&] { zk.set("/raw/a", "", 7); }) == zk_code::bad_version);
    CHECK(code_of([&] { zk.erase("/raw"); }) == zk_code::not_empty);
    CHECK(code_of([&] { zk.get("/raw/none"); }) == zk_code::no_node);
    CHECK(code_of([&] { zk.children("/raw/none"); }) == zk_code::no_node);
    CHECK_FALSE(zk.exists("/raw/none"));

    zk.erase("/raw/a", 1);
    zk.erase("/raw");
    zk.sync();
    zk.ping();
}

TEST_CASE("all kinds of node can be created") {
    raw_session zk{shared_server().port()};
    zk.create("/kinds");
    CHECK(zk.create("/kinds/s-", "", node_kind::persistent_sequential) == "/kinds/s-0000000000");
    CHECK(zk.create("/kinds/e-", "", node_kind::ephemeral_sequential) == "/kinds/e-0000000001");
    CHECK(zk.exists("/kinds/e-0000000001")->ephemeral_owner == zk.session_id());
    zk.create("/kinds/c", "", node_kind::container);
    CHECK(code_of([&] { zk.create("/kinds/e-0000000001/x"); }) ==
          zk_code::no_children_for_ephemerals);
    CHECK(code_of([&] { zk.create("/kinds/t", "", node_kind::persistent_ttl, open_acl(), 1s); }) ==
          zk_code::unimplemented);
    CHECK(admin{shared_server().port()}.erase_recursively("/kinds") == 4);
}

TEST_CASE("access control lists are obeyed") {
    raw_session zk{shared_server().port()};
    zk.add_auth("digest", "user:secret");
    const std::vector<acl_entry> mine{{.permissions = 31, .scheme = "auth", .id = ""}};
    zk.create("/private", "x", node_kind::persistent, mine);
    CHECK(zk.get_acl("/private").front().scheme == "digest");
    raw_session stranger{shared_server().port()};
    CHECK(code_of([&] { stranger.get("/private"); }) == zk_code::no_auth);
    zk.set_acl("/private", open_acl());
    CHECK(stranger.get("/private").first == "x");
    CHECK(stranger.get_acl("/private") == open_acl());
    stranger.erase("/private");
}

TEST_CASE("watches notify") {
    raw_session zk{shared_server().port()};
    raw_session other{shared_server().port()};
    CHECK_FALSE(zk.exists("/watched", true));
    CHECK_THROWS_AS(zk.next_notification(10ms), timeout_error);
    other.create("/watched");
    const auto created = zk.next_notification(10s);
    CHECK(created.type == 1);
    CHECK(created.path == "/watched");
    zk.get("/watched", true);
    zk.children("/watched", true);
    other.create("/watched/child");
    CHECK(zk.next_notification(10s).type == 4);
    other.erase("/watched/child");
    other.erase("/watched");
    CHECK(zk.get("/").second.czxid == 0);  // an answer may come between the events
    CHECK(zk.next_notification(10s).type == 2);
}

TEST_CASE("requests can be pipelined") {
    raw_session zk{shared_server().port()};
    const auto request = [](std::string_view path) {
        detail::jute_writer writer;
        return std::string{writer.buffer(path).boolean(false).bytes()};
    };
    const auto first = zk.send(op_code::exists, request("/"));
    const auto second = zk.send(op_code::exists, request("/none"));
    CHECK(zk.receive(second).error == zk_code::no_node);
    CHECK(zk.receive(first).error == zk_code::ok);
}

TEST_CASE("large data passes") {
    raw_session zk{shared_server().port()};
    const std::string big(1'000'000, 'z');
    zk.create("/big", big);
    CHECK(zk.get("/big").first == big);
    zk.erase("/big");
}

TEST_CASE("a session can be continued after a lost connection") {
    raw_session first{shared_server().port()};
    first.create("/continued", "", node_kind::ephemeral);
    first.disconnect();
    CHECK_FALSE(first.connected());
    CHECK(code_of([&] { first.exists("/"); }) == zk_code::connection_loss);
    raw_session second{shared_server().port(),
                       {.session_id = first.session_id(), .password = first.password()}};
    CHECK(second.session_id() == first.session_id());
    CHECK(second.exists("/continued"));
    second.close();
    second.close();
    CHECK_FALSE(raw_session{shared_server().port()}.exists("/continued"));
}

TEST_CASE("a session is expired by its id and password") {
    const auto port = shared_server().port();
    raw_session victim{port};
    raw_session witness{port};
    victim.create("/victim", "", node_kind::ephemeral);
    REQUIRE(witness.exists("/victim", true));
    SECTION("with the right password") {
        CHECK(expire_session(port, victim.session_id(), victim.password()));
        CHECK_FALSE(witness.exists("/victim"));
        CHECK(witness.next_notification(1s).type == 2);
        CHECK_FALSE(expire_session(port, victim.session_id(), victim.password()));
        CHECK(code_of([&] {
                  raw_session{port,
                              {.session_id = victim.session_id(), .password = victim.password()}};
              }) == zk_code::session_expired);
    }
    SECTION("but not with a wrong one") {
        CHECK_FALSE(expire_session(port, victim.session_id(), std::string(16, 'x')));
        CHECK(witness.exists("/victim"));
    }
    victim.disconnect();
}

TEST_CASE("a session ends with its object, and moves") {
    const auto port = shared_server().port();
    raw_session witness{port};
    {
        raw_session zk{port};
        zk.create("/moved", "", node_kind::ephemeral);
        raw_session other{std::move(zk)};
        CHECK(other.exists("/moved"));
        raw_session target{port};
        target = std::move(other);
        CHECK(target.exists("/moved"));
    }
    CHECK_FALSE(witness.exists("/moved"));
}

}  // namespace corozk::testing::raw_session_test
