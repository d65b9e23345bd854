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

scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "priority_lock";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe;
    s.probe_takes_turns = true;
    return s;
}

const registered all[] = {
    registered(make("alone", uncontended)),
    registered(make("overtake", overtake)),
    registered(make("readers", readers)),
};

}  // namespace priority_lock_scenarios

}  // namespace corozk::matrix
