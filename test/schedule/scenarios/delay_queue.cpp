// SPDX-License-Identifier: Apache-2.0
// No item is lost, none is taken twice or before it is due, and what is due earlier comes first,
// whatever the takers' clocks do.
#include "engine/virtual_time.hpp"
#include "turns.hpp"
#include <corozk/recipe/delay_queue.hpp>

#include <algorithm>

namespace corozk::schedule {

namespace {

using std::chrono::milliseconds;
using time_point = std::chrono::system_clock::time_point;

constexpr const char* path = "/f/q";

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
    return delay_queue(a.zk(), path);
}

/// The taker's.
delay_queue queue_with_clock(actor& a) {
    stage& s = a.on();
    return delay_queue(a.zk(), path, queue_options(), [&s] { return at(elapsed() + turned(s)); });
}

awaitable<void> put(actor& a, delay_queue& q, wish w) {
    a.on().note_down("tried", w.data);
    for (;;) {
        auto token = a.firm_token();
        auto [ec] = co_await q.put(w.data, at(w.due), token);
        if (!ec)
            break;
        // What was not sent for too long is given up.
        bool silent = ec == errc::not_connected && a.on().happened(move_kind::silence);
        a.on().check(silent, "put " + std::string(w.data) + ": " + ec.message());
        if (!silent)
            co_return;
    }
    a.on().note_down("put", w.data);
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
    auto token = a.token();
    auto [ec, item] = co_await q.take(token);
    if (!a.may_see(ec, "take") || ec)
        co_return false;
    // A clock that goes back may do so after the look.
    auto latest = at(elapsed() + std::max<std::int64_t>(turned(a.on()), 0));
    a.on().check(item.due <= latest, item.data + " came too early");
    if (both && alone)
        a.on().check(item.data == "early", item.data + " came first");
    a.on().note_down("taken", item.data);
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

/// Each item that was put is in the queue, or was taken: once.
void nothing_lost(stage& s) {
    std::vector<std::string> found = s.notes("taken");
    for (const std::string& name : s.children(path)) {
        if (s.exists(std::string(path) + "/" + name))
            found.push_back(s.data(std::string(path) + "/" + name));
    }
    for (const std::string& item : s.notes("put")) {
        auto times = std::count(found.begin(), found.end(), item);
        s.check(times == 1, "item " + item + " is there " + std::to_string(times) + " times");
    }
    for (const std::string& item : s.notes("tried"))
        s.check(std::count(found.begin(), found.end(), item) <= 1, "item " + item + " is doubled");
}

void one_taker(stage& s) {
    s.play("producer", 0, put_both);
    s.play("taker", 1, take_two);
    s.finally(nothing_lost);
}

void one_late_taker(stage& s) {
    s.play("producer", 0, put_both);
    s.play("taker", 1, take_two_late);
    s.finally(nothing_lost);
}

void one_persistent_taker(stage& s) {
    s.play("producer", 0, put_both_too_late);
    s.play("taker", 1, take_again);
    s.finally(nothing_lost);
}

void two_takers(stage& s) {
    s.play("producer", 0, put_both);
    s.play("taker", 1, take_one);
    s.play("other", 2, take_one);
    s.finally(nothing_lost);
}

/// One of its users waits for the other's answer, or for the time.
void two_takers_in_one(stage& s) {
    s.play("producer", 0, put_both);
    s.play("taker", 1, take_one);
    s.play("other", 1, take_one);
    s.finally(nothing_lost);
}

/// Nobody would wait for so long: whoever does not see it ends with "these wait".
void clock_goes_ahead(stage& s) {
    s.play("producer", 0, put_for_much_later);
    s.play("taker", 1, take_one);
    s.play("clock", 0, [](actor& a) { return turn_clock(a, "3600000"); });
    s.finally(nothing_lost);
}

void clock_goes_back(stage& s) {
    s.play("producer", 0, put_both);
    s.play("taker", 1, take_two);
    s.play("clock", 0, [](actor& a) { return turn_clock(a, "-3000"); });
    s.finally(nothing_lost);
}

const registered all[] = {
    registered(scenario("delay_queue.take", 2, one_taker)),
    registered(scenario("delay_queue.take-late", 2, one_late_taker)),
    registered(scenario("delay_queue.take-again", 2, one_persistent_taker)),
    registered(scenario("delay_queue.take-2", 3, two_takers)),
    registered(scenario("delay_queue.take-2-in-1", 2, two_takers_in_one)),
    registered(scenario("delay_queue.clock-ahead", 2, clock_goes_ahead).uncancelled()),
    registered(scenario("delay_queue.clock-back", 2, clock_goes_back).uncancelled()),
};

}  // namespace

}  // namespace corozk::schedule
