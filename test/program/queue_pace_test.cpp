// SPDX-License-Identifier: Apache-2.0
#include "program/queue_pace.hpp"

#include <catch2/catch.hpp>

namespace corozk::testing::queue_pace_test {

using namespace corozk::program;

namespace {

/// The last of a queue has the first name.
std::string node(int place) {
    return "/q/" + std::to_string(9999 - place);
}

/// The first of them holds, each other one waits for the one before it.
queue_look look(int count, std::int32_t changes) {
    queue_look result;
    result.listing.emplace();
    stat& record = result.listing->stat;
    record.czxid = 1;
    record.cversion = changes;
    record.num_children = count;
    for (int i = 0; i < count; ++i) {
        contender_info& one = result.contenders.emplace_back();
        one.path = node(i);
        one.holds = i == 0;
        if (i > 0)
            one.waits_for = std::vector<std::string>{node(i - 1)};
        result.listing->names.push_back(node(i).substr(3));
    }
    return result;
}

}  // namespace

TEST_CASE("queue pace: all waiters behind one that gives up may give up with it") {
    constexpr int count = 2000;
    queue_pace pace;
    pace.add(look(count, count));
    CHECK(pace.waiting() == count - 1);
    pace.add(look(2, 2 * count - 2));
    CHECK(pace.waiting() == 1);
    CHECK(pace.hand_overs() == 0);
    CHECK(pace.arrivals() == 0);
}

}  // namespace corozk::testing::queue_pace_test
