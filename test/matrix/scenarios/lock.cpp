// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/turns.hpp"
#include <corozk/recipe/lock.hpp>

namespace corozk::matrix {

namespace {

awaitable<void> probe(client& c, stage& s) {
    lock l(c, s.folder(), options_of<lock_options>(s));
    ownership held = co_await l.acquire_for(s.patience());
    co_await others_turn(s, c, std::move(held));
}

awaitable<void> alone(stage& s) {
    object<lock> l(s, s.ours(), s.folder(), options_of<lock_options>(s));
    co_await s.state("idle");
    call<ownership> asked(s, "acquire");
    l->acquire(asked.token());
    co_await take_turn(s, asked, "holding");
}

/// Two of ours behind somebody else's.
awaitable<void> wait(stage& s) {
    lock_options options = options_of<lock_options>(s);
    lock theirs(s.theirs(), s.folder(), options);
    ownership first = co_await theirs.acquire();
    object<lock> mine(s, s.ours(), s.folder(), options);
    call<ownership> second(s, "acquire");
    call<ownership> third(s, "acquire too");
    {
        tenure owner(s, first, s.theirs());
        mine->acquire(second.token());
        mine->acquire(third.token());
        co_await s.state("waiting", [&] { return s.nodes() >= 3; });
    }
    co_await first.release();
    co_await take_turn(s, second, "holding");
    co_await take_turn(s, third, "holding again");
}

awaitable<void> tries(stage& s) {
    object<lock> l(s, s.ours(), s.folder(), options_of<lock_options>(s));
    call<ownership> asked(s, "try_acquire");
    l->try_acquire(asked.token());
    co_await take_turn(s, asked, "holding");
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
    registered(make("alone", alone)),
    registered(make("wait", wait)),
    registered(make("try", tries)),
};

}  // namespace

}  // namespace corozk::matrix
