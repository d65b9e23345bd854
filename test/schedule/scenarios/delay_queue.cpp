// SPDX-License-Identifier: Apache-2.0
// No item is lost, none is taken twice or before it is due, and what is due earlier comes first,
// whatever the takers' clocks do.
#include "engine/virtual_time.hpp"
#include "queues.hpp"
#include <corozk/recipe/delay_queue.hpp>

#include <algorithm>

namespace corozk::schedule {

namespace delay_queue_scenarios {

using std::chrono::milliseconds;
using time_point = std::chrono::system_clock::time_point;

/// What is put, and when it is due: ms since the schedule began. The later comes first.
struct wish {
    const char* data;
    std::int64_t due;
};
constexpr wish later[] = {{"late", 4'000}, {"early", 2'000}};
constexpr wish long_ago[] = {{"late", -1'000}, {"early", -2'000}};

time_point at(std::int64_t ms) {
    return time_point(std::chrono::hours(24) + milliseconds(ms));
}

/// How far a clock has been turned; ms.
std::int64_t turned(stage& s) {
    std::int64_t sum = 0;
    for (const std::string& by : s.notes("turned"))
        sum += std::stoll(by);
    return sum;
}

delay_queue queue_of(actor& a) {
    return delay_queue(a.zk(), queue_path);
}

/// The taker's.
delay_queue queue_with_clock(actor& a) {
    stage& s = a.on();
    return delay_queue(
        a.zk(), queue_path, queue_options(), [&s] { return at(elapsed() + turned(s)); });
}

awaitable<void> put(actor& a, delay_queue& q, wish w) {
    auto start = [&](auto& token) { return q.put(w.data, at(w.due), token); };
    co_await put_for_certain(a, w.data, start);
}

awaitable<void> put_both(actor& a) {
    delay_queue q = queue_of(a);
    for (const wish& w : later)
        co_await put(a, q, w);
}

awaitable<void> put_both_too_late(actor& a) {
    delay_queue q = queue_of(a);
    for (const wish& w : long_ago)
        co_await put(a, q, w);
}

awaitable<void> put_for_much_later(actor& a) {
    delay_queue q = queue_of(a);
    wish w{"late", 3'600'000};
    co_await put(a, q, w);
}

/// @return whether to go on
awaitable<bool> take(actor& a, delay_queue& q, bool alone) {
    bool both = a.on().notes("put").size() == 2 && a.on().notes("taken").empty();
    a.on().remember(a.client_index(), both);
    auto item = co_await take_an_item(a, q);
    if (!item)
        co_return false;
    // A clock that goes back may do so after the look.
    auto latest = at(elapsed() + std::max<std::int64_t>(turned(a.on()), 0));
    a.on().check(item->due <= latest, item->data + " came too early");
    if (both && alone && !a.on().servers_lag())
        a.on().check(item->data == "early", item->data + " came first");
    co_return true;
}

awaitable<void> take_one(actor& a) {
    delay_queue q = queue_with_clock(a);
    co_await take(a, q, false);
}

awaitable<void> take_two(actor& a) {
    delay_queue q = queue_with_clock(a);
    bool more = co_await take(a, q, true);
    if (more)
        co_await take(a, q, true);
}

/// Asks again when it was cancelled, perhaps while the first asking is still being carried out.
awaitable<void> take_again(actor& a) {
    delay_queue q = queue_with_clock(a);
    bool taken = co_await take(a, q, true);
    if (taken || !a.cancelled())
        co_return;
    co_await a.gate("asking again");
    co_await take(a, q, true);
}

/// Begins when both items are there: they come in their order.
awaitable<void> take_two_late(actor& a) {
    co_await a.gate("coming late");
    co_await take_two(a);
}

awaitable<void> turn_clock(actor& a, const char* by) {
    co_await a.gate("turning the clock");
    a.on().note_down("turned", by);
    // The taker's client goes by it.
    a.on().remember(1, static_cast<std::uint64_t>(std::stoll(by)));
}

void one_taker(stage& s) {
    pass_items(s, {{"producer", put_both}, {"taker", take_two}});
}

void one_late_taker(stage& s) {
    pass_items(s, {{"producer", put_both}, {"taker", take_two_late}});
}

void one_persistent_taker(stage& s) {
    pass_items(s, {{"producer", put_both_too_late}, {"taker", take_again}});
}

void two_takers(stage& s) {
    pass_items(s, {{"producer", put_both}, {"taker", take_one}, {"other", take_one}});
}

/// One of its users waits for the other's answer, or for the time.
void two_takers_in_one(stage& s) {
    pass_items(s, {{"producer", put_both}, {"taker", take_one}});
    s.play("other", 1, take_one);
}

/// Nobody would wait for so long: whoever does not see it ends with "these wait".
void clock_goes_ahead(stage& s) {
    pass_items(s, {{"producer", put_for_much_later}, {"taker", take_one}});
    s.play("clock", 0, [](actor& a) { return turn_clock(a, "3600000"); });
}

void clock_goes_back(stage& s) {
    pass_items(s, {{"producer", put_both}, {"taker", take_two}});
    s.play("clock", 0, [](actor& a) { return turn_clock(a, "-3000"); });
}

const registered all[] = {
    registered(scenario("delay_queue.take", 2, one_taker).with_child_stats()),
    registered(scenario("delay_queue.take-late", 2, one_late_taker).with_child_stats()),
    registered(scenario("delay_queue.take-again", 2, one_persistent_taker).with_child_stats()),
    registered(scenario("delay_queue.take-2", 3, two_takers).with_child_stats()),
    registered(scenario("delay_queue.take-2", 3, two_takers)
                   .with_child_stats()
                   .in_a_folder(queue_folders)),
    registered(scenario("delay_queue.take-2-in-1", 2, two_takers_in_one).with_child_stats()),
    registered(
        scenario("delay_queue.clock-ahead", 2, clock_goes_ahead).with_child_stats().uncancelled()),
    registered(
        scenario("delay_queue.clock-back", 2, clock_goes_back).with_child_stats().uncancelled()),
};

}  // namespace delay_queue_scenarios

}  // namespace corozk::schedule
