// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/turns.hpp"
#include <corozk/recipe/semaphore.hpp>

namespace corozk::matrix {

namespace semaphore_scenarios {

constexpr share permits(int weight) {
    return {.alone = false, .weight = weight};
}

/// No permit is lost: all of them can be had.
awaitable<void> probe(client& c, stage& s) {
    s.owners.limit = 2;
    semaphore all(c, s.folder(), 2, options_of<semaphore_options>(s));
    ownership held = co_await all.acquire_for(2, s.patience());
    co_await others_turn(s, c, std::move(held), permits(2));
}

/// One permit behind somebody else's two.
awaitable<void> wait(stage& s) {
    s.owners.limit = 2;
    semaphore_options options = options_of<semaphore_options>(s);
    semaphore theirs(s.theirs(), s.folder(), 2, options);
    ownership first = co_await theirs.acquire(2);
    s.enter_owner(first, party::theirs, permits(2));
    object<semaphore> mine(s, s.ours(), s.folder(), 2, options);
    grant asked(s, "acquire", permits(1));
    mine->acquire_for(1, asked.limit(), asked.token());
    co_await s.state("waiting", [&] { return s.nodes() >= 2; });
    co_await first.release();
    co_await take_turn(s, asked, "holding");
}

/// Both permits, one after the other.
awaitable<void> both(stage& s) {
    s.owners.limit = 2;
    object<semaphore> mine(s, s.ours(), s.folder(), 2, options_of<semaphore_options>(s));
    grant first(s, "acquire", permits(1));
    grant second(s, "acquire too", permits(1));
    mine->acquire_for(1, first.limit(), first.token());
    mine->acquire_for(1, second.limit(), second.token());
    ownership given = co_await first.result();
    droppable<ownership> one(s, std::move(given));
    co_await take_turn(s, second, "holding both");
    call<> released(s, "release the other");
    one->release(released.token());
    co_await released.result();
}

/// Waits for more than there is, until somebody else makes more of it.
awaitable<void> raised(stage& s) {
    s.owners.limit = 2;
    semaphore_options options = options_of<semaphore_options>(s);
    semaphore theirs(s.theirs(), s.folder(), 1, options);
    ownership first = co_await theirs.acquire(1);
    s.enter_owner(first, party::theirs, permits(1));
    object<semaphore> mine(s, s.ours(), s.folder(), 1, options);
    grant asked(s, "acquire", permits(1));
    mine->acquire_for(1, asked.limit(), asked.token());
    co_await s.state("waiting", [&] { return s.nodes() >= 2; });
    co_await theirs.set_limit(2);
    co_await take_turn(s, asked, "holding");
    call<> lowering(s, "set_limit");
    mine->set_limit(1, lowering.token());
    co_await lowering.result();
    co_await s.state("lowered");
    co_await first.release();
}

/// Whoever comes next finds the limit that there is in the end.
awaitable<void> probe_of_any_limit(client& c, stage& s) {
    semaphore all(c, s.folder(), 2, options_of<semaphore_options>(s));
    co_await all.set_limit(2);
    co_await probe(c, s);
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
    registered([] {
        scenario s = make("raised", raised);
        s.probe = probe_of_any_limit;
        s.probe_takes_turns = false;  // it changes the limit
        s.without[fault::second_object] = "there are no permits for another one";
        s.without[fault::parent_deleted] = "the limit goes with the folder: it is not raised then";
        return s;
    }()),
};

}  // namespace semaphore_scenarios

}  // namespace corozk::matrix
