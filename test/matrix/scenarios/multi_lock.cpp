// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/turns.hpp"
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/multi_lock.hpp>
#include <corozk/recipe/semaphore.hpp>
#include <corozk/recipe/shared_lock.hpp>

namespace corozk::matrix {

namespace multi_lock_scenarios {

/// A lock, both permits of a semaphore, and a shared lock, in the order of their paths.
struct all_three {
    all_three(client& c, stage& s)
        : a(c, s.folder() + "/a", options_of<lock_options>(s)),
          b(c, s.folder() + "/b", 2, options_of<semaphore_options>(s)),
          c(c, s.folder() + "/c", options_of<shared_lock_options>(s)),
          all(c) {
        all.add_write(this->c).add(b, 2).add(a);
    }

    lock a;
    semaphore b;
    shared_lock c;
    multi_lock all;
};

/// The server knows both nodes, and they are the session's.
void enter_parts(stage& s, const multi_ownership& held, std::int64_t session_id) {
    s.check(held.parts().size() == 3, "all or nothing");
    for (const multi_part& part : held.parts()) {
        auto record = s.stat(part.held.path());
        if (!held.valid() || session_id == s.owners.ended_session)
            return;
        s.check(record.has_value(), "the part's node is there");
        if (record) {
            s.check(record->ephemeral_owner == session_id, "the part's node is the session's");
        }
    }
    // One of the parts stands for all.
    s.owners.enter(held.parts().back().held, session_id);
}

class grant_of_all : public call<multi_ownership> {
public:
    explicit grant_of_all(stage& s) : call(s, "acquire") {
        at_result(
            [&s](const multi_ownership& held) { enter_parts(s, held, s.session_of(party::ours)); });
    }
};

awaitable<void> probe(client& c, stage& s) {
    all_three locks(c, s);
    multi_ownership held = co_await locks.all.acquire_for(s.patience());
    s.check(held.valid(), "the next one's grant is valid");
    enter_parts(s, held, c.session_id());
    co_await held.release();
}

/// The first parts are free, the last one is somebody else's.
awaitable<void> wait(stage& s) {
    shared_lock theirs(s.theirs(), s.folder() + "/c", options_of<shared_lock_options>(s));
    ownership first = co_await theirs.acquire_write();
    s.enter_owner(first, party::theirs);
    object<all_three> mine(s, s.ours(), s);
    grant_of_all asked(s);
    mine->all.acquire_for(asked.limit(), asked.token());
    co_await s.state("waiting", [&] { return s.children(s.folder() + "/c").size() >= 2; });
    s.check(!asked.good() || !first.valid(), "not without all of them");
    co_await first.release();
    multi_ownership given = co_await asked.result();
    droppable<multi_ownership> held(s, std::move(given));
    co_await s.state("holding");
    if (s.deprived() && s.set().at_state == "holding") {
        co_await testing::eventually_async(
            [&] { return !held->valid(); }, s.patience(), "the loss is seen");
    }
    call<> released(s, "release");
    held->release(released.token());
    co_await released.result();
}

/// A try when somebody else has a permit: what was granted before is given back.
awaitable<void> refused(stage& s) {
    semaphore theirs(s.theirs(), s.folder() + "/b", 2, options_of<semaphore_options>(s));
    ownership one = co_await theirs.acquire();
    object<all_three> mine(s, s.ours(), s);
    call<multi_ownership> asked(s, "try_acquire");
    mine->all.try_acquire(asked.token());
    error_code ec = co_await asked.ended();
    if (ec != errc::would_block)
        co_await asked.result();
    s.check(!asked.good(), "not without all of them");
    co_await testing::eventually_async([&] { return s.children(s.folder() + "/a").empty(); },
                                       s.patience(),
                                       "a refused try leaves nothing");
    s.check(one.valid(), "the other one has it still");
    co_await s.state("refused");
    co_await one.release();
}

/// All are free.
awaitable<void> alone(stage& s) {
    object<all_three> mine(s, s.ours(), s);
    grant_of_all asked(s);
    mine->all.acquire_for(asked.limit(), asked.token());
    multi_ownership given = co_await asked.result();
    droppable<multi_ownership> held(s, std::move(given));
    co_await s.state("holding");
    call<> released(s, "release");
    held->release(released.token());
    co_await released.result();
}

scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "multi_lock";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe;
    s.probe_takes_turns = true;
    s.may_stay = [](stage&, const std::string& below) {
        return below == "a" || below == "b" || below == "c";
    };
    s.foreign_in = "/a";
    s.at_every_turn = true;
    return s;
}

const registered all[] = {
    registered(make("wait", wait)),
    registered(make("alone", alone)),
    registered([] {
        scenario s = make("refused", refused);
        s.at_every_turn = false;
        s.only(at_requests, other_requests);
        return s;
    }()),
};

}  // namespace multi_lock_scenarios

}  // namespace corozk::matrix
