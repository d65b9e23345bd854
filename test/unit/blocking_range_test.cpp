// SPDX-License-Identifier: Apache-2.0
// What the rules say of a whole queue at once is what they say of each of its entries.
#include "contention_model.hpp"
#include "recipe/contention/contention_rule.hpp"
#include "recipe/locks/semaphore_rule.hpp"
#include "recipe/locks/shared_lock_rule.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <random>
#include <vector>

namespace corozk::testing::blocking_range_test {

using namespace corozk::detail;
using namespace corozk::testing;

namespace {

/// As `blockers_of`: the nearest first.
std::vector<std::size_t> places_of(const blocking_range& range) {
    std::vector<std::size_t> places;
    for (std::size_t i = range.count; i > 0; --i)
        places.push_back(range.first + i - 1);
    return places;
}

/// For a writer: the readers directly ahead, and the writer ahead of them.
std::vector<std::size_t> back_to_writer(const std::vector<contention_entry>& queue,
                                        std::size_t me) {
    std::vector<std::size_t> places;
    while (me-- > 0) {
        places.push_back(me);
        if (queue[me].kind == write_kind)
            break;
    }
    return places;
}

std::vector<contention_entry> random_queue(std::mt19937& random) {
    std::vector<contention_entry> queue(random() % 20);
    for (std::size_t i = 0; i < queue.size(); ++i) {
        queue[i].order = random() % 8 ? static_cast<std::int64_t>(i) : ahead_of_all;
        queue[i].kind = random() % 3 ? read_kind : write_kind;
        queue[i].weight = 1 + static_cast<std::int32_t>(random() % 4);
    }
    return queue;
}

}  // namespace

TEST_CASE("contention queue: who is blocked by whom, for all at once and for each") {
    std::mt19937 random(41);
    const std::vector<const contention_rule*> rules{
        &the_exclusive_rule, &the_shared_rule, &the_semaphore_rule};
    for (int run = 0; run < 3'000; ++run) {
        const std::vector<contention_entry> queue = random_queue(random);
        const auto limit = static_cast<std::int32_t>(random() % 30);
        for (const contention_rule* rule : rules) {
            auto ranges = rule->blocking_ranges(queue, limit);
            REQUIRE(ranges.size() == queue.size());
            for (std::size_t i = 0; i < queue.size(); ++i) {
                const bool waits_for_readers =
                    rule == &the_shared_rule && queue[i].kind == write_kind;
                CHECK(places_of(ranges[i]) == (waits_for_readers
                                                   ? back_to_writer(queue, i)
                                                   : blockers_of(*rule, queue, i, limit)));
            }
        }
    }
}

}  // namespace corozk::testing::blocking_range_test
