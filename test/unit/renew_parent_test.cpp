// SPDX-License-Identifier: Apache-2.0
#include "recipe/toolkit/renew_parent.hpp"

#include "recipe/toolkit/sequence_end.hpp"
#include "scripted_port.hpp"

#include <catch2/catch.hpp>

#include <optional>
#include <string>

namespace corozk::testing::renew_parent_test {

using namespace corozk;

namespace {

const acl custom{acl_entry(permission::read | permission::create, "digest", "user:hash=")};

detail::task<> renew(detail::port& p, bool keep_data, std::optional<error_code>& result) {
    result = co_await detail::renew_parent(p, "/a", keep_data);
}

/// Version 7, created in session 3, with data.
void answer_look(scripted_port& p, std::int32_t children = 0, bool spent = true) {
    REQUIRE(p.asked() == "get /a");
    p.front().answer = "data";
    p.front().sent_in = 3;
    p.front().record.version = 7;
    p.front().record.num_children = children;
    p.front().record.cversion = (spent ? -2'097'154 : 4) - children;
    REQUIRE(detail::sequence_spent(p.front().record) == spent);
    p.answer();
}

void answer_rights(scripted_port& p, const acl& entries, error_code ec = {}) {
    REQUIRE(p.asked() == "get_acl /a");
    p.front().entries = entries;
    p.answer(ec);
}

}  // namespace

TEST_CASE("renew parent: the new one has the same ACL, and the data if it is wanted") {
    scripted_port p;
    std::optional<error_code> result;
    const bool keep_data = GENERATE(true, false);
    p.spawn(renew(p, keep_data, result));
    answer_look(p);
    answer_rights(p, custom);
    REQUIRE(p.asked() == "commit ");
    CHECK(p.front().generation == 3);  // not in another session
    REQUIRE(p.front().steps.size() == 2);
    CHECK(p.front().steps[0].version == 7);
    CHECK(p.front().steps[1].data == (keep_data ? "data" : ""));
    CHECK(p.front().steps[1].acl == custom);
    const error_code ec = GENERATE(error_code(),
                                   error_code(zk_errc::not_empty),
                                   error_code(zk_errc::no_auth),
                                   error_code(zk_errc::connection_loss),
                                   error_code(zk_errc::bad_version));
    p.answer(ec);
    const bool kept = ec == zk_errc::not_empty || ec == zk_errc::no_auth;
    CHECK(result == (kept ? make_error_code(errc::sequence_exhausted) : ec));
    CHECK(p.asked().empty());
}

TEST_CASE(
    "renew parent: nothing is replaced without need, or where it could change who may do what") {
    scripted_port p;
    std::optional<error_code> result;
    error_code expected = errc::sequence_exhausted;
    p.spawn(renew(p, true, result));
    SECTION("its numbers are not used up: another client was faster") {
        answer_look(p, 0, false);
        answer_rights(p, custom);
        expected = error_code();
    }
    SECTION("it has children") {
        answer_look(p, 2);
        answer_rights(p, custom);
    }
    SECTION("the server hides a password") {
        answer_look(p);
        answer_rights(p, {acl_entry(permission::all, "digest", "user:x")});
    }
    SECTION("the ACL cannot be read") {
        answer_look(p);
        answer_rights(p, {}, zk_errc::no_auth);
    }
    SECTION("the connection is lost at the first request") {
        p.answer(zk_errc::connection_loss);
        answer_rights(p, custom);
        expected = zk_errc::connection_loss;
    }
    SECTION("and at the second one") {
        answer_look(p);
        answer_rights(p, {}, zk_errc::connection_loss);
        expected = zk_errc::connection_loss;
    }
    CHECK(p.asked().empty());
    CHECK(result == expected);
}

}  // namespace corozk::testing::renew_parent_test
