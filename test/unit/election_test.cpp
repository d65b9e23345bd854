// SPDX-License-Identifier: Apache-2.0
#include "recipe/leader/election_rule.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <vector>

namespace corozk::testing::election_test {

using namespace corozk::detail;

namespace {

const std::string guid_a(32, 'a');
const std::string guid_b(32, 'b');
const std::string guid_c(32, 'c');

naming names() {
    return naming("", {"-n_"});
}

}  // namespace

TEST_CASE("election: the lowest sequence leads, in any order of names") {
    std::vector<std::string> listing{
        guid_b + "-n_0000000003", guid_c + "-n_0000000002", guid_a + "-n_0000000007"};
    std::sort(listing.begin(), listing.end());
    do {
        election_view view = view_election(names(), listing);
        CHECK(view.leader == guid_c + "-n_0000000002");
        CHECK(!view.acknowledged);
    } while (std::next_permutation(listing.begin(), listing.end()));
    CHECK(view_election(names(), std::vector<std::string>()).leader.empty());
}

TEST_CASE("election: an acknowledgement counts for its candidacy only") {
    std::string first = guid_a + "-n_0000000001";
    std::string second = guid_b + "-n_0000000002";
    std::vector<std::string> listing{acknowledgement_of(second), second, first};
    CHECK(view_election(names(), listing).leader == first);
    CHECK(!view_election(names(), listing).acknowledged);
    listing.push_back(acknowledgement_of(first));
    CHECK(view_election(names(), listing).acknowledged);
    // Left behind by one who is gone.
    std::vector<std::string> later{acknowledgement_of(first), second};
    CHECK(view_election(names(), later).leader == second);
    CHECK(!view_election(names(), later).acknowledged);
    CHECK(!names().parse(acknowledgement_of(first)));
}

TEST_CASE("election: over the wrap-around, and among foreign names") {
    std::vector<std::string> listing{guid_a + "-n_-2147483648",
                                     guid_b + "-n_2147483647",
                                     "ready",
                                     "",
                                     "-n_0000000000",
                                     guid_c + "-n_",
                                     guid_c + "-n_1",
                                     std::string(300, 'x')};
    CHECK(view_election(names(), listing).leader == guid_b + "-n_2147483647");
}

TEST_CASE("election: random listings") {
    std::mt19937 random(20260103);
    for (int round = 0; round < 300; ++round) {
        std::vector<std::string> listing;
        std::int32_t lowest = 2'000'000'000;
        std::size_t count = random() % 20 + 1;
        for (std::size_t i = 0; i < count; ++i) {
            auto sequence = static_cast<std::int32_t>(random() % 1'000'000'000);
            lowest = std::min(lowest, sequence);
            std::string digits = std::to_string(sequence);
            digits.insert(0, 10 - digits.size(), '0');
            std::string guid(32, static_cast<char>('a' + random() % 6));
            listing.push_back(guid + "-n_" + digits);
        }
        auto found = names().parse(view_election(names(), listing).leader);
        CHECK(found->sequence == lowest);
    }
}

}  // namespace corozk::testing::election_test
