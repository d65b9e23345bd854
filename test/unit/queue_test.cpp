// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/item_order.hpp"
#include <corozk/recipe/queue.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

namespace corozk::testing::queue_test {

using namespace corozk;
using namespace corozk::detail;

namespace {

std::vector<std::string> ordered(const queue_names& names,
                                 const std::vector<std::string>& children) {
    name_list listing;
    for (const std::string& child : children)
        listing.push_back(child);
    std::vector<std::string> result;
    item_order order(names, listing);
    for (std::size_t i = 0; i < order.size(); ++i)
        result.emplace_back(listing[order[i].index]);
    return result;
}

}  // namespace

TEST_CASE("queue names") {
    queue_names fifo(compatibility::native, queue_order::arrival);
    CHECK(fifo.prefix(0) == "queue-");
    CHECK(fifo.parse("queue-0000000012") == queue_key{0, 12});
    CHECK(fifo.parse("queue--000000001") == queue_key{0, -1});
    CHECK(fifo.parse("queue--2147483648") == queue_key{0, -2147483647 - 1});
    CHECK(fifo.parse("queue-2147483647") == queue_key{0, 2147483647});

    queue_names priority(compatibility::native, queue_order::priority);
    CHECK(priority.prefix(5) == "queue-5-");
    CHECK(priority.prefix(-5) == "queue--5-");
    CHECK(priority.parse("queue-5-0000000012") == queue_key{5, 12});
    CHECK(priority.parse("queue--5--000000002") == queue_key{-5, -2});
    CHECK(priority.parse("queue-2147483647-0000000000") == queue_key{2147483647, 0});

    queue_names curator(compatibility::curator, queue_order::arrival);
    CHECK(curator.prefix(0) == "qn-");
    CHECK(curator.parse("qn-0000000003") == queue_key{0, 3});
    queue_names no_priorities(compatibility::curator, queue_order::priority);
    CHECK_FALSE(no_priorities.exist());
    CHECK(no_priorities.problem_of(1));
    CHECK_FALSE(queue_names(compatibility(9), queue_order::arrival).exist());

    queue_names kazoo(compatibility::kazoo, queue_order::arrival);
    CHECK(kazoo.prefix(0) == "entry-100-");
    CHECK(kazoo.parse("entry-100-0000000003") == queue_key{100, 3});
    queue_names kazoo_priority(compatibility::kazoo, queue_order::priority);
    CHECK(kazoo_priority.prefix(7) == "entry-007-");
    CHECK(kazoo_priority.parse("entry-007-0000000003") == queue_key{7, 3});
    CHECK_FALSE(kazoo_priority.problem_of(999));
    CHECK(kazoo_priority.problem_of(1000));
    CHECK(kazoo_priority.problem_of(-1));
}

TEST_CASE("queue names of others are no items") {
    for (auto order : {queue_order::arrival, queue_order::priority, queue_order::due_time}) {
        queue_names names(compatibility::native, order);
        for (std::string_view name : {"",
                                      "queue",
                                      "queue-",
                                      "queue-1",
                                      "queue-x000000000",
                                      "queue-00000000012x",
                                      "queue-000000001-",
                                      "lock-0000000001",
                                      "queue-99999999999",
                                      "queue-9999999999",
                                      "queue---0000000001",
                                      "queue- 000000001",
                                      "ready",
                                      "queue-5-",
                                      "queue--0000000001-",
                                      "queue-+000000001",
                                      "queue-99999999999-0000000001"}) {
            INFO(name);
            CHECK_FALSE(names.parse(name));
        }
    }
    CHECK_FALSE(
        queue_names(compatibility::native, queue_order::arrival).parse("queue-5-0000000001"));
    CHECK_FALSE(
        queue_names(compatibility::native, queue_order::priority).parse("queue-0000000001"));
    CHECK_FALSE(queue_names(compatibility::native, queue_order::arrival)
                    .parse(std::string("queue-") + std::string(300, '1')));
}

TEST_CASE("queue order is by sequence, also when it wraps") {
    queue_names fifo(compatibility::native, queue_order::arrival);
    CHECK(ordered(fifo, {"queue-0000000010", "x", "queue-0000000009", "queue-0000000011"}) ==
          std::vector<std::string>{"queue-0000000009", "queue-0000000010", "queue-0000000011"});
    CHECK(ordered(fifo, {"queue--2147483648", "queue-2147483647", "queue--2147483647"}) ==
          std::vector<std::string>{"queue-2147483647", "queue--2147483648", "queue--2147483647"});
    CHECK(ordered(fifo, {"queue-0000000000", "queue--000000001", "queue-0000000001"}) ==
          std::vector<std::string>{"queue--000000001", "queue-0000000000", "queue-0000000001"});
    CHECK(ordered(fifo, {}).empty());
}

TEST_CASE("priority queue order is by priority, then by sequence") {
    queue_names names(compatibility::native, queue_order::priority);
    CHECK(ordered(names,
                  {"queue-10-0000000001",
                   "queue-9-0000000003",
                   "queue--1-0000000007",
                   "queue-9-0000000002"}) == std::vector<std::string>{"queue--1-0000000007",
                                                                      "queue-9-0000000002",
                                                                      "queue-9-0000000003",
                                                                      "queue-10-0000000001"});
}

TEST_CASE("queue order of many, put in order a part at a time") {
    queue_names fifo(compatibility::native, queue_order::arrival);
    std::mt19937 random(29);
    std::vector<std::string> expected;
    for (int i = 0; i < 30'000; ++i) {
        char text[32];
        std::snprintf(text, sizeof text, "queue-%010d", i * 3);
        expected.emplace_back(text);
    }
    std::vector<std::string> shuffled = expected;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    CHECK(ordered(fifo, shuffled) == expected);

    name_list listing;
    for (const std::string& child : shuffled)
        listing.push_back(child);
    item_order items(fifo, listing);
    CHECK(items.arranged().empty());
    CHECK(listing[items[0].index] == expected[0]);
    CHECK(items.arranged().size() < items.size() / 10);
    // Also for whoever looks further ahead.
    CHECK(listing[items[20'000].index] == expected[20'000]);
    CHECK(listing[items[29'999].index] == expected[29'999]);
    CHECK(listing[items[1].index] == expected[1]);
    CHECK(items.rest().empty());
}

TEST_CASE("queue order from any starting point") {
    queue_names fifo(compatibility::native, queue_order::arrival);
    std::mt19937 random(3);
    for (int round = 0; round < 300; ++round) {
        auto start = static_cast<std::uint32_t>(random());
        std::vector<std::string> expected;
        std::uint32_t at = start;
        for (int i = 0; i < 20; ++i) {
            char text[32];
            std::snprintf(text, sizeof text, "queue-%010d", static_cast<std::int32_t>(at));
            expected.emplace_back(text);
            at += static_cast<std::uint32_t>(1 + random() % 50'000'000);
        }
        std::vector<std::string> shuffled = expected;
        std::shuffle(shuffled.begin(), shuffled.end(), random);
        REQUIRE(ordered(fifo, shuffled) == expected);
    }
}

}  // namespace corozk::testing::queue_test
