// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/turns.hpp"
#include <corozk/recipe/shared_lock.hpp>

namespace corozk::matrix {

namespace {

awaitable<void> probe(client& c, stage& s) {
    shared_lock l(c, s.folder(), options_of<shared_lock_options>(s));
    ownership held = co_await l.acquire_write_for(s.patience());
    co_await others_turn(s, c, std::move(held));
}

/// A reader behind somebody else's writer.
awaitable<void> reader(stage& s) {
    shared_lock_options options = options_of<shared_lock_options>(s);
    shared_lock theirs(s.theirs(), s.folder(), options);
    ownership first = co_await theirs.acquire_write();
    object<shared_lock> mine(s, s.ours(), s.folder(), options);
    call<ownership> asked(s, "acquire_read");
    {
        tenure owner(s, first, s.theirs());
        mine->acquire_read(asked.token());
        co_await s.state("waiting", [&] { return s.nodes() >= 2; });
    }
    co_await first.release();
    co_await take_turn(s, asked, "reading", false);
}

/// A writer behind somebody else's reader.
awaitable<void> writer(stage& s) {
    shared_lock_options options = options_of<shared_lock_options>(s);
    shared_lock theirs(s.theirs(), s.folder(), options);
    ownership first = co_await theirs.acquire_read();
    object<shared_lock> mine(s, s.ours(), s.folder(), options);
    call<ownership> asked(s, "acquire_write");
    {
        tenure owner(s, first, s.theirs(), false);
        mine->acquire_write(asked.token());
        co_await s.state("waiting", [&] { return s.nodes() >= 2; });
    }
    co_await first.release();
    co_await take_turn(s, asked, "writing");
}

/// From writer to reader and back.
awaitable<void> change(stage& s) {
    object<shared_lock> l(s, s.ours(), s.folder(), options_of<shared_lock_options>(s));
    call<ownership> asked(s, "acquire_write");
    l->acquire_write(asked.token());
    ownership held = co_await asked.result();
    co_await s.state("writing");
    call<> down(s, "downgrade");
    l->downgrade(held, down.token());
    co_await down.result();
    co_await s.state("reading");
    call<> up(s, "upgrade");
    l->upgrade(held, up.token());
    co_await up.result();
    co_await s.state("writing again");
    call<> released(s, "release");
    held.release(released.token());
    co_await released.result();
}

scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "shared_lock";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe;
    s.probe_takes_turns = true;
    return s;
}

const registered all[] = {
    registered(make("reader", reader)),
    registered(make("writer", writer)),
    registered([] {
        scenario s = make("change", change);
        const char* why = "an upgrade with another writer waiting is refused: it could never end";
        s.without[fault::second_object] = why;
        s.without[fault::noticed_hole] = why;  // where the session outlives it
        return s;
    }()),
};

}  // namespace

}  // namespace corozk::matrix
