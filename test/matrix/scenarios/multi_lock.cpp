// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/turns.hpp"
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/multi_lock.hpp>

namespace corozk::matrix {

namespace {

/// Two locks below the folder.
struct both_locks {
    both_locks(client& c, stage& s)
        : a(c, s.folder() + "/a", options_of<lock_options>(s)),
          b(c, s.folder() + "/b", options_of<lock_options>(s)),
          all(c) {
        all.add(a).add(b);
    }

    lock a;
    lock b;
    multi_lock all;
};

/// The server knows both nodes, and they are the session's.
void check_parts(stage& s, multi_ownership& held, client& whose) {
    s.check(held.parts().size() == 2, "all or nothing");
    for (multi_part& part : held.parts()) {
        auto record = s.stat(part.held.path());
        if (!held.valid() || s.owners.expired_by_force)
            return;
        s.check(record.has_value(), "the part's node is there");
        if (record) {
            s.check(record->ephemeral_owner == whose.status().session_id,
                    "the part's node is the session's");
        }
    }
}

awaitable<void> probe(client& c, stage& s) {
    both_locks locks(c, s);
    multi_ownership held = co_await locks.all.acquire_for(s.patience());
    s.check(held.valid(), "the next one's grant is valid");
    check_parts(s, held, c);
    { tenure owner(s, held.parts().back().held, c); }
    co_await held.release();
}

/// The first lock is free, the second one is somebody else's.
awaitable<void> wait(stage& s) {
    lock theirs(s.theirs(), s.folder() + "/b", options_of<lock_options>(s));
    ownership first = co_await theirs.acquire();
    object<both_locks> mine(s, s.ours(), s);
    call<multi_ownership> asked(s, "acquire");
    {
        tenure owner(s, first, s.theirs());
        mine->all.acquire(asked.token());
        co_await s.state("waiting", [&] { return s.children(s.folder() + "/b").size() >= 2; });
        s.check(!asked.good() || !first.valid() || s.owners.expired_by_force,
                "not without all of them");
    }
    co_await first.release();
    multi_ownership held = co_await asked.result();
    {
        tenure owner(s, held.parts().back().held, s.ours());
        check_parts(s, held, s.ours());
        co_await s.state("holding");
        if (s.deprived() && s.set().at_state == "holding") {
            co_await testing::eventually_async(
                [&] { return !held.valid(); }, s.patience(), "the loss is seen");
        }
    }
    call<> released(s, "release");
    held.release(released.token());
    co_await released.result();
}

/// Both are free.
awaitable<void> alone(stage& s) {
    object<both_locks> mine(s, s.ours(), s);
    call<multi_ownership> asked(s, "acquire");
    mine->all.acquire(asked.token());
    multi_ownership held = co_await asked.result();
    {
        tenure owner(s, held.parts().back().held, s.ours());
        check_parts(s, held, s.ours());
        co_await s.state("holding");
    }
    call<> released(s, "release");
    held.release(released.token());
    co_await released.result();
}

scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "multi_lock";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe;
    s.probe_takes_turns = true;
    s.leaves_data = true;  // the folders of the two locks
    s.foreign_in = "/a";
    return s;
}

const registered all[] = {
    registered(make("wait", wait)),
    registered(make("alone", alone)),
};

}  // namespace

}  // namespace corozk::matrix
