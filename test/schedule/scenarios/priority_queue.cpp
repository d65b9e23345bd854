// SPDX-License-Identifier: Apache-2.0
// No item is lost, none is taken twice, and what comes first by its priority, or by its age, is taken
// first.
#include "queues.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>

namespace corozk::schedule {

namespace priority_queue_scenarios {

struct wish {
    const char* data;
    std::int32_t priority;
};

/// In the order in which they are put.
constexpr wish wishes[] = {{"second", 8}, {"third", 8}, {"first", 4}};

/// The lower number, and of equal ones the older.
bool is_ahead(const wish& a, const wish& b) {
    return a.priority != b.priority ? a.priority < b.priority : &a < &b;
}

const wish& wish_named(const std::string& data) {
    return *std::find_if(
        std::begin(wishes), std::end(wishes), [&data](const wish& w) { return w.data == data; });
}

awaitable<void> put_all(actor& a) {
    priority_queue q(a.zk(), queue_path);
    for (const wish& w : wishes) {
        auto start = [&](auto& token) { return q.put(w.data, w.priority, token); };
        bool done = co_await put_for_certain(a, w.data, start);
        if (!done)
            co_return;
    }
}

/// Nothing that was there when the take was asked for came before it.
/// @param put  how many were
void check_nothing_ahead(actor& a, const queue_item& item, std::size_t put) {
    const std::vector<std::string>& taken = a.on().notes("taken");
    for (std::size_t i = 0; i < put; ++i) {
        bool gone = std::find(taken.begin(), taken.end(), wishes[i].data) != taken.end();
        bool overtaken = !gone && is_ahead(wishes[i], wish_named(item.data));
        a.on().check(!overtaken, item.data + " has overtaken " + wishes[i].data);
    }
}

/// The only one who takes.
awaitable<void> take_all(actor& a) {
    priority_queue q(a.zk(), queue_path);
    for (std::size_t i = 0; i < std::size(wishes); ++i) {
        std::size_t put = times_noted(a, "put");
        auto item = co_await take_an_item(a, q);
        if (!item)
            co_return;
        a.on().check(item->priority == wish_named(item->data).priority, "another priority");
        if (!a.on().servers_lag())
            check_nothing_ahead(a, *item, put);
    }
}

/// Begins when some items are there.
awaitable<void> take_late(actor& a) {
    co_await a.gate("coming late");
    co_await take_all(a);
}

void one_taker(stage& s) {
    pass_items(s, {{"producer", put_all}, {"taker", take_all}});
}

void one_late_taker(stage& s) {
    pass_items(s, {{"producer", put_all}, {"taker", take_late}});
}

const registered all[] = {
    registered(scenario("priority_queue.take", 2, one_taker).with_child_stats()),
    registered(scenario("priority_queue.take", 2, one_taker)
                   .with_child_stats()
                   .in_a_folder(queue_folders)),
    registered(scenario("priority_queue.take-late", 2, one_late_taker).with_child_stats()),
};

}  // namespace priority_queue_scenarios

}  // namespace corozk::schedule
