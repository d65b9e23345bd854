// SPDX-License-Identifier: Apache-2.0
#include "recipe/configuration/rule.hpp"
#include <corozk/recipe/configuration.hpp>

#include <catch2/catch.hpp>

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
    CHECK(outdated_versions(versions, "0000000004-d", {}, 99).empty());
    // Whatever the server lists, each version counts once.
    versions = {"0000000002-b", "0000000001-a", "0000000002-c", "0000000002-b"};
    CHECK(outdated_versions(versions, "", {}, 2) == names{"0000000001-a"});
}

}  // namespace corozk::testing::configuration_test
