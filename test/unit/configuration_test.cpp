// SPDX-License-Identifier: Apache-2.0
#include "recipe/configuration/core.hpp"
#include "recipe/configuration/rule.hpp"
#include "scripted_port.hpp"
#include <corozk/recipe/configuration.hpp>

#include <catch2/catch.hpp>

#include <memory>
#include <optional>
#include <string>

namespace corozk::testing::configuration_test {

using namespace corozk;
using namespace corozk::detail;

TEST_CASE("configuration part names") {
    auto ready = configuration_layout::ready;
    auto versioned = configuration_layout::versioned;
    CHECK(good_part_name(ready, "a"));
    CHECK(good_part_name(versioned, "ready"));
    for (std::string_view name : {"", "a/b", ".", "..", "ready", "writer", "a\n"}) {
        INFO(name);
        CHECK_FALSE(good_part_name(ready, name));
    }
    CHECK_FALSE(good_part_name(versioned, ".writer"));
}

TEST_CASE("configuration version names") {
    CHECK(version_name(12, "ab") == "0000000012-ab");
    CHECK(version_number("0000000012-ab") == 12u);
    CHECK(version_number(version_name(12'345'678'901, "ab")) == 12'345'678'901u);
    CHECK(version_number("9223372036854775807-ab") == 9'223'372'036'854'775'807u);
    for (std::string_view name : {"",
                                  "1-a",
                                  "0000000012",
                                  "0000000012-",
                                  "000000001x-ab",
                                  "-ab",
                                  "0000000012-a/b",
                                  "0000000012-/..",
                                  "0000000012-a\n",
                                  "9223372036854775808-ab",
                                  "18446744073709551615-ab"}) {
        INFO(name);
        CHECK_FALSE(version_number(name));
    }
    CHECK_FALSE(version_number(std::string_view("0000000012-a\0b", 14)));
}

TEST_CASE("configuration steps are cut into requests that fit") {
    std::vector<transaction::step> steps(300);
    for (auto& step : steps)
        step.data.assign(100, 'x');
    auto requests = cut_into_requests(steps, 100'000);
    CHECK(requests.size() == 3);
    CHECK(requests[0].size() == 128);
    requests = cut_into_requests(steps, 1'000);
    CHECK(requests.size() == 150);
    std::size_t sum = 0;
    for (const auto& request : requests)
        sum += request.size();
    CHECK(sum == 300);
    CHECK(cut_into_requests({}, 1'000).empty());
    // One that is too large by itself still goes alone.
    steps.resize(2);
    CHECK(cut_into_requests(steps, 1).size() == 2);
}

TEST_CASE("configuration parts that one request can read") {
    using names = std::vector<std::string>;
    const names many(100, "name");
    CHECK(readable_at_once(many, 0, "/path", 1'048'575) == 64);
    CHECK(readable_at_once(many, 64, "/path", 1'048'575) == 36);
    // Larger parts, fewer of them.
    CHECK(readable_at_once(many, 0, "/path", 16UL << 20) == 4);
    CHECK(readable_at_once(many, 0, "/path", 1UL << 30) == 1);
    // Paths that fill a request.
    const names longer(10, std::string(100'000, 'x'));
    CHECK(readable_at_once(longer, 0, "/path", 1'048'575) == 10);
    CHECK(readable_at_once(longer, 0, "/path", 400'000) == 3);
    CHECK(readable_at_once(longer, 3, "/path", 1'024) == 1);
}

TEST_CASE("outdated configuration versions") {
    std::vector<std::string> versions{
        "0000000001-a", "0000000003-c", "0000000002-b", "other", "0000000004-d", "0000000005-e"};
    using names = std::vector<std::string>;
    CHECK(outdated_versions(versions, "0000000004-d", {"0000000005-e"}, 1) ==
          names{"0000000002-b", "0000000001-a"});
    CHECK(outdated_versions(versions, "0000000004-d", {}, 0) ==
          names{"0000000005-e", "0000000003-c", "0000000002-b", "0000000001-a"});
    CHECK(outdated_versions(versions, "0000000004-d", {}, 99) == names{"0000000005-e"});
    // A remnant does not take the place of what was current a moment ago.
    CHECK(outdated_versions({"0000000006-x", "0000000005-z"}, "0000000006-y", {}, 1) ==
          names{"0000000006-x"});
    // That of a living writer stays.
    CHECK(outdated_versions({"0000000006-x", "0000000005-z"}, "0000000006-y", {"0000000006-x"}, 1)
              .empty());
    // Whatever the server lists, each version counts once.
    versions = {"0000000002-b", "0000000001-a", "0000000002-c", "0000000002-b"};
    CHECK(outdated_versions(versions, "", {}, 2) == names{"0000000001-a"});
}

namespace {

void expect(scripted_port& p, const std::string& question, error_code ec = {}) {
    REQUIRE(p.asked() == question);
    p.answer(ec);
}

void read_state(scripted_port& p, std::string data, std::int64_t mzxid) {
    REQUIRE(p.asked() == "get /c");
    p.front().answer = std::move(data);
    p.front().record.mzxid = mzxid;
    p.answer();
}

/// Publishes up to the writer's node. @return the guid of the publication
std::string begin_ready(scripted_port& p, std::optional<error_code>& published) {
    auto core = std::make_shared<configuration_core>(
        p, "/c", configuration_options(), configuration_layout::ready);
    core->publish(
        {{"a", "1"}}, time_limit::for_ever(), [&published](error_code ec) { published = ec; });
    REQUIRE(p.asked() == "commit ");
    std::string guid = p.front().steps.front().data;
    p.answer();
    return guid;
}

}  // namespace

TEST_CASE("configuration: what a lost publish has done is not read where it may not be yet") {
    scripted_port p;
    auto writer = std::make_shared<configuration_writer>(p, "/c", acl());
    std::optional<error_code> published;
    writer->publish("new", time_limit::for_ever(), [&published](error_code ec) { published = ec; });
    read_state(p, "old", 5);
    SECTION("nothing is in doubt: a server without a quorum refuses") {
        p.set_state(session_state::read_only, 2);
        expect(p, "set /c", zk_errc::not_read_only);
        CHECK(published == make_error_code(zk_errc::not_read_only));
    }
    SECTION("in doubt") {
        expect(p, "set /c", zk_errc::connection_loss);
        SECTION("the next session's server catches up") {
            p.set_state(session_state::connected, 2);
        }
        SECTION("one without a quorum cannot") {
            p.set_state(session_state::read_only, 2);
            expect(p, "sync /c", zk_errc::not_read_only);
            read_state(p, "new", 4);  // long ago
            CHECK(p.asked().empty());
            CHECK_FALSE(published);
            p.set_state(session_state::connected, 2);
        }
        SECTION("nor does it write") {
            expect(p, "sync /c");
            read_state(p, "old", 5);
            p.set_state(session_state::read_only, 2);
            expect(p, "set /c", zk_errc::not_read_only);
            CHECK(p.asked().empty());
            CHECK_FALSE(published);
            p.set_state(session_state::connected, 2);
        }
        expect(p, "sync /c");
        read_state(p, "old", 5);
        expect(p, "set /c");
        CHECK(published == error_code());
    }
    CHECK(p.asked().empty());
}

TEST_CASE("configuration: a writer that gives up where there is no quorum takes its node with it") {
    scripted_port p;
    std::optional<error_code> published;
    const std::string guid = begin_ready(p, published);
    expect(p, "get_children /c", zk_errc::no_auth);
    auto look = [&](error_code synced) {
        expect(p, "sync /c/writer", synced);
        REQUIRE(p.asked() == "get /c/writer");
        p.front().answer = guid;
        p.answer();
    };
    p.set_state(session_state::read_only, 1);
    SECTION("to the look") {
        look(zk_errc::not_read_only);
    }
    SECTION("to the delete") {
        look({});
        expect(p, "commit ", zk_errc::not_read_only);
    }
    CHECK(p.asked().empty());
    CHECK_FALSE(published);
    p.set_state(session_state::connected, 1);
    look({});
    REQUIRE(p.asked() == "commit ");
    CHECK(p.front().steps.size() == 2);  // it restores `ready`
    p.answer();
    CHECK(published == make_error_code(zk_errc::no_auth));
    CHECK(p.asked().empty());
}

TEST_CASE("configuration: a last step in doubt is not looked for where it may not be yet") {
    scripted_port p;
    std::optional<error_code> published;
    const std::string guid = begin_ready(p, published);
    expect(p, "get_children /c");
    expect(p, "commit ");  // the part
    p.set_state(session_state::read_only, 2);
    expect(p, "commit ", zk_errc::connection_loss);
    auto look = [&](error_code synced, const std::string& ready) {
        expect(p, "sync /c/ready", synced);
        REQUIRE(p.asked() == "get /c/ready");
        p.front().answer = ready;
        p.answer();
    };
    look(zk_errc::not_read_only, "older");
    CHECK(p.asked().empty());
    CHECK_FALSE(published);
    p.set_state(session_state::connected, 2);
    look({}, guid);
    CHECK(p.asked() == "sync /c");  // it is published, so this object reads it
    CHECK_FALSE(published);
}

TEST_CASE("configuration: a full quota is freed for the next version") {
    scripted_port p;
    configuration_options options;
    options.keep = 0;
    auto core =
        std::make_shared<configuration_core>(p, "/c", options, configuration_layout::versioned);
    std::optional<error_code> published;
    core->publish(
        {{"a", "1"}}, time_limit::for_ever(), [&published](error_code ec) { published = ec; });
    const std::string current = version_name(2, "b");
    const std::string old = version_name(1, "a");
    auto name_current = [&] {
        REQUIRE(p.asked() == "get /c/current");
        p.front().answer = current;
        p.answer();
    };
    expect(p, "sync /c/current");
    name_current();
    expect(p, "commit ", zk_errc::quota_exceeded);
    name_current();
    REQUIRE(p.asked() == "get_children /c/versions");
    p.front().names.push_back(current);
    p.front().names.push_back(old);
    p.answer();
    expect(p, "exists /c/versions/" + old + "/.writer", zk_errc::no_node);
    expect(p, "get_children /c/versions/" + old);
    expect(p, "commit ");
    CHECK(published == make_error_code(zk_errc::quota_exceeded));
    CHECK(p.asked().empty());
}

}  // namespace corozk::testing::configuration_test
