// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"
#include "utf8_text.hpp"

#include <catch2/catch.hpp>

namespace corozk::testing::text_test {

using namespace corozk::bench;

TEST_CASE("text: one of something has no plural") {
    CHECK(counted(1, "waiter") == "1 waiter");
    CHECK(counted(0, "waiter") == "0 waiters");
    CHECK(counted(1'000, "watch") == "1,000 watches");
}

TEST_CASE("text: what is no UTF-8 is replaced, and nothing else") {
    CHECK(to_utf8("").empty());
    CHECK(to_utf8("a\n\u00b5\U0001f600") == "a\n\u00b5\U0001f600");
    CHECK(to_utf8("bad\xff\xfeutf") == "bad\uFFFD\uFFFDutf");
    CHECK(to_utf8("cut \xc2") == "cut \uFFFD");
    CHECK(to_utf8("\xe2\x82z") == "\uFFFD\uFFFDz");
}

}  // namespace corozk::testing::text_test
