// SPDX-License-Identifier: Apache-2.0
#include "wire/server_abilities.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <string>

namespace corozk::testing::server_abilities_test {

using namespace corozk::detail;
using namespace std::chrono_literals;

namespace {

constexpr operation_set create2 = set_of(wire_op::create2);
constexpr operation_set container = set_of(wire_op::create_container);
constexpr operation_set ttl = set_of(wire_op::create_ttl);
constexpr operation_set removal = set_of(wire_op::remove_watches);
constexpr operation_set reads = set_of(wire_op::multi_read);
constexpr operation_set watch = set_of(wire_op::add_watch);
constexpr operation_set ephemerals = set_of(wire_op::get_ephemerals);
constexpr operation_set get = set_of(wire_op::get_data);

const server_abilities::time_point start = std::chrono::steady_clock::now();

server_abilities responsive() {
    server_abilities server;
    server.responsive(start);
    return server;
}

}  // namespace

TEST_CASE("server abilities: everything is asked for until it is known to be unknown") {
    server_abilities server;
    for (const operation_form& form : operation_forms)
        CHECK(server.knows(form.op));
}

TEST_CASE("server abilities: those of ZooKeeper 3.4, if the options say so") {
    server_abilities server(false);
    for (wire_op op : {wire_op::create,
                       wire_op::get_children2,
                       wire_op::check,
                       wire_op::multi,
                       wire_op::auth,
                       wire_op::set_watches,
                       wire_op::sasl,
                       wire_op::close_session}) {
        INFO(to_string(op));
        CHECK(server.knows(op));
    }
    for (wire_op op : {wire_op::create2,
                       wire_op::reconfig,
                       wire_op::remove_watches,
                       wire_op::create_container,
                       wire_op::create_ttl,
                       wire_op::multi_read,
                       wire_op::get_ephemerals,
                       wire_op::get_all_children_number,
                       wire_op::set_watches2,
                       wire_op::add_watch,
                       wire_op::who_am_i}) {
        INFO(to_string(op));
        CHECK_FALSE(server.knows(op));
    }
}

TEST_CASE("server abilities: closing the connection twice instead of responding") {
    server_abilities server = responsive();
    CHECK(server.hung_up(reads | get, start) == 0);
    CHECK(server.knows(wire_op::multi_read));
    SECTION("is not to know") {
        CHECK(server.hung_up(reads | get, start) == reads);
        CHECK_FALSE(server.knows(wire_op::multi_read));
        CHECK(server.knows(wire_op::get_data));
        CHECK(server.knows(wire_op::create2));
        CHECK(server.hung_up(reads, start) == 0);  // nothing new
    }
    SECTION("at different operations is twice the first time") {
        CHECK(server.hung_up(create2, start) == 0);
        CHECK(server.knows(wire_op::multi_read));
        CHECK(server.hung_up(create2 | reads, start) ==
              (create2 | container | ttl | removal | watch | reads));
    }
    SECTION("with a response in between is chance") {
        server.answered(reads);
        CHECK(server.hung_up(reads, start) == 0);
        CHECK(server.knows(wire_op::multi_read));
    }
    SECTION("after a pause is chance") {
        CHECK(server.hung_up(reads, start + 1s) == 0);
        CHECK(server.hung_up(reads, start + 1h) == 0);
        server.responsive(start + 1h);
        CHECK(server.hung_up(reads, start + 1h) == reads);
    }
}

TEST_CASE("server abilities: a server that closes the connection on a large request, twice") {
    server_abilities server = responsive();
    CHECK(server.hung_up(create2 | ttl | reads, start, true) == 0);
    CHECK(server.hung_up(create2 | ttl | reads, start, true) == create2);
    CHECK_FALSE(server.knows(wire_op::create2));
    for (wire_op op : {wire_op::create_container,
                       wire_op::create_ttl,
                       wire_op::multi_read,
                       wire_op::add_watch,
                       wire_op::remove_watches})
        CHECK(server.knows(op));
    SECTION("as on small ones, and then also on those") {
        CHECK(server.hung_up(ttl, start) == 0);
        CHECK(server.hung_up(ttl, start) == ttl);
        CHECK_FALSE(server.knows(wire_op::create_ttl));
    }
}

TEST_CASE("server abilities: several servers that close the connection, once each") {
    server_abilities any = responsive();
    for (const char* server : {"a", "b", "c"}) {
        any.connecting(server);
        CHECK(any.hung_up(container | watch, start) == 0);
    }
    CHECK(any.knows(wire_op::create_container));
    SECTION("and one of them again") {
        any.connecting("b");
        CHECK(any.hung_up(watch, start) == watch);
        CHECK_FALSE(any.knows(wire_op::add_watch));
        CHECK(any.knows(wire_op::create_container));
        // What one does not know, its like are not asked.
        any.connecting("d");
        CHECK_FALSE(any.knows(wire_op::add_watch));
    }
    SECTION("and one of them again, after another one has responded") {
        any.connecting("d");
        any.answered(watch);
        any.connecting("b");
        CHECK(any.hung_up(container | watch, start) == container);
        CHECK(any.knows(wire_op::add_watch));
    }
}

TEST_CASE("server abilities: a server that is away between two connections was killed") {
    server_abilities any = responsive();
    any.connecting("a");
    CHECK(any.hung_up(container, start) == 0);
    any.connecting("b");
    CHECK(any.hung_up(container, start) == 0);
    any.connecting("a");
    any.not_accepted();
    any.connecting("a");
    CHECK(any.hung_up(container, start) == 0);
    CHECK(any.knows(wire_op::create_container));
    // That says nothing of the other one.
    any.connecting("b");
    CHECK(any.hung_up(container, start) == container);
}

TEST_CASE("server abilities: what is new is not known either if create2 is not") {
    server_abilities server = responsive();
    CHECK(server.refused(create2, false) == (create2 | container | ttl | removal | watch));
    CHECK_FALSE(server.knows(wire_op::create_ttl));
    CHECK(server.knows(wire_op::multi_read));
    CHECK(server.refused(create2, false) == 0);
}

TEST_CASE("server abilities: a refusal is remembered if it helps") {
    server_abilities server = responsive();
    // The server may know it, but forbid it: TTLs. Each request is told.
    CHECK(server.refused(ttl, false) == 0);
    CHECK(server.refused(ephemerals, false) == 0);
    CHECK(server.refused(get, false) == 0);
    CHECK(server.knows(wire_op::create_ttl));
    CHECK(server.knows(wire_op::get_ephemerals));
    // A transaction with both.
    CHECK(server.refused(set_of(wire_op::multi) | container | ttl, false) == container);
    CHECK(server.knows(wire_op::create_ttl));
    // The connection ends with it.
    CHECK(server.refused(ephemerals, true) == ephemerals);
    CHECK(server.refused(get, true) == 0);
    CHECK(server.knows(wire_op::get_data));
}

TEST_CASE("server abilities: what recipes can do without is refused once") {
    server_abilities server = responsive();
    // The caller is told, and the connection need not be given up.
    CHECK(server.refused(watch, false) == 0);
    CHECK(server.refused(reads, false) == 0);
    CHECK_FALSE(server.knows(wire_op::add_watch));
    CHECK_FALSE(server.knows(wire_op::multi_read));
    CHECK(server.knows(wire_op::create2));
    SECTION("also ahead of earlier answers, which ends the connection") {
        server_abilities other = responsive();
        CHECK(other.refused(watch, true) == watch);
        CHECK(other.refused(watch, true) == 0);
    }
}

TEST_CASE(
    "server abilities: a connection that ends after a refusal says nothing of other requests") {
    server_abilities server = responsive();
    for (operation_set refused : {watch, ephemerals, reads, ephemerals}) {
        server.connecting("a");
        CHECK(server.refused(refused, false) == 0);
        server.responsive(start);
        CHECK(server.hung_up(create2 | removal, start) == 0);
    }
    CHECK(server.knows(wire_op::create2));
    CHECK(server.knows(wire_op::remove_watches));
    server.connecting("a");
    CHECK(server.hung_up(removal, start) == 0);
    CHECK(server.hung_up(removal, start) == removal);
}

TEST_CASE("server abilities: in words") {
    CHECK(to_string(operation_set{0}).empty());
    CHECK(to_string(create2 | ttl) == "create2, createTTL");
}

}  // namespace corozk::testing::server_abilities_test
