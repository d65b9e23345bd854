// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/call.hpp"
#include <corozk/recipe/counter.hpp>

namespace corozk::matrix {

namespace counter_scenarios {

std::string path(const stage& s) {
    return s.folder() + "/c";
}

awaitable<void> probe(client& c, stage& s) {
    counter mine(c, path(s), options_of<counter_options>(s));
    s.note("tried", "1");
    std::int64_t value = co_await mine.add(1);
    s.note("done", "1");
    s.check(value >= 1, "the counter goes on");
}

awaitable<void> add(stage& s) {
    object<counter> mine(s, s.ours(), path(s), options_of<counter_options>(s));
    for (const char* state : {"first", "second", "third"}) {
        call<std::int64_t> adding(s, "add");
        s.note("tried", "1");
        mine->add(1, adding.token());
        co_await adding.result();
        s.note("done", "1");
        co_await s.state(state);
    }
}

/// Swaps that depend on each other: each finds what the one before it has left.
awaitable<void> swap(stage& s) {
    object<counter> mine(s, s.ours(), path(s), options_of<counter_options>(s));
    std::int64_t value = 0;
    for (const char* state : {"first", "second"}) {
        call<counter_exchange> swapping(s, "compare_and_set");
        s.note("tried", "1");
        mine->compare_and_set(value, value + 1, swapping.token());
        counter_exchange swapped = co_await swapping.result();
        if (s.which() != fault::parent_deleted)
            s.check(swapped.exchanged, "nobody else changes it");
        s.note("done", "1");
        call<std::int64_t> reading(s, "get");
        mine->get(reading.token());
        value = co_await reading.result();
        co_await s.state(state);
    }
    call<std::int64_t> replacing(s, "exchange");
    s.note("tried", "1");
    mine->exchange(value + 1, replacing.token());
    std::int64_t before = co_await replacing.result();
    s.note("done", "1");
    if (s.which() != fault::parent_deleted)
        s.check(before == value, "the value before is what was read");
    co_await s.state("third");
}

/// Each value is seen, or a later one.
awaitable<void> follow(stage& s) {
    // A second object counts on by one at a time of its own.
    const std::int64_t others = s.which() == fault::second_object ? 1 : 0;
    object<counter> mine(s, s.ours(), path(s), options_of<counter_options>(s));
    counter theirs(s.theirs(), path(s), options_of<counter_options>(s));
    for (int delta : {1, 2}) {  // different values, also if the counter begins anew
        for (int i = 0; i < delta; ++i)
            s.note("tried", "1");
        const std::int64_t value = co_await theirs.add(delta);
        for (int i = 0; i < delta; ++i)
            s.note("done", "1");
        std::int64_t seen = -1;
        while (seen < value) {
            call<std::int64_t> next(s, "next");
            mine->next(next.token());
            seen = co_await next.result();
            s.check(seen <= value + others, "only what was written is seen");
        }
        const char* state = delta == 1 ? "first" : "second";
        co_await s.state(state);
    }
}

/// Beside another session that adds at the same time: one of them loses each race, and waits until its
/// turn comes.
awaitable<void> add_in_turns(stage& s) {
    object<counter> mine(s, s.ours(), path(s), options_of<counter_options>(s));
    counter rival(s.theirs(), path(s), options_of<counter_options>(s));
    for (const char* state : {"first", "second", "third", "fourth"}) {
        s.note("tried", "1");
        s.note("tried", "1");
        call<std::int64_t> adding(s, "add");
        call<std::int64_t> theirs(s, "the rival's add", party::theirs);
        rival.add(1, theirs.token());
        mine->add(1, adding.token());
        co_await theirs.result();
        s.note("done", "1");
        co_await adding.result();
        s.note("done", "1");
        co_await s.state(state);
    }
}

/// In Kazoo's format: what became of an addition whose response was lost is not known.
awaitable<void> add_as_kazoo(stage& s) {
    counter_options options = options_of<counter_options>(s);
    options.compatibility = compatibility::kazoo;
    object<counter> mine(s, s.ours(), path(s), options);
    for (int i = 0; i < 4; ++i) {
        call<std::int64_t> adding(s, "add");
        s.note("tried", "1");
        mine->add(1, adding.token());
        error_code ec = co_await adding.ended();
        if (is_outcome_unknown(ec))
            continue;
        co_await adding.result();
        s.note("done", "1");
    }
}

awaitable<void> probe_as_kazoo(client& c, stage& s) {
    counter_options options = options_of<counter_options>(s);
    options.compatibility = compatibility::kazoo;
    counter mine(c, path(s), options);
    s.note("tried", "1");
    co_await mine.add(1);
    s.note("done", "1");
}

/// No addition is lost, and none is done twice.
awaitable<void> exact(stage& s) {
    // With its parent the counter is gone.
    if (s.which() == fault::parent_deleted)
        co_return;
    std::size_t value = s.exists(path(s)) ? std::stoul(s.data(path(s))) : 0;
    s.check(value >= s.notes("done").size(), "no addition is lost");
    s.check(value <= s.notes("tried").size(), "no addition is done twice");
}

scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "counter";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe;
    s.invariant = exact;
    s.outlives_session = true;
    s.may_stay = [](stage&, const std::string& below) { return below == "c"; };
    // Nothing was sent in the time allowed.
    s.may_end_with[fault::long_hole] = {errc::not_connected};
    s.without[fault::own_node_deleted] = "the counter is nobody's node";
    return s;
}

const registered all[] = {
    registered(make("add", add)),
    registered(make("add in turns", add_in_turns)),
    registered(make("follow", follow)),
    registered([] {
        scenario s = make("kazoo, add", add_as_kazoo);
        s.probe = probe_as_kazoo;
        s.only(at_requests, other_requests);
        return s;
    }()),
    registered([] {
        scenario s = make("swap", swap);
        s.without[fault::second_object] = "it would change the value in between";
        return s;
    }()),
};

}  // namespace counter_scenarios

}  // namespace corozk::matrix
