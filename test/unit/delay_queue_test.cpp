// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/delay_queue_rule.hpp"
#include <corozk/recipe/delay_queue.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <random>
#include <vector>

namespace corozk::testing::delay_queue_test {

using namespace corozk;
using namespace corozk::detail;
using namespace std::chrono_literals;
using std::chrono::system_clock;

namespace {

using ms = std::chrono::milliseconds;

system_clock::time_point at(std::int64_t milliseconds) {
    return system_clock::time_point(ms(milliseconds));
}

item_order due_at_these(const std::vector<std::int64_t>& times) {
    name_list listing;
    for (std::size_t i = 0; i < times.size(); ++i) {
        char sequence[16];
        std::snprintf(sequence, sizeof sequence, "%010d", static_cast<int>(i));
        listing.push_back("queue-" + due_text(times[i]) + "-" + sequence);
    }
    return item_order(queue_names(compatibility::native, queue_order::due_time), listing);
}

}  // namespace

TEST_CASE("delay queue: names") {
    queue_names names(compatibility::native, queue_order::due_time);
    CHECK(names.prefix(0) == "queue-0000000000000-");
    CHECK(names.prefix(1'700'000'000'123) == "queue-1700000000123-");
    CHECK(names.prefix(latest_due) == "queue-9999999999999-");
    CHECK(names.parse("queue-1700000000123-0000000007") == queue_key{1'700'000'000'123, 7});
    CHECK(names.parse("queue-0000000000000--000000001") == queue_key{0, -1});
    CHECK(names.parse("queue-0000000000000--2147483648") == queue_key{0, -2147483647 - 1});
    CHECK_FALSE(names.problem_of(0));
    CHECK_FALSE(names.problem_of(latest_due));
    CHECK(names.problem_of(-1));
    CHECK(names.problem_of(latest_due + 1));
    for (std::string_view name : {"queue-0000000001",
                                  "queue-5-0000000001",
                                  "queue-170000000012-0000000007",
                                  "queue-17000000001234-0000000007",
                                  "queue--170000000012-0000000007",
                                  "queue-+170000000012-0000000007",
                                  "queue-1700000000123-",
                                  "queue-1700000000123",
                                  "queue-1700000000123_0000000007",
                                  "queue-1700000000123-000000007",
                                  "queue-170000000012a-0000000007",
                                  "queue-|18BCFE5687B|0000000007",
                                  "qn-0000000000",
                                  ""}) {
        INFO(name);
        CHECK_FALSE(names.parse(name));
    }
    // Nor are its items another queue's.
    CHECK_FALSE(queue_names(compatibility::native, queue_order::priority)
                    .parse("queue-1700000000123-0000000007"));
    CHECK_FALSE(queue_names(compatibility::native, queue_order::arrival)
                    .parse("queue-1700000000123-0000000007"));
}

TEST_CASE("delay queue: only the native format has due times") {
    for (auto format : {compatibility::curator, compatibility::kazoo}) {
        queue_names names(format, queue_order::due_time);
        CHECK_FALSE(names.exist());
        CHECK(names.problem_of(0));
        CHECK_FALSE(names.parse("qn-0000000000"));
        CHECK_FALSE(names.parse("entry-100-0000000000"));
        CHECK(queue_names(format, queue_order::arrival).exist());
    }
    CHECK(queue_names(compatibility::native, queue_order::due_time).exist());
}

TEST_CASE("delay queue: names sort as items do") {
    queue_names names(compatibility::native, queue_order::due_time);
    std::mt19937_64 random(11);
    for (int round = 0; round < 200; ++round) {
        std::vector<std::string> children;
        for (int i = 0; i < 30; ++i) {
            char sequence[16];
            std::snprintf(sequence, sizeof sequence, "%010d", i);
            std::int64_t range = round % 2 == 0 ? 4 : latest_due;
            auto due = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(range));
            children.push_back(names.prefix(due) + sequence);
        }
        std::vector<std::string> expected = children;
        std::sort(expected.begin(), expected.end());
        name_list listing;
        for (const std::string& child : children)
            listing.push_back(child);
        item_order items(names, listing);
        std::vector<std::string> order;
        for (std::size_t i = 0; i < items.size(); ++i)
            order.emplace_back(listing[items[i].index]);
        REQUIRE(order == expected);
    }
}

