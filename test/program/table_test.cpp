// SPDX-License-Identifier: Apache-2.0
#include "program/table.hpp"

#include <catch2/catch.hpp>

namespace corozk::testing::table_test {

using namespace corozk::program;

TEST_CASE("table: a long cell does not make all rows long, unless it is the last one") {
    const std::string most(200, 'x');
    const std::string text = table({{"WHO", "NODE"}, {most + "yz", most + "yz"}, {"-", "-"}});
    CHECK(text == "WHO" + std::string(199, ' ') + "NODE\n" + most.substr(3) + "...  " + most +
                      "yz\n-" + std::string(201, ' ') + "-\n");
    CHECK(table({{most, ""}}) == most + "  \n");
}

TEST_CASE("table: what a terminal has room for, in whole characters") {
    CHECK(cut("\xc3\xa4\xc3\xb6\xc3\xbc", 2) == "\xc3\xa4\xc3\xb6");
    CHECK(cut("abc", 3) == "abc");
    CHECK(cut("abc", 0).empty());
    CHECK(cut("", 0).empty());
}

}  // namespace corozk::testing::table_test
