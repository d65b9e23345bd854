// SPDX-License-Identifier: Apache-2.0
#include "queue_items.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace corozk::matrix {

namespace queue_scenarios {

awaitable<void> put_as(client& c, stage& s, std::string item) {
    queue q(c, queue_path(s), options_of<queue_options>(s));
    co_await put_noted(q, s, item);
}

/// Puts one more and takes whatever is there, until that has come out.
awaitable<void> probe(client& c, stage& s) {
    queue q(c, queue_path(s), options_of<queue_options>(s));
    co_await q.put("last");
    for (;;) {
        auto deadline = std::chrono::steady_clock::now() + s.patience();
        queue_item item = co_await q.take_until(deadline);
        if (item.data == "last")
            break;
    }
}

awaitable<void> puts_too(client& c, stage& s) {
    co_await put_as(c, s, "beside");
}

/// Puts one and takes one.
awaitable<void> takes_too(client& c, stage& s) {
    co_await put_as(c, s, "beside");
    queue q(c, queue_path(s), options_of<queue_options>(s));
    queue_item item = co_await q.take();
    s.note("taken", item.data);
}

/// Until its end: what was not sent, or not in time, is not there.
awaitable<void> put_is_over(stage& s, call<>& putting, std::string item) {
    error_code ec = co_await putting.ended();
    if (ec == errc::not_connected || ec == errc::deadline_exceeded)
        s.note("refused", item);
    co_await putting.result();
    s.note("put", item);
}

awaitable<void> put(stage& s) {
    object<queue> q(s, s.ours(), queue_path(s), options_of<queue_options>(s));
    for (const char* item : {"a", "b", "c"}) {
        call<> putting(s, std::string("put ") + item);
        s.note("tried", item);
        q->put_until(item, putting.deadline(), putting.token());
        co_await put_is_over(s, putting, item);
        std::string name = std::string("put ") + item;
        co_await s.state(name);
    }
}

/// Two at once, and all or nothing of them.
awaitable<void> put_many(stage& s) {
    object<queue> q(s, s.ours(), queue_path(s), options_of<queue_options>(s));
    std::vector<std::string> items{"a", "b"};
    call<> putting(s, "put_many");
    for (const std::string& item : items)
        s.note("tried", item);
    q->put_many(items, putting.token());
    co_await putting.result();
    for (const std::string& item : items)
        s.note("put", item);
    co_await s.state("put");
}

/// Waits at a full queue until somebody else takes from it.
awaitable<void> put_into_full(stage& s) {
    queue_options options = options_of<queue_options>(s);
    options.bound = 1;
    queue theirs(s.theirs(), queue_path(s), options);
    co_await put_noted(theirs, s, std::string("a"));
    object<queue> q(s, s.ours(), queue_path(s), options);
    call<> putting(s, "put b");
    s.note("tried", "b");
    q->put_until("b", putting.deadline(), putting.token());
    co_await s.state("full");
    // With its parent the whole queue is gone.
    if (s.which() != fault::parent_deleted) {
        s.check(!putting.good() || !s.exists(queue_path(s)), "there is no place for another one");
        queue_item item = co_await theirs.take();
        s.note("taken", item.data);
    }
    co_await put_is_over(s, putting, "b");
}

/// Waits at an empty queue, and takes what comes.
awaitable<void> take(stage& s) {
    object<queue> q(s, s.ours(), queue_path(s), options_of<queue_options>(s));
    call<queue_item> taking(s, "take");
    q->take_until(taking.deadline(), taking.token());
    co_await s.state("waiting");
    co_await put_as(s.theirs(), s, "a");
    co_await put_as(s.theirs(), s, "b");
    co_await taken(s, taking, "a");
    co_await s.state("taken");
    // With its parent the other item is gone.
    if (s.which() == fault::parent_deleted)
        throw scenario_over();
    call<queue_item> another(s, "take another");
    q->take_until(another.deadline(), another.token());
    co_await taken(s, another, "b");
}

/// Looks at the first item, and takes it without waiting.
awaitable<void> take_at_once(stage& s) {
    object<queue> q(s, s.ours(), queue_path(s), options_of<queue_options>(s));
    co_await put_as(s.theirs(), s, "a");
    co_await put_as(s.theirs(), s, "b");
    for (std::string expected : {"a", "b"}) {
        call<queue_item> looking(s, "peek");
        q->peek(looking.token());
        queue_item item = co_await looking.result();
        s.check(item.data == expected, "the first item is seen");
        call<queue_item> taking(s, "try_take " + expected);
        q->try_take(taking.token());
        item = co_await taken(s, taking, expected);
        s.check(item.data == expected, "the first item is taken");
    }
}

/// Items of a long queue, while somebody else takes some that are listed already.
/// @tparam Window  how many of the first items it may begin with
template <std::size_t Window>
awaitable<void> take_from_long(stage& s) {
    queue_options options = options_of<queue_options>(s);
    queue theirs(s.theirs(), queue_path(s), options);
    options.window = Window;
    object<queue> q(s, s.ours(), queue_path(s), options);
    std::vector<std::string> left;
    for (char first = 'a'; first < 'e'; ++first) {
        for (char second = 'a'; second < 'q'; ++second)
            left.push_back({first, second});
    }
    for (const std::string& item : left) {
        s.note("tried", item);
        s.note("put", item);
    }
    co_await theirs.put_many(left);
    for (int round = 1; round <= 3; ++round) {
        call<queue_item> taking(s, "take " + std::to_string(round));
        q->take(taking.token());
        queue_item item = co_await taken(s, taking, "one of the items");
        auto place = std::find(left.begin(), left.end(), item.data);
        s.check(place - left.begin() < static_cast<std::ptrdiff_t>(Window), "it is a first item");
        std::erase(left, item.data);
        for (int i = 0; i < 2; ++i) {
            item = co_await theirs.take();
            s.note("taken", item.data);
            std::erase(left, item.data);
        }
    }
}

/// Three into a queue for two: the third comes in when the first is taken.
awaitable<void> bounded(stage& s) {
    queue_options options = options_of<queue_options>(s);
    options.bound = 2;
    object<queue> q(s, s.ours(), queue_path(s), options);
    call<> third(s, "put c");
    for (std::string item : {"a", "b"}) {
        call<> putting(s, "put " + item);
        s.note("tried", item);
        q->put(item, putting.token());
        co_await put_is_over(s, putting, item);
    }
    s.note("tried", "c");
    q->put("c", third.token());
    for (std::string expected : {"a", "b", "c"}) {
        s.check(s.children(queue_path(s)).size() <= 2, "no more than two");
        if (expected == "c")  // there is a place for it now
            co_await put_is_over(s, third, "c");
        call<queue_item> taking(s, "take " + expected);
        q->take(taking.token());
        queue_item item = co_await taken(s, taking, expected);
        s.check(item.data == expected, "one after the other");
    }
}

/// Several items one after the other, and one that is given back and claimed again.
awaitable<void> consume_again(stage& s) {
    object<queue> q(s, s.ours(), queue_path(s), options_of<queue_options>(s));
    for (const char* item : {"a", "b", "c"})
        co_await put_as(s.theirs(), s, item);
    for (std::string expected : {"a", "b"}) {
        call<queue_claim> consuming(s, "consume " + expected);
        q->consume(consuming.token());
        queue_claim claim = co_await consuming.result();
        s.check(claim.data() == expected || ends_session(s.which()), "the first item is claimed");
        transaction steps;
        steps.create(effect_of(s, claim.data()));
        call<> acknowledging(s, "acknowledge " + expected);
        claim.acknowledge(steps, acknowledging.token());
        co_await acknowledging.result();
    }
    call<queue_claim> consuming(s, "consume c");
    q->consume(consuming.token());
    queue_claim claim = co_await consuming.result();
    call<> releasing(s, "release c");
    claim.release(releasing.token());
    co_await releasing.result();
    call<queue_claim> again(s, "try_consume");
    q->try_consume(again.token());
    claim = co_await again.result();
    s.check(claim.data() == "c", "what was given back is there");
    co_await s.state("claimed again");
}

awaitable<void> consume(stage& s) {
    object<queue> q(s, s.ours(), queue_path(s), options_of<queue_options>(s));
    call<queue_claim> consuming(s, "consume");
    q->consume_until(consuming.deadline(), consuming.token());
    co_await s.state("waiting");
    co_await put_as(s.theirs(), s, "a");
    queue_claim given = co_await consuming.result();
    droppable<queue_claim> claim(s, std::move(given));
    co_await s.state("claimed");
    std::string effect = effect_of(s, claim->data());
    transaction steps;
    steps.create(effect);
    call<> acknowledging(s, "acknowledge");
    claim->acknowledge(steps, acknowledging.token());
    co_await acknowledging.result();
    s.check(s.exists(effect), "the effect is there");
    co_await s.state("acknowledged");
}

/// Gives an item back that somebody else waits for.
awaitable<void> give_back(stage& s) {
    queue_options options = options_of<queue_options>(s);
    co_await put_as(s.theirs(), s, "a");
    object<queue> q(s, s.ours(), queue_path(s), options);
    call<queue_claim> consuming(s, "consume");
    q->consume_until(consuming.deadline(), consuming.token());
    queue_claim given = co_await consuming.result();
    droppable<queue_claim> claim(s, std::move(given));
    queue theirs(s.theirs(), queue_path(s), options);
    call<queue_claim> next(s, "their consume", party::theirs);
    std::int64_t session = s.session_of(party::ours);
    next.at_result([&](const queue_claim&) {
        // Who cannot know yet: its session was ended, or its claim erased.
        bool may_be_deaf = session == s.owners.ended_session || deletes_own(s.which());
        s.check(may_be_deaf || !claim.holds(), "a claimed item is nobody else's");
    });
    theirs.consume(next.token());
    co_await s.state("claimed");
    call<> released(s, "release the claim");
    claim->release(released.token());
    co_await released.result();
    queue_claim other = co_await next.result();
    s.check(other.data() == "a", "the next one has the item");
    transaction steps;
    steps.create(effect_of(s, other.data()));
    co_await other.acknowledge(steps);
}

scenario make(std::string name,
              awaitable<void> (*play)(stage&),
              awaitable<void> (*companion)(client&, stage&)) {
    scenario s;
    s.recipe = "queue";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe;
    s.companion = companion;
    s.invariant = no_item_lost;
    s.may_stay = is_of_a_queue;
    s.foreign_in = "/q";
    return s;
}

scenario make_producer(std::string name,
                       awaitable<void> (*play)(stage&),
                       awaitable<void> (*companion)(client&, stage&)) {
    scenario s = make(std::move(name), play, companion);
    s.outlives_session = true;
    // Nothing was sent in the time allowed.
    s.may_end_with[fault::long_hole] = {errc::not_connected};
    return s;
}

const registered all[] = {
    registered(make_producer("put", put, puts_too)),
    registered(make_producer("put many", put_many, puts_too)),
    registered([] {
        scenario s = make_producer("bounded", bounded, puts_too);
        s.without[fault::long_hole] = "what could not be put would be waited for";
        s.only(at_requests, other_requests);
        return s;
    }()),
    registered([] {
        scenario s = make("take at once", take_at_once, puts_too);
        s.outlives_session = true;
        // Nothing was sent in the time allowed.
        s.may_end_with[fault::long_hole] = {errc::not_connected};
        s.only(at_requests, other_requests);
        return s;
    }()),
    registered([] {
        scenario s = make("take from long", take_from_long<1>, puts_too);
        s.only(at_requests, other_requests);
        return s;
    }()),
    registered([] {
        scenario s = make("take with window", take_from_long<8>, puts_too);
        s.only(at_requests, other_requests);
        return s;
    }()),
    registered([] {
        scenario s = make("consume again", consume_again, puts_too);
        // The response to an acknowledgement, and the session with it.
        for (fault f : {fault::expired, fault::long_hole})
            s.may_end_with[f] = {zk_errc::connection_loss};
        s.only(at_requests, other_requests);
        return s;
    }()),
    registered([] {
        scenario s = make_producer("put into full", put_into_full, takes_too);
        s.without[fault::foreign_children] = "whatever stands in the folder takes a place";
        return s;
    }()),
    registered([] {
        scenario s = make("take", take, takes_too);
        s.outlives_session = true;
        return s;
    }()),
    registered([] {
        scenario s = make("consume", consume, puts_too);
        // The answer to an acknowledgement, and the session with it.
        for (fault f : {fault::expired, fault::long_hole, fault::client_stopped})
            s.may_end_with[f] = {zk_errc::connection_loss};
        return s;
    }()),
    registered([] {
        scenario s = make("give back", give_back, puts_too);
        s.without[fault::parent_deleted] = "the item that the other one waits for is gone then";
        return s;
    }()),
};

}  // namespace queue_scenarios

}  // namespace corozk::matrix