TEST_CASE("delay queue: what a wish means") {
    CHECK(due_at(at(5'000), at(1'000)) == 5'000);
    CHECK(due_at(at(5'000), at(9'000)) == 5'000);
    CHECK(due_at(5s, at(1'000)) == 6'000);
    CHECK(due_at(0s, at(1'000)) == 1'000);
    CHECK(due_at(-5s, at(1'000)) == 1'000);
    // Never early: fractions count as a whole one.
    CHECK(due_at(1us, at(1'000)) == 1'001);
    CHECK(due_at(at(1'000) + 1ns, at(0)) == 1'001);
    CHECK(due_at(1ms, at(1'000) + 1us) == 1'002);
    CHECK(due_at(std::chrono::duration<double>(0.0015), at(0)) == 2);
    CHECK(due_at(std::chrono::sys_days(std::chrono::January / 2 / 1970), at(0)) == 86'400'000);
}

TEST_CASE("delay queue: wishes and clocks beyond all measure") {
    CHECK(due_at(std::chrono::hours::max(), at(1'000)) == latest_due);
    CHECK(due_at(std::chrono::nanoseconds::max(), system_clock::time_point::max()) == latest_due);
    CHECK(due_at(std::chrono::hours::min(), at(1'000)) == 1'000);
    CHECK(due_at(system_clock::time_point::min(), at(1'000)) == 0);
    CHECK(due_at(system_clock::time_point::max(), at(1'000)) ==
          std::min<std::int64_t>(latest_due,
                                 system_clock::time_point::max().time_since_epoch() / 1ms + 1));
    CHECK(due_at(1s, at(-100'000)) == 0);
    CHECK(due_at(1s, system_clock::time_point::min()) == 0);
    using seconds = std::chrono::duration<double>;
    CHECK(due_at(seconds(std::numeric_limits<double>::infinity()), at(0)) == latest_due);
    CHECK(due_at(seconds(std::numeric_limits<double>::quiet_NaN()), at(7)) == 7);
    CHECK(time_of_due(1'234) == at(1'234));
    CHECK(time_of_due(latest_due) > at(9'000'000'000'000));
    CHECK(time_of_due(latest_due) <= system_clock::time_point::max());
}

TEST_CASE("delay queue: which are due, and when to read the clock again") {
    auto order = due_at_these({100, 200, 200, 5'000});
    auto due = find_due(order, at(99));
    CHECK(due.count == 0);
    CHECK(due.again == 1ms);
    due = find_due(order, at(100));
    CHECK(due.count == 1);
    CHECK(due.again == 100ms);
    due = find_due(order, at(199) + 999us);
    CHECK(due.count == 1);
    CHECK(due.again == 1ms);
    due = find_due(order, at(200));
    CHECK(due.count == 3);
    // Soon enough to notice a clock that has jumped ahead.
    CHECK(due.again == clock_check_interval);
    due = find_due(order, at(4'000));
    CHECK(due.again == 1'000ms);
    due = find_due(order, at(4'001));
    CHECK(due.again == 999ms);
    due = find_due(order, at(5'000));
    CHECK(due.count == 4);
    CHECK_FALSE(due.again);
    due = find_due(item_order(), at(0));
    CHECK(due.count == 0);
    CHECK_FALSE(due.again);
    due = find_due(order, system_clock::time_point::max());
    CHECK(due.count == 4);
    due = find_due(order, system_clock::time_point::min());
    CHECK(due.count == 0);
    CHECK(due.again == clock_check_interval);
}

TEST_CASE("delay queue: the answer is the same however many items are in order by then") {
    std::mt19937 random(17);
    std::vector<std::int64_t> times;
    for (int i = 0; i < 9'000; ++i)
        times.push_back(static_cast<std::int64_t>(random() % 3'000));
    std::vector<std::int64_t> sorted = times;
    std::sort(sorted.begin(), sorted.end());
    item_order items = due_at_these(times);
    for (std::size_t arranged : {0u, 1u, 1'500u, 4'000u, 8'999u}) {
        if (arranged > 0)
            CHECK(items[arranged - 1].key.rank == sorted[arranged - 1]);
        for (std::int64_t now : {-1, 0, 7, 500, 2'000, 2'998, 2'999}) {
            INFO(arranged << " are in order at " << now);
            auto due = find_due(items, at(now));
            auto next = std::upper_bound(sorted.begin(), sorted.end(), now);
            CHECK(due.count == static_cast<std::size_t>(next - sorted.begin()));
            REQUIRE(due.again.has_value() == (next != sorted.end()));
            if (due.again)
                CHECK(*due.again == std::min(ms(*next - now), clock_check_interval));
        }
    }
}

// One taker that waits as the driver does, whose clock jumps at every moment and by every amount, while
// items are put: each is taken once, none before it is due, the earlier due first; and at most
// `clock_check_interval` after the clock has reached it.
TEST_CASE("delay queue: a clock that jumps decides when, and nothing else") {
    std::mt19937 random(5);
    auto any = [&](int bound) { return static_cast<std::int64_t>(random() % unsigned(bound)); };
    for (int round = 0; round < 200; ++round) {
        std::int64_t real = 0;            // steady, ms
        std::int64_t offset = 1'000'000;  // of the taker's clock, long after 1970
        std::vector<std::int64_t> waiting;
        std::map<std::int64_t, std::int64_t> reached;  // when the clock first said so
        std::size_t put = 0;
        std::size_t taken = 0;
        std::optional<std::int64_t> alarm = 0;
        bool good = true;
        auto read_clock = [&] {
            std::sort(waiting.begin(), waiting.end());
            auto seen = find_due(due_at_these(waiting), at(real + offset));
            for (std::size_t i = 0; i < seen.count; ++i) {
                good = good && waiting[i] <= real + offset &&
                       real - reached[waiting[i]] <= clock_check_interval.count();
                ++taken;
            }
            waiting.erase(waiting.begin(),
                          waiting.begin() + static_cast<std::ptrdiff_t>(seen.count));
            for (std::int64_t due : waiting)
                good = good && due > real + offset;
            alarm.reset();
            if (seen.again)
                alarm = real + seen.again->count();
        };
        auto clock_reaches = [&] {
            for (std::int64_t due : waiting) {
                if (due <= real + offset)
                    reached.try_emplace(due, real);
                else
                    reached.erase(due);
            }
        };
        for (; real < 20'000; ++real) {
            if (any(700) == 0)
                offset += any(12'000) - 6'000;
            clock_reaches();
            if (any(500) == 0) {
                waiting.push_back(real + offset + any(4'000));
                ++put;
                clock_reaches();
                read_clock();  // the watch
            } else if (alarm && *alarm <= real) {
                read_clock();
            }
            good = good && alarm.has_value() == !waiting.empty();
        }
        REQUIRE(good);
        REQUIRE(taken + waiting.size() == put);
    }
}

}  // namespace corozk::testing::delay_queue_test
