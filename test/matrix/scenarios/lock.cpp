// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/turns.hpp"
#include <corozk/recipe/lock.hpp>

namespace corozk::matrix {

namespace lock_scenarios {

awaitable<void> probe(client& c, stage& s) {
    lock l(c, s.folder(), options_of<lock_options>(s));
    ownership held = co_await l.acquire_for(s.patience());
    co_await others_turn(s, c, std::move(held));
}

awaitable<void> alone(stage& s) {
    object<lock> l(s, s.ours(), s.folder(), options_of<lock_options>(s));
    co_await s.state("idle");
    grant asked(s, "acquire");
    l->acquire_for(asked.limit(), asked.token());
    co_await take_turn(s, asked, "holding");
}

/// Two of ours behind somebody else's.
awaitable<void> wait(stage& s) {
    lock_options options = options_of<lock_options>(s);
    lock theirs(s.theirs(), s.folder(), options);
    ownership first = co_await theirs.acquire();
    s.enter_owner(first, party::theirs);
    object<lock> mine(s, s.ours(), s.folder(), options);
    grant second(s, "acquire");
    grant third(s, "acquire too");
    mine->acquire_for(second.limit(), second.token());
    mine->acquire_for(third.limit(), third.token());
    co_await s.state("waiting", [&] { return s.nodes() >= 3; });
    co_await first.release();
    co_await take_turn(s, second, "holding");
    co_await take_turn(s, third, "holding again");
}

awaitable<void> tries(stage& s) {
    object<lock> l(s, s.ours(), s.folder(), options_of<lock_options>(s));
    grant asked(s, "try_acquire");
    l->try_acquire(asked.token());
    co_await take_turn(s, asked, "holding");
}

/// Three of ours, which hand it over among themselves.
awaitable<void> local(stage& s) {
    object<lock> l(s, s.ours(), s.folder(), options_of<lock_options>(s));
    grant first(s, "acquire");
    grant second(s, "acquire too");
    grant third(s, "acquire as well");
    for (grant* asked : {&first, &second, &third})
        l->acquire(asked->token());
    std::vector<grant*> all{&first, &second, &third};
    co_await take_turns(s, all);
}

/// A try behind another client's lock leaves nothing that could refuse one for a free lock.
awaitable<void> refused(stage& s) {
    lock_options options = options_of<lock_options>(s);
    lock theirs(s.theirs(), s.folder(), options);
    ownership first = co_await theirs.acquire();
    s.enter_owner(first, party::theirs);
    object<lock> mine(s, s.ours(), s.folder(), options);
    call<ownership> asked(s, "try_acquire");
    mine->try_acquire(asked.token());
    error_code ec = co_await asked.ended();
    if (ec != errc::would_block)
        co_await asked.result();
    s.check(!asked.good(), "the lock is not free");
    co_await first.release();
    co_await testing::eventually_async(
        [&] { return s.nodes() == 0; }, s.patience(), "a refused try leaves nothing");
    grant free(s, "try_acquire again");
    mine->try_acquire(free.token());
    co_await take_turn(s, free, "holding");
}

/// Ours is asked to give it back, and does.
awaitable<void> revoked(stage& s) {
    lock_options options = options_of<lock_options>(s);
    object<lock> mine(s, s.ours(), s.folder(), options);
    lock theirs(s.theirs(), s.folder(), options);
    grant asked(s, "acquire");
    mine->acquire(asked.token());
    ownership given = co_await asked.result();
    droppable<ownership> held(s, std::move(given));
    call<> requested(s, "wait_release_requested");
    held->wait_release_requested(requested.token());
    co_await s.state("holding", [&] { return s.ours().counters().watches > 0; });
    std::string path = held->path();
    call<> asking(s, "their request_release", party::theirs);
    theirs.request_release(path, asking.token());
    error_code ec = co_await asking.ended();
    s.check(!ec || ec == zk_errc::no_node, "their request: " + ec.message());
    // Without a node there is nobody to be asked.
    if (ec && s.disturbed())
        throw scenario_over();
    if (ec)
        s.check(s.deprived() || ends_session(s.which()), "the owner's node is there");
    co_await requested.result();
    co_await s.state("asked");
    call<> released(s, "release");
    held->release(released.token());
    co_await released.result();
}

/// Ours insists, and takes it from somebody who does not listen.
awaitable<void> insist(stage& s) {
    lock_options options = options_of<lock_options>(s);
    lock theirs(s.theirs(), s.folder(), options);
    ownership first = co_await theirs.acquire();
    s.enter_owner(first, party::theirs);
    object<lock> mine(s, s.ours(), s.folder(), options);
    co_await s.state("before");
    call<bool> insisting(s, "insist_on_release");
    mine->insist_on_release(first.path(), std::chrono::milliseconds(100), insisting.token());
    co_await s.state("insisting");
    bool removed = co_await insisting.result();
    // After a lost answer it is not known any more who has removed it.
    if (s.which() == fault::none)
        s.check(removed, "it had to be removed");
    call<error_code> lost(s, "their loss", party::theirs);
    first.wait_lost(lost.token());
    error_code reason = co_await lost.result();
    s.check(reason == errc::ownership_lost, "who was removed is told why: " + reason.message());
}

/// A coroutine that runs under the lock, and writes what only an owner may.
awaitable<void> under(stage& s) {
    object<lock> mine(s, s.ours(), s.folder(), options_of<lock_options>(s));
    grant asked(s, "acquire");
    mine->acquire(asked.token());
    ownership given = co_await asked.result();
    droppable<ownership> held(s, std::move(given));
    std::string effect = s.folder() + "-effect";
    co_await s.state("holding");
    transaction steps;
    steps.create(effect, "1");
    call<std::vector<transaction_result>> committing(s, "commit");
    held->commit(steps, committing.token());
    error_code ec = co_await committing.ended();
    // Sent, and the answer lost: it is not repeated.
    if (!is_outcome_unknown(ec) && ec != errc::not_connected)
        co_await committing.result();
    call<node_data> reading(s, "read");
    held->read(effect, reading.token());
    ec = co_await reading.ended();
    bool may_be_missing = committing.error() && ec == zk_errc::no_node;
    if (!may_be_missing && !is_recoverable(ec))
        co_await reading.result();
    call<> released(s, "release");
    held->release(released.token());
    co_await released.result();
}

awaitable<void> no_effect_left(stage& s) {
    s.observer().erase(s.set().root + s.folder() + "-effect");
    co_return;
}

scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "lock";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe;
    s.probe_takes_turns = true;
    return s;
}

const registered all[] = {
    registered([] {
        scenario s = make("alone", alone);
        s.at_every_turn = true;
        return s;
    }()),
    registered([] {
        scenario s = make("wait", wait);
        s.at_every_turn = true;
        return s;
    }()),
    registered([] {
        scenario s = make("local", local);
        s.only(at_requests, other_requests);
        return s;
    }()),
    registered([] {
        scenario s = make("refused", refused);
        s.only(at_requests, other_requests);
        return s;
    }()),
    registered(make("try", tries)),
    registered([] {
        scenario s = make("revoked", revoked);
        const char* why = "another contender waits for good reason: until ours is asked";
        s.without[fault::second_object] = why;
        return s;
    }()),
    registered([] {
        scenario s = make("insist", insist);
        s.probe_takes_turns = false;
        s.without[fault::own_node_deleted] = "who insists has no node";
        s.without[fault::second_object] = "it would wait for who does not listen";
        // To insist is not repeated, and its page says so.
        for (fault f : connection_breakers)
            s.may_end_with[f] = {zk_errc::connection_loss, errc::not_connected};
        s.may_end_with[fault::parent_deleted] = {zk_errc::no_node};
        return s;
    }()),
    registered([] {
        scenario s = make("under", under);
        s.invariant = no_effect_left;
        return s;
    }()),
};

}  // namespace lock_scenarios

}  // namespace corozk::matrix
