// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/turns.hpp"
#include <corozk/recipe/shared_lock.hpp>

namespace corozk::matrix {

namespace shared_lock_scenarios {

constexpr share together{.alone = false};

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
    s.enter_owner(first, party::theirs);
    object<shared_lock> mine(s, s.ours(), s.folder(), options);
    grant asked(s, "acquire_read", together);
    mine->acquire_read_for(asked.limit(), asked.token());
    co_await s.state("waiting", [&] { return s.nodes() >= 2; });
    co_await first.release();
    co_await take_turn(s, asked, "reading");
}

/// A writer behind somebody else's reader.
awaitable<void> writer(stage& s) {
    shared_lock_options options = options_of<shared_lock_options>(s);
    shared_lock theirs(s.theirs(), s.folder(), options);
    ownership first = co_await theirs.acquire_read();
    s.enter_owner(first, party::theirs, together);
    object<shared_lock> mine(s, s.ours(), s.folder(), options);
    grant asked(s, "acquire_write");
    mine->acquire_write_for(asked.limit(), asked.token());
    co_await s.state("waiting", [&] { return s.nodes() >= 2; });
    co_await first.release();
    co_await take_turn(s, asked, "writing");
}

/// From writer to reader and back.
awaitable<void> change(stage& s) {
    object<shared_lock> l(s, s.ours(), s.folder(), options_of<shared_lock_options>(s));
    grant asked(s, "acquire_write");
    l->acquire_write(asked.token());
    ownership given = co_await asked.result();
    droppable<ownership> held(s, std::move(given));
    co_await s.state("writing");
    ownership& for_down = *held;
    call<> down(s, "downgrade");
    l->downgrade(for_down, down.token());
    co_await changed(s, held, down);
    co_await s.state("reading");
    ownership& for_up = *held;
    call<> up(s, "upgrade");
    l->upgrade_for(for_up, up.limit(), up.token());
    co_await changed(s, held, up);
    co_await s.state("writing again");
    call<> released(s, "release");
    held->release(released.token());
    co_await released.result();
}

/// A reader among others', who wants to write: when the other one has gone.
awaitable<void> upgrade(stage& s) {
    shared_lock_options options = options_of<shared_lock_options>(s);
    shared_lock theirs(s.theirs(), s.folder(), options);
    ownership other = co_await theirs.acquire_read();
    s.enter_owner(other, party::theirs, together);
    object<shared_lock> l(s, s.ours(), s.folder(), options);
    grant asked(s, "acquire_read", together);
    l->acquire_read(asked.token());
    ownership given = co_await asked.result();
    droppable<ownership> held(s, std::move(given));
    ownership& for_up = *held;
    call<> up(s, "upgrade");
    l->upgrade_for(for_up, up.limit(), up.token());
    co_await s.state("upgrading", [&] { return s.ours().counters().watches > 0; });
    s.check(!up.good() || !other.valid(), "nobody writes beside a reader");
    co_await other.release();
    co_await up.result();
    co_await s.state("writing");
    call<> released(s, "release");
    held->release(released.token());
    co_await released.result();
}

/// A writer that becomes a reader, before somebody else's writer.
awaitable<void> downgrade(stage& s) {
    shared_lock_options options = options_of<shared_lock_options>(s);
    object<shared_lock> l(s, s.ours(), s.folder(), options);
    grant asked(s, "acquire_write");
    l->acquire_write(asked.token());
    ownership given = co_await asked.result();
    droppable<ownership> held(s, std::move(given));
    shared_lock theirs(s.theirs(), s.folder(), options);
    call<ownership> next(s, "their acquire_write", party::theirs);
    next.at_result([&s](const ownership& o) { s.enter_owner(o, party::theirs); });
    theirs.acquire_write(next.token());
    co_await s.state("writing", [&] { return s.nodes() >= 2 || next.done(); });
    ownership& for_down = *held;
    call<> down(s, "downgrade");
    l->downgrade(for_down, down.token());
    co_await down.result();
    s.check(!next.good() || !held->valid(), "the next writer waits for who reads now");
    co_await s.state("reading");
    call<> released(s, "release");
    held->release(released.token());
    co_await released.result();
    ownership last = co_await next.result();
    co_await last.release();
}

/// Ours writes, lets another one of ours read beside it, and writes again when that has gone.
awaitable<void> local(stage& s) {
    object<shared_lock> l(s, s.ours(), s.folder(), options_of<shared_lock_options>(s));
    call<ownership> asked(s, "acquire_write");
    l->acquire_write(asked.token());
    ownership given = co_await asked.result();
    droppable<ownership> held(s, std::move(given));
    call<ownership> reader(s, "acquire_read");
    l->acquire_read(reader.token());
    co_await s.state("writing", [&] { return s.nodes() >= 2 || reader.done(); });
    s.check(!reader.good() || !held.holds(), "nobody reads beside a writer");
    ownership& for_down = *held;
    call<> down(s, "downgrade");
    l->downgrade(for_down, down.token());
    co_await down.result();
    given = co_await reader.result();
    droppable<ownership> beside(s, std::move(given));
    co_await s.state("reading");
    ownership& for_up = *held;
    call<> up(s, "upgrade");
    l->upgrade(for_up, up.token());
    co_await s.settle();
    s.check(!up.good() || !beside.holds(), "nobody writes beside a reader");
    call<> released(s, "release the other");
    beside->release(released.token());
    co_await released.result();
    co_await up.result();
    co_await s.state("writing again");
    call<> last(s, "release");
    held->release(last.token());
    co_await last.result();
}

/// A reader and a writer of ours behind somebody else's writer.
awaitable<void> behind(stage& s) {
    shared_lock_options options = options_of<shared_lock_options>(s);
    shared_lock theirs(s.theirs(), s.folder(), options);
    ownership first = co_await theirs.acquire_write();
    s.enter_owner(first, party::theirs);
    object<shared_lock> mine(s, s.ours(), s.folder(), options);
    grant reader(s, "acquire_read", together);
    grant writer(s, "acquire_write");
    mine->acquire_read(reader.token());
    co_await s.state("one waits", [&] { return s.nodes() >= 2; });
    co_await s.settle();  // a create whose response was lost is known by now
    mine->acquire_write(writer.token());
    co_await s.state("both wait", [&] { return s.nodes() >= 3; });
    s.check(!reader.good() && !writer.good(), "nobody passes a writer");
    co_await first.release();
    co_await take_turn(s, reader, "reading");
    co_await take_turn(s, writer, "writing");
}

/// A reader of ours is asked to release, and does.
awaitable<void> asked_to_release(stage& s) {
    shared_lock_options options = options_of<shared_lock_options>(s);
    shared_lock theirs(s.theirs(), s.folder(), options);
    options.identity = "me";
    object<shared_lock> mine(s, s.ours(), s.folder(), options);
    grant asked(s, "acquire_read", together);
    mine->acquire_read(asked.token());
    ownership given = co_await asked.result();
    droppable<ownership> held(s, std::move(given));
    call<> requested(s, "wait_release_requested");
    held->wait_release_requested(requested.token());
    co_await s.state("reading", [&] { return s.ours().counters().watches > 0; });
    std::string path = held->path();
    call<> asking(s, "their request_release", party::theirs);
    theirs.request_release(path, asking.token());
    error_code ec = co_await asking.ended();
    s.check(!ec || (ec == zk_errc::no_node && (s.disturbed() || ends_session(s.which()))),
            "their request: " + ec.message());
    if (ec && s.disturbed())
        throw scenario_over();
    auto data = s.data_if_there(path);
    if (!ec && data)
        s.check(data == "me\nunlock", "the request is in the node");
    co_await requested.result();
    co_await s.state("asked");
    call<> released(s, "release");
    held->release(released.token());
    co_await released.result();
}

/// Ours asks a reader to release, and takes it from it when it does not.
awaitable<void> insist(stage& s) {
    shared_lock_options options = options_of<shared_lock_options>(s);
    object<shared_lock> mine(s, s.ours(), s.folder(), options);
    options.identity = "they";
    shared_lock theirs(s.theirs(), s.folder(), options);
    ownership first = co_await theirs.acquire_read();
    s.enter_owner(first, party::theirs, together);
    call<> asking(s, "request_release");
    mine->request_release(first.path(), asking.token());
    co_await asking.result();
    s.check(s.data(first.path()) == "they\nunlock", "the request is in the node");
    co_await s.state("asked");
    call<bool> insisting(s, "insist_on_release");
    mine->insist_on_release(first.path(), std::chrono::milliseconds(20), insisting.token());
    bool removed = co_await insisting.result();
    s.check(removed, "it had to be removed");
    co_await testing::eventually_async(
        [&] { return !first.valid(); }, s.patience(), "the loss is seen");
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

scenario alone_among_writers(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s = make(std::move(name), play);
    const char* why = "an upgrade with another writer waiting is refused: it could never end";
    s.without[fault::second_object] = why;
    s.without[fault::noticed_hole] = why;  // where the session outlives it
    return s;
}

scenario at_its_requests(scenario s) {
    s.only(at_requests, other_requests);
    return s;
}

const registered all[] = {
    registered(at_its_requests(alone_among_writers("local", local))),
    registered(at_its_requests(make("behind", behind))),
    registered(at_its_requests(make("asked to release", asked_to_release))),
    registered([] {
        scenario s = at_its_requests(make("insist", insist));
        s.probe_takes_turns = false;
        return s;
    }()),
    registered(make("reader", reader)),
    registered(make("writer", writer)),
    registered(make("downgrade", downgrade)),
    registered(alone_among_writers("change", change)),
    registered(alone_among_writers("upgrade", upgrade)),
};

}  // namespace shared_lock_scenarios

}  // namespace corozk::matrix
