// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/turns.hpp"
#include <corozk/recipe/priority_lock.hpp>

namespace corozk::matrix {

namespace priority_lock_scenarios {

// A better priority goes first.
constexpr share alone{.in_line = false};
constexpr share together{.alone = false};

awaitable<void> probe(client& c, stage& s) {
    priority_lock l(c, s.folder(), options_of<priority_lock_options>(s));
    ownership held = co_await l.acquire_for(9, s.patience());
    co_await others_turn(s, c, std::move(held), alone);
}

awaitable<void> uncontended(stage& s) {
    object<priority_lock> l(s, s.ours(), s.folder(), options_of<priority_lock_options>(s));
    grant asked(s, "acquire", alone);
    l->acquire_for(5, asked.limit(), asked.token());
    co_await take_turn(s, asked, "holding");
}

/// Two of ours behind somebody else's: the later one is the better one.
awaitable<void> overtake(stage& s) {
    priority_lock_options options = options_of<priority_lock_options>(s);
    priority_lock theirs(s.theirs(), s.folder(), options);
    ownership first = co_await theirs.acquire(5);
    s.enter_owner(first, party::theirs, alone);
    object<priority_lock> mine(s, s.ours(), s.folder(), options);
    grant worse(s, "acquire", alone);
    grant better(s, "acquire too", alone);
    mine->acquire_for(7, worse.limit(), worse.token());
    mine->acquire_for(3, better.limit(), better.token());
    // The holder's node and its record, and those who wait.
    co_await s.state("waiting", [&] { return s.nodes() >= 4; });
    co_await first.release();
    co_await take_turn(s, better, "holding");
    co_await take_turn(s, worse, "holding again");
}

/// Two readers behind somebody else's writer: together.
awaitable<void> readers(stage& s) {
    priority_lock_options options = options_of<priority_lock_options>(s);
    options.ask_holder_to_release = true;
    priority_lock theirs(s.theirs(), s.folder(), options);
    ownership first = co_await theirs.acquire(5);
    s.enter_owner(first, party::theirs, alone);
    object<priority_lock> mine(s, s.ours(), s.folder(), options);
    grant one(s, "acquire_read", together);
    grant other(s, "acquire_read too", together);
    mine->acquire_read_for(2, one.limit(), one.token());
    mine->acquire_read_for(2, other.limit(), other.token());
    co_await s.state("waiting", [&] { return s.nodes() >= 4; });
    co_await first.release();
    ownership given = co_await one.result();
    droppable<ownership> held(s, std::move(given));
    co_await take_turn(s, other, "reading");
    call<> released(s, "release the other");
    held->release(released.token());
    co_await released.result();
}

/// Ours hands over to another one of ours, of better priority than a client that came first.
awaitable<void> local(stage& s) {
    priority_lock_options options = options_of<priority_lock_options>(s);
    object<priority_lock> mine(s, s.ours(), s.folder(), options);
    priority_lock theirs(s.theirs(), s.folder(), options);
    grant asked(s, "acquire", alone);
    mine->acquire(5, asked.token());
    ownership given = co_await asked.result();
    droppable<ownership> held(s, std::move(given));
    call<ownership> other(s, "their acquire", party::theirs);
    other.at_result([&s](const ownership& o) { s.enter_owner(o, party::theirs, alone); });
    theirs.acquire(5, other.token());
    grant better(s, "acquire too", alone);
    mine->acquire(1, better.token());
    co_await s.state("holding", [&] { return s.nodes() >= 4; });
    s.check(!better.good() || !held.holds(), "a holder is not overtaken");
    call<> released(s, "release");
    held->release(released.token());
    co_await released.result();
    co_await take_turn(s, better, "holding again");
    given = co_await other.result();
    co_await given.release();
}

/// Readers of ours before a writer of ours, behind somebody else who is asked to release.
awaitable<void> asking(stage& s) {
    priority_lock_options options = options_of<priority_lock_options>(s);
    options.identity = "they";
    priority_lock theirs(s.theirs(), s.folder(), options);
    options.identity = "me";
    options.ask_holder_to_release = true;
    object<priority_lock> mine(s, s.ours(), s.folder(), options);
    ownership first = co_await theirs.acquire(5);
    s.enter_owner(first, party::theirs, alone);
    call<> requested(s, "their wait_release_requested", party::theirs);
    first.wait_release_requested(requested.token());
    grant one(s, "acquire_read", together);
    grant other(s, "acquire_read too", together);
    grant writer(s, "acquire", alone);
    mine->acquire_read(2, one.token());
    mine->acquire_read(2, other.token());
    mine->acquire(3, writer.token());
    co_await s.state("waiting", [&] { return s.nodes() >= 5 && requested.done(); });
    if (!s.disturbed())
        s.check(s.data(first.path()) == "they\nunlock", "the request is in the node");
    s.check(!one.good() && !other.good() && !writer.good(), "a holder is not overtaken");
    co_await first.release();
    ownership given = co_await one.result();
    droppable<ownership> held(s, std::move(given));
    co_await take_turn(s, other, "reading");
    s.check(!writer.good() || !held.holds(), "nobody writes beside a reader");
    call<> released(s, "release the other");
    held->release(released.token());
    co_await released.result();
    co_await take_turn(s, writer, "writing");
}

/// A try and a short wait behind a holder: both leave nothing.
awaitable<void> refused(stage& s) {
    priority_lock_options options = options_of<priority_lock_options>(s);
    priority_lock theirs(s.theirs(), s.folder(), options);
    ownership first = co_await theirs.acquire(5);
    s.enter_owner(first, party::theirs, alone);
    object<priority_lock> mine(s, s.ours(), s.folder(), options);
    call<ownership> trying(s, "try_acquire");
    mine->try_acquire(1, trying.token());
    error_code ec = co_await trying.ended();
    if (ec != errc::would_block)
        co_await trying.result();
    call<ownership> waiting(s, "acquire_for");
    mine->acquire_for(1, std::chrono::milliseconds(30), waiting.token());
    ec = co_await waiting.ended();
    if (ec != errc::deadline_exceeded)
        co_await waiting.result();
    s.check(!trying.good() && !waiting.good(), "a holder is not overtaken");
    co_await testing::eventually_async(
        [&] { return s.nodes() == 2; }, s.patience(), "whoever is refused leaves nothing");
    s.check(first.valid(), "the holder has it still");
    co_await s.state("refused");
    co_await first.release();
}

scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "priority_lock";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe;
    s.probe_takes_turns = true;
    return s;
}

scenario at_its_requests(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s = make(std::move(name), play);
    s.only(at_requests, other_requests);
    return s;
}

const registered all[] = {
    registered([] {
        scenario s = make("alone", uncontended);
        s.at_every_turn = true;
        return s;
    }()),
    registered(make("overtake", overtake)),
    registered([] {
        scenario s = make("readers", readers);
        s.at_every_turn = true;
        return s;
    }()),
    registered(at_its_requests("local", local)),
    registered(at_its_requests("asking", asking)),
    registered(at_its_requests("refused", refused)),
};

}  // namespace priority_lock_scenarios

}  // namespace corozk::matrix
