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

detail::task<> write_anew(detail::port& p,
                          const detail::interest& call,
                          std::optional<error_code>& result) {
    auto decide = [](const detail::request& read, std::optional<std::string>& data) {
        if (read.answer != "mine")
            data = "mine";
        return error_code();
    };
    result = co_await detail::write_node(p, "/n", "mine", acl(), call, decide);
}

/// What is read while a write is in doubt is not older than that.
void catch_up(scripted_port& p, error_code ec = {}) {
    REQUIRE(p.asked() == "sync /n");
    p.answer(ec);
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
            catch_up(p);
            answer_read(p, 1, 7, "theirs");
        }
        SECTION("it was applied") {
            catch_up(p);
            answer_read(p, 1, 6, "mine");
        }
        SECTION("it was not applied, perhaps: another one has written once") {
            catch_up(p);
            answer_read(p, 1, 6, "theirs");
            expect_write(p, 6, zk_errc::connection_loss);
            catch_up(p);
            answer_read(p, 1, 8, "theirs again");
        }
        SECTION("another node, which cannot have had it") {
            catch_up(p);
            answer_read(p, 2, 7, "theirs");
            expect_write(p, 7, error_code());
        }
        SECTION("a conflict leaves no doubt") {
            catch_up(p);
            answer_read(p, 1, 5, "old");
            expect_write(p, 5, zk_errc::bad_version);
            catch_up(p);
            answer_read(p, 1, 6, "theirs");
            expect_write(p, 6, error_code());
        }
    }
    SECTION("made of what was read: again, until it is seen") {
        p.spawn(write_mine(p, how, result));
        answer_read(p, 1, 5, "old");
        expect_write(p, 5, zk_errc::connection_loss);
        catch_up(p);
        answer_read(p, 1, 7, "theirs");
        expect_write(p, 7, error_code());
    }
    CHECK(p.asked().empty());
    CHECK(result == error_code());
}

TEST_CASE("update node: a server without a quorum does not say what a lost write has done") {
    scripted_port p;
    std::optional<error_code> result;
    update_options how;
    p.spawn(write_mine(p, how, result));
    answer_read(p, 1, 5, "old");
    SECTION("nothing is in doubt: it refuses") {
        p.set_state(session_state::read_only, 2);
        expect_write(p, 5, zk_errc::not_read_only);
        CHECK(result == make_error_code(zk_errc::not_read_only));
    }
    SECTION("in doubt") {
        expect_write(p, 5, zk_errc::connection_loss);
        p.set_state(session_state::read_only, 2);
        SECTION("to the read") {
            catch_up(p, zk_errc::not_read_only);
            answer_read(p, 1, 4, "mine");  // long ago
        }
        SECTION("to the write") {
            catch_up(p);
            answer_read(p, 1, 5, "old");
            expect_write(p, 5, zk_errc::not_read_only);
        }
        CHECK(p.asked().empty());
        CHECK_FALSE(result);
        p.set_state(session_state::connected, 2);
        catch_up(p);
        answer_read(p, 1, 6, "mine");
        CHECK(result == error_code());
    }
    CHECK(p.asked().empty());
}

TEST_CASE("write node: a server without a quorum does not say what a lost create has done") {
    scripted_port p;
    std::optional<error_code> result;
    detail::user_call<> call(p, [](error_code) {});
    p.spawn(write_anew(p, call, result));
    REQUIRE(p.asked() == "create /n");
    p.answer(zk_errc::connection_loss);
    p.set_state(session_state::read_only, 2);
    REQUIRE(p.asked() == "create /n");
    p.answer(zk_errc::not_read_only);
    CHECK(p.asked().empty());
    CHECK_FALSE(result);
    p.set_state(session_state::connected, 2);
    REQUIRE(p.asked() == "create /n");
    p.answer(zk_errc::node_exists);
    catch_up(p);
    answer_read(p, 1, 0, "mine");
    CHECK(result == error_code());
    CHECK(p.asked().empty());
}

}  // namespace corozk::testing::update_node_test
