// SPDX-License-Identifier: Apache-2.0

#include "proxy/rule_book.hpp"

#include <catch2/catch.hpp>

#include <stdexcept>

namespace corozk::testing::rule_book_test {

using namespace corozk::testing;
using namespace corozk::testing::detail;

namespace {

frame_info request(op_code op, std::uint64_t number = 0, std::string path = {}) {
    frame_info info;
    info.kind = frame_kind::request;
    info.op = op;
    info.number = number;
    info.path = std::move(path);
    return info;
}

frame_info of_kind(frame_kind kind) {
    frame_info info;
    info.kind = kind;
    return info;
}

}  // namespace

TEST_CASE("a rule for a number fires at that number only, once") {
    rule_book rules;
    const auto id = rules.arm(at_request(2), hold_reply());
    CHECK_FALSE(rules.match(request(op_code::create, 1)));
    const auto fired = rules.match(request(op_code::create, 2));
    REQUIRE(fired);
    CHECK(fired->id == id);
    CHECK(fired->what.what() == action::kind::hold_reply);
    CHECK_FALSE(rules.match(request(op_code::create, 2)));
}

TEST_CASE("a rule for an operation counts that operation from when it was armed") {
    rule_book rules;
    CHECK_FALSE(rules.match(request(op_code::erase)));
    rules.arm(at_op(op_code::erase, 2), hold_reply());
    CHECK_FALSE(rules.match(request(op_code::erase)));
    CHECK_FALSE(rules.match(request(op_code::create)));
    CHECK(rules.match(request(op_code::erase)));
    CHECK_FALSE(rules.match(request(op_code::erase)));
}

TEST_CASE("a rule can fire several times or always") {
    rule_book rules;
    SECTION("twice, from the second on") {
        rules.arm(at_op(op_code::sync, 2).times(2), hold_reply());
        CHECK_FALSE(rules.match(request(op_code::sync)));
        CHECK(rules.match(request(op_code::sync)));
        CHECK(rules.match(request(op_code::sync)));
        CHECK_FALSE(rules.match(request(op_code::sync)));
    }
    SECTION("always, until disarmed") {
        const auto id = rules.arm(at_op(op_code::sync).times(0), hold_reply());
        for (int count = 0; count < 10; ++count) {
            CHECK(rules.match(request(op_code::sync)));
        }
        rules.disarm(id);
        CHECK_FALSE(rules.match(request(op_code::sync)));
    }
}

TEST_CASE("rules can be narrowed") {
    rule_book rules;
    rules.arm(at_op(op_code::create).under("/lock/").where([](const frame_info& frame) {
        return frame.number > 5;
    }),
              hold_reply());
    CHECK_FALSE(rules.match(request(op_code::create, 6, "/other/x")));
    CHECK_FALSE(rules.match(request(op_code::create, 5, "/lock/x")));
    CHECK(rules.match(request(op_code::create, 7, "/lock/x")));
}

TEST_CASE("kinds of frames are kept apart") {
    rule_book rules;
    rules.arm(at_connect(), drop_request_and_cut());
    rules.arm(at_notification(), hold_reply());
    CHECK_FALSE(rules.match(request(op_code::create)));
    CHECK(rules.match(of_kind(frame_kind::notification)));
    CHECK(rules.match(of_kind(frame_kind::connect)));
    CHECK_THROWS_AS(rules.arm(at_notification(), hold_request()), std::invalid_argument);
}

TEST_CASE("the rule that was armed first wins, and the other has counted") {
    rule_book rules;
    const auto first = rules.arm(at_op(op_code::create), hold_reply());
    const auto second = rules.arm(at_op(op_code::create, 2), hold_reply());
    CHECK(rules.match(request(op_code::create))->id == first);
    CHECK(rules.match(request(op_code::create))->id == second);
}

}  // namespace corozk::testing::rule_book_test
