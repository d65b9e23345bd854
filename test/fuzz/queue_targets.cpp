// SPDX-License-Identifier: Apache-2.0
#include "checks.hpp"
#include "operation/name_list.hpp"
#include "recipe/queue/delay_queue_rule.hpp"
#include "recipe/queue/item_order.hpp"
#include "recipe/queue/rule.hpp"

#include <chrono>
#include <vector>

namespace corozk::fuzz {

using namespace corozk::detail;

namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

void read_clock(item_order& items, system_clock::time_point now, std::string_view input) {
    const due_items before = find_due(items, now);
    std::size_t count = 0;
    const auto said = std::chrono::floor<milliseconds>(now).time_since_epoch().count();
    for (std::size_t i = 0; i < items.size(); ++i)
        count += items[i].key.rank <= said ? 1 : 0;
    const due_items due = find_due(items, now);
    require(due.count == count && before.count == count, "what is due may be taken", input);
    require(due.again == before.again, "whatever is in order by now", input);
    require(due.again.has_value() == (count < items.size()), "again while one is not due", input);
    if (due.again)
        require(*due.again > milliseconds(0) && *due.again <= clock_check_interval, "soon", input);
}

/// At the time of each item, beside it, and at the ends of all times.
void read_clocks(item_order& items, const item_order& fresh, std::string_view input) {
    std::vector<system_clock::time_point> times{system_clock::time_point(),
                                                system_clock::time_point::min(),
                                                system_clock::time_point::max()};
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::int64_t due = items[i].key.rank;
        const system_clock::time_point time = time_of_due(due);
        require(std::chrono::floor<milliseconds>(time).time_since_epoch().count() <= due,
                "a clock can say it",
                input);
        times.insert(times.end(), {time, time - milliseconds(1)});
    }
    for (system_clock::time_point now : times) {
        item_order copy = fresh;
        read_clock(copy, now, input);
    }
}

}  // namespace

void queues(std::string_view input) {
    std::vector<std::string> lines = lines_of(input);
    name_list listing;
    for (const std::string& line : lines)
        listing.push_back(line);
    for (auto format : {compatibility::native, compatibility::curator, compatibility::kazoo}) {
        for (auto order : {queue_order::arrival, queue_order::priority, queue_order::due_time}) {
            queue_names names(format, order);
            for (const std::string& line : lines) {
                auto key = names.parse(line);
                if (!key || names.problem_of(key->rank))
                    continue;
                std::string written = names.prefix(key->rank) + sequence_text(key->sequence);
                auto again = names.parse(written);
                require(
                    again && again->sequence == key->sequence, "what is written is read", input);
                if (names.ranked())
                    require(again->rank == key->rank, "with its rank", input);
                if (names.timed()) {
                    require(written == line, "an item's name has one form", input);
                    require(parse_due(due_text(key->rank)) == key->rank, "and its time", input);
                }
            }
            item_order items(names, listing);
            if (names.timed())
                read_clocks(items, item_order(names, listing), input);
            require(items.size() <= lines.size(), "no more items than names", input);
            for (std::size_t i = 0; i < items.size(); ++i) {
                const queue_entry& item = items[i];
                require(names.parse(lines.at(item.index)) == item.key, "an item's name", input);
                require(i == 0 || items[i - 1].key.rank <= item.key.rank, "in order", input);
            }
        }
    }
}

}  // namespace corozk::fuzz
