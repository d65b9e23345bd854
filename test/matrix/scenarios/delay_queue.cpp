// SPDX-License-Identifier: Apache-2.0
#include "hand_clock.hpp"
#include "matrix/engine/call.hpp"
#include <corozk/recipe/delay_queue.hpp>

#include <algorithm>
#include <map>

namespace corozk::matrix {

namespace {

using namespace std::chrono_literals;
using testing::hand_clock;

std::string path(const stage& s) {
    return s.folder() + "/q";
}

/// For companions, probes and invariants: everything is due.
hand_clock::time_point the_last_day() {
    return hand_clock::time_point::max();
}

bool is_foreign(const std::string& data) {
    return data == "not yours";
}

/// What was put successfully was taken or is there; nothing is there twice, or from nowhere.
awaitable<void> nothing_lost(stage& s) {
    // With its parent the whole queue is gone.
    if (s.which() == fault::parent_deleted)
        co_return;
    auto found = [&] {
        std::map<std::string, int> items;
        for (const std::string& name : s.children(path(s))) {
            std::string data = s.data(path(s) + "/" + name);
            if (!is_foreign(data))
                ++items[data];
        }
        for (const std::string& item : s.notes("taken"))
            ++items[item];
        return items;
    };
    // Handed over with the error that says so.
    bool unknown = s.which() == fault::close_client || s.which() == fault::destroy_client;
    std::size_t may_be_lost = unknown ? s.notes("unknown").size() : 0;
    // An item that nobody waits for any more is put back in the background.
    auto missing = [&] {
        std::map<std::string, int> items = found();
        return static_cast<std::size_t>(
            std::count_if(s.notes("put").begin(), s.notes("put").end(), [&](const auto& item) {
                return !items.contains(item);
            }));
    };
    co_await testing::eventually_async(
        [&] { return missing() <= may_be_lost; }, s.patience(), "no item is lost");
    const auto& tried = s.notes("tried");
    for (const auto& [item, times] : found()) {
        s.check(times == 1, "the item is there once: " + item);
        s.check(std::find(tried.begin(), tried.end(), item) != tried.end(),
                "the item was put: " + item);
    }
}

awaitable<void> put_as(client& c, stage& s, std::string item, due_time when) {
    delay_queue q(c, path(s), options_of<queue_options>(s));
    s.note("tried", item);
    co_await q.put(item, when);
    s.note("put", item);
}

/// Puts one more and takes whatever is there, until that has come out: as the last.
awaitable<void> probe(client& c, stage& s) {
    delay_queue q(c, path(s), options_of<queue_options>(s), the_last_day);
    co_await q.put("last", the_last_day() - 1h);
    for (;;) {
        auto deadline = std::chrono::steady_clock::now() + s.patience();
        queue_item item = co_await q.take_until(deadline);
        if (item.data == "last")
            break;
    }
}

/// Waits at an empty queue, then for the time, is overtaken, and takes both as they become due.
awaitable<void> take(stage& s) {
    hand_clock wall;
    object<delay_queue> q(s, s.ours(), path(s), options_of<queue_options>(s), wall.reader());
    auto start = wall.now();
    for (const char* expected : {"early", "late"}) {
        bool first = std::string(expected) == "early";
        call<queue_item> taking(s, std::string("take ") + expected);
        q->take(taking.token());
        std::string waiting = first ? "waiting" : "waiting again";
        co_await s.state(waiting);
        // With its parent the other item is gone.
        if (!first && s.which() == fault::parent_deleted)
            throw scenario_over();
        if (first) {
            co_await put_as(s.theirs(), s, "late", start + 40ms);
            co_await s.state("waiting for the time");
            co_await put_as(s.theirs(), s, "early", start + 20ms);
        }
        s.check(!taking.good(), "nothing comes early");
        wall.turn(20ms);
        error_code ec = co_await taking.ended();
        if (is_outcome_unknown(ec))
            s.note("unknown", expected);
        queue_item item = co_await taking.result();
        s.note("taken", item.data);
        s.check(item.data == expected, "the earlier due first");
        s.check(item.due <= wall.now(), "nothing comes early");
    }
}

/// Puts one that is not due for long, and waits in vain.
awaitable<void> waits_too(client& c, stage& s) {
    co_await put_as(c, s, "beside", the_last_day() - 2h);
    hand_clock stopped(0ms);
    delay_queue q(c, path(s), options_of<queue_options>(s), stopped.reader());
    auto deadline = std::chrono::steady_clock::now() + 50ms;
    auto [ec, item] = co_await q.take_until(deadline, as_tuple());
    s.check(ec == errc::deadline_exceeded, "nothing comes early");
}

const registered all[] = {
    registered([] {
        scenario s;
        s.recipe = "delay_queue";
        s.name = "take";
        s.play = take;
        s.probe = probe;
        s.companion = waits_too;
        s.invariant = nothing_lost;
        s.outlives_session = true;
        s.leaves_data = true;
        s.foreign_in = "/q";
        return s;
    }()),
};

}  // namespace

}  // namespace corozk::matrix
