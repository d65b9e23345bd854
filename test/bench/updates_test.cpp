// SPDX-License-Identifier: Apache-2.0
#include "safety/updates.hpp"

#include <catch2/catch.hpp>

namespace corozk::testing::updates_test {

using namespace corozk::bench;

TEST_CASE("updates: a line is read as it was written") {
    update u = parse_update("refused 3.1 100 250");
    CHECK(u.element == "3.1");
    CHECK(u.outcome == update_outcome::refused);
    CHECK(u.granted_ns == 100);
    CHECK(u.ended_ns == 250);
    CHECK(to_line(u) == "refused 3.1 100 250");
    CHECK_THROWS(parse_update("written 3.1 100 250"));
    CHECK_THROWS(parse_update("added 3.1 100"));
}

TEST_CASE("updates: lost is what was acknowledged and is not there") {
    std::vector<update> all{parse_update("added 1.0 0 1"),
                            parse_update("added 1.1 2 3"),
                            parse_update("refused 2.0 4 5"),
                            parse_update("refused 2.1 4 5"),
                            parse_update("unknown 3.0 6 7")};
    auto set = parse_elements(" 1.0  2.1\n");
    CHECK(lost_updates(all, set) == std::vector<std::string>{"1.1"});
    CHECK(ghosts(all, set) == std::vector<std::string>{"2.1"});
    CHECK(lost_updates(all, parse_elements("1.0 1.1")).empty());
}

TEST_CASE("updates: an overlap is a second holder, however long the first one thinks it holds") {
    std::vector<update> one_by_one{parse_update("added 1.0 10 20"),
                                   parse_update("added 2.0 0 10"),
                                   parse_update("added 1.1 20 30")};
    CHECK(overlaps(one_by_one) == 0);
    one_by_one.push_back(parse_update("added 3.0 5 25"));
    CHECK(overlaps(one_by_one) == 3);  // it begins in one, and two begin in it
}

}  // namespace corozk::testing::updates_test
