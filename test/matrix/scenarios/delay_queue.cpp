// SPDX-License-Identifier: Apache-2.0
#include "hand_clock.hpp"
#include "queue_items.hpp"
#include <corozk/recipe/delay_queue.hpp>

namespace corozk::matrix {

namespace delay_queue_scenarios {

using namespace std::chrono_literals;
using testing::hand_clock;

/// For companions, probes and invariants: everything is due.
hand_clock::time_point the_last_day() {
    return hand_clock::time_point::max();
}

awaitable<void> put_as(client& c, stage& s, std::string item, due_time when) {
    delay_queue q(c, queue_path(s), options_of<queue_options>(s));
    co_await put_noted(q, s, item, when);
}

/// Puts one more and takes whatever is there, until that has come out: as the last.
awaitable<void> probe(client& c, stage& s) {
    delay_queue q(c, queue_path(s), options_of<queue_options>(s), the_last_day);
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
    object<delay_queue> q(s, s.ours(), queue_path(s), options_of<queue_options>(s), wall.reader());
    auto start = wall.now();
    for (const char* expected : {"early", "late"}) {
        bool first = std::string(expected) == "early";
        call<queue_item> taking(s, std::string("take ") + expected);
        q->take_until(taking.deadline(), taking.token());
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
        queue_item item = co_await taken(s, taking, expected);
        s.check(item.data == expected, "the earlier due first");
        s.check(item.due <= wall.now(), "nothing comes early");
    }
}

/// Puts one that is not due for long, and waits in vain.
awaitable<void> waits_too(client& c, stage& s) {
    co_await put_as(c, s, "beside", the_last_day() - 2h);
    hand_clock stopped(0ms);
    delay_queue q(c, queue_path(s), options_of<queue_options>(s), stopped.reader());
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
        s.invariant = no_item_lost;
        s.outlives_session = true;
        s.may_stay = is_of_a_queue;
        s.foreign_in = "/q";
        return s;
    }()),
};

}  // namespace delay_queue_scenarios

}  // namespace corozk::matrix
