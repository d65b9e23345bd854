// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/turns.hpp"
#include <corozk/recipe/semaphore.hpp>

namespace corozk::matrix {

namespace {

/// No permit is lost: all of them can be had.
awaitable<void> probe(client& c, stage& s) {
    semaphore all(c, s.folder(), 2, options_of<semaphore_options>(s));
    ownership held = co_await all.acquire_for(s.patience(), 2);
    s.check(held.valid(), "the next one's permits are valid");
    { tenure owner(s, held, c, false); }
    co_await held.release();
}

/// One permit behind somebody else's two.
awaitable<void> wait(stage& s) {
    semaphore_options options = options_of<semaphore_options>(s);
    semaphore theirs(s.theirs(), s.folder(), 2, options);
    ownership first = co_await theirs.acquire(2);
    object<semaphore> mine(s, s.ours(), s.folder(), 2, options);
    call<ownership> asked(s, "acquire");
    {
        tenure owner(s, first, s.theirs());
        mine->acquire(1, asked.token());
        co_await s.state("waiting", [&] { return s.nodes() >= 2; });
    }
    co_await first.release();
    co_await take_turn(s, asked, "holding", false);
}

/// Both permits, one after the other.
awaitable<void> both(stage& s) {
    object<semaphore> mine(s, s.ours(), s.folder(), 2, options_of<semaphore_options>(s));
    call<ownership> first(s, "acquire");
    call<ownership> second(s, "acquire too");
    mine->acquire(1, first.token());
    mine->acquire(1, second.token());
    ownership one = co_await first.result();
    tenure owner(s, one, s.ours(), false);
    co_await take_turn(s, second, "holding both", false);
    call<> released(s, "release the other");
    one.release(released.token());
    co_await released.result();
}

scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "semaphore";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe;
    s.probe_takes_turns = true;
    return s;
}

const registered all[] = {
    registered(make("wait", wait)),
    registered(make("both", both)),
};

}  // namespace

}  // namespace corozk::matrix
