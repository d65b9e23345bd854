// SPDX-License-Identifier: Apache-2.0
#include "recipe/toolkit/update_node.hpp"

#include "scripted_port.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace corozk::testing::update_node_test {

using namespace corozk;
using detail::update_options;

namespace {

detail::task<> write_mine(detail::port& p, update_options how, std::optional<error_code>& result) {
    detail::retry attempts(p);
    auto decide = [](const detail::request& read, std::optional<std::string>& data) {
        if (read.answer != "mine")
            data = "mine";
        return error_code();
    };
    result = co_await detail::update_node(p, "/n", attempts, how, decide);
}

void answer_read(scripted_port& p, std::int64_t node, std::int32_t version, std::string data) {
    REQUIRE(p.asked() == "get /n");
    p.front().record.czxid = node;
    p.front().record.version = version;
    p.front().answer = std::move(data);
    p.answer();
}

void expect_write(scripted_port& p, std::int32_t version, error_code result) {
    REQUIRE(p.asked() == "set /n");
    CHECK(p.front().version == version);
    CHECK(p.front().data == "mine");
    p.answer(result);
}

}  // namespace

TEST_CASE("update node: a write whose response was lost does not replace what others wrote since") {
    scripted_port p;
    std::optional<error_code> result;
    update_options how;
    SECTION("blind") {
        how.blind = true;
        p.spawn(write_mine(p, how, result));
        answer_read(p, 1, 5, "old");
        expect_write(p, 5, zk_errc::connection_loss);
        SECTION("it was applied, and replaced") {
            answer_read(p, 1, 7, "theirs");
        }
        SECTION("it was applied") {
            answer_read(p, 1, 6, "mine");
        }
        SECTION("it was not applied, perhaps: another one has written once") {
            answer_read(p, 1, 6, "theirs");
            expect_write(p, 6, zk_errc::connection_loss);
            answer_read(p, 1, 8, "theirs again");
        }
        SECTION("another node, which cannot have had it") {
            answer_read(p, 2, 7, "theirs");
            expect_write(p, 7, error_code());
        }
        SECTION("a conflict leaves no doubt") {
            answer_read(p, 1, 5, "old");
            expect_write(p, 5, zk_errc::bad_version);
            answer_read(p, 1, 6, "theirs");
            expect_write(p, 6, error_code());
        }
    }
    SECTION("made of what was read: again, until it is seen") {
        p.spawn(write_mine(p, how, result));
        answer_read(p, 1, 5, "old");
        expect_write(p, 5, zk_errc::connection_loss);
        answer_read(p, 1, 7, "theirs");
        expect_write(p, 7, error_code());
    }
    CHECK(p.asked().empty());
    CHECK(result == error_code());
}

}  // namespace corozk::testing::update_node_test
