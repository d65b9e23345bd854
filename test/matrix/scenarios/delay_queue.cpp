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

/// Puts in another order than the items are due: each comes in its turn.
awaitable<void> in_order(stage& s) {
    hand_clock wall;
    object<delay_queue> q(s, s.ours(), queue_path(s), options_of<queue_options>(s), wall.reader());
    auto start = wall.now();
    for (int due : {20, 0, 10}) {
        std::string item = std::to_string(due);
        call<> putting(s, "put " + item);
        s.note("tried", item);
        q->put(item, start + std::chrono::milliseconds(due), putting.token());
        co_await putting.result();
        s.note("put", item);
    }
    std::vector<std::string> items{"30", "40"};
    call<> putting(s, "put_many");
    for (const std::string& item : items)
        s.note("tried", item);
    q->put_many(items, start + 30ms, putting.token());
    co_await putting.result();
    for (const std::string& item : items)
        s.note("put", item);
    for (std::string expected : {"0", "10", "20"}) {
        call<queue_item> taking(s, "take " + expected);
        q->take(taking.token());
        queue_item item = co_await taken(s, taking, expected);
        s.check(item.data == expected, "the earlier due first");
        wall.turn(10ms);
    }
    call<queue_item> trying(s, "try_take");
    q->try_take(trying.token());
    queue_item item = co_await taken(s, trying, "30");
    s.check(item.data == "30", "what is due can be taken at once");
    call<queue_item> looking(s, "peek");
    q->peek(looking.token());
    item = co_await looking.result();
    s.check(item.data == "40", "the next one is seen");
}

/// What is claimed stays so, and what is given back waits for its time, whatever the clock says.
awaitable<void> consume(stage& s) {
    hand_clock wall;
    object<delay_queue> q(s, s.ours(), queue_path(s), options_of<queue_options>(s), wall.reader());
    co_await put_as(s.theirs(), s, "1", wall.now() + 10ms);
    co_await put_as(s.theirs(), s, "0", wall.now());
    wall.turn(10ms);
    for (std::string expected : {"0", "1"}) {
        call<queue_claim> consuming(s, "consume " + expected);
        q->consume(consuming.token());
        queue_claim claim = co_await consuming.result();
        s.check(claim.data() == expected || ends_session(s.which()), "the earlier due first");
        transaction steps;
        steps.create(effect_of(s, claim.data()));
        call<> acknowledging(s, "acknowledge " + expected);
        claim.acknowledge(steps, acknowledging.token());
        co_await acknowledging.result();
    }
    co_await put_as(s.theirs(), s, "2", wall.now() + 1s);
    wall.turn(1s);
    call<queue_claim> consuming(s, "consume 2");
    q->consume(consuming.token());
    queue_claim claim = co_await consuming.result();
    wall.turn(-1h);
    call<> releasing(s, "release 2");
    claim.release(releasing.token());
    co_await releasing.result();
    call<queue_claim> early(s, "try_consume");
    q->try_consume(early.token());
    error_code ec = co_await early.ended();
    if (ec != errc::would_block)
        co_await early.result();
    s.check(!early.good(), "nothing comes early");
    wall.turn(1h);
    call<queue_claim> again(s, "try_consume again");
    q->try_consume(again.token());
    claim = co_await again.result();
    s.check(claim.data() == "2", "what was given back is there");
    co_await s.state("claimed again");
}

scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "delay_queue";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe;
    s.invariant = no_item_lost;
    s.may_stay = is_of_a_queue;
    s.foreign_in = "/q";
    return s;
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
        scenario s = make("take", take);
        s.companion = waits_too;
        s.outlives_session = true;
        return s;
    }()),
    registered([] {
        scenario s = make("in order", in_order);
        s.outlives_session = true;
        // Nothing was sent in the time allowed.
        s.may_end_with[fault::long_hole] = {errc::not_connected};
        s.only(at_requests, other_requests);
        return s;
    }()),
    registered([] {
        scenario s = make("consume", consume);
        // The response to an acknowledgement, and the session with it.
        for (fault f : {fault::expired, fault::long_hole})
            s.may_end_with[f] = {zk_errc::connection_loss};
        s.only(at_requests, other_requests);
        return s;
    }()),
};

}  // namespace delay_queue_scenarios

}  // namespace corozk::matrix
