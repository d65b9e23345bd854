// SPDX-License-Identifier: Apache-2.0
#include "recipe/nodes/rule.hpp"

#include <catch2/catch.hpp>

namespace corozk::testing::name_service_test {

using namespace corozk;
using namespace corozk::detail;

namespace {

node_view node(std::int64_t owner, std::string data) {
    node_view view;
    view.present = true;
    view.stat.ephemeral_owner = owner;
    view.data = std::move(data);
    return view;
}

constexpr std::int64_t ttl = static_cast<std::int64_t>(0xff00'0000'0000'03e8ULL);

}  // namespace

TEST_CASE("name service: paths") {
    CHECK(name_path("/names", "a") == "/names/a");
    CHECK(name_path("/names", "a/b") == "/names/a/b");
    CHECK(name_path("/", "a") == "/a");
    for (const char* bad : {"", "/a", "a/", "a//b", "a/../b", ".", "a\n"}) {
        CHECK_FALSE(name_path("/names", bad));
    }
}

TEST_CASE("name service: what a node says") {
    CHECK_FALSE(describe_name("n", node_view()).present);
    CHECK_FALSE(describe_name("n", node(0, "")).present);  // a folder
    name_entry e = describe_name("n", node(0, "v"));
    CHECK(e.present);
    CHECK(e.name == "n");
    CHECK(e.value == "v");
    CHECK(e.session_id == 0);
    e = describe_name("n", node(17, "v"));
    CHECK(e.session_id == 17);
    CHECK(describe_name("n", node(ttl, "v")).session_id == 0);
}

TEST_CASE("name service: registering a name that is there") {
    CHECK(decide_register(node(0, "v"), "v", false) == register_step::done);
    CHECK(decide_register(node(0, "w"), "v", false) == register_step::taken);
    CHECK(decide_register(node(0, "w"), "v", true) == register_step::replace);
    CHECK(decide_register(node(17, "v"), "v", false) == register_step::taken);
    CHECK(decide_register(node(17, "w"), "v", true) == register_step::taken);
    CHECK(decide_register(node(0, ""), "v", true) == register_step::taken);
}

}  // namespace corozk::testing::name_service_test
