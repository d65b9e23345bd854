// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/call.hpp"
#include <corozk/recipe/queue.hpp>

#include <algorithm>
#include <map>

namespace corozk::matrix {

namespace {

std::string path(const stage& s) {
    return s.folder() + "/q";
}

std::string effect(const stage& s) {
    return s.folder() + "/effect-";
}

bool is_foreign(const std::string& data) {
    return data == "not yours";
}

/// What is in the queue, by the server's own records.
std::map<std::string, int> remaining(stage& s) {
    std::map<std::string, int> items;
    for (const std::string& name : s.children(path(s))) {
        std::string data = s.data(path(s) + "/" + name);
        if (!is_foreign(data))
            ++items[data];
    }
    return items;
}

/// What was taken, had its effect, or is in the queue.
std::map<std::string, int> accounted_for(stage& s) {
    std::map<std::string, int> found = remaining(s);
    for (const std::string& item : s.notes("taken"))
        ++found[item];
    for (const std::string& name : s.children(s.folder())) {
        if (name.starts_with("effect-"))
            ++found[name.substr(7)];
    }
    return found;
}

/// What was put successfully was taken or is there; nothing is there twice, or from nowhere.
awaitable<void> nothing_lost(stage& s) {
    // With its parent the whole queue is gone.
    if (s.which() == fault::parent_deleted)
        co_return;
    // Handed over with the error that says so.
    bool unknown = s.which() == fault::close_client || s.which() == fault::destroy_client;
    std::size_t may_be_lost = unknown ? s.notes("unknown").size() : 0;
    // An item that nobody waits for any more is put back in the background.
    auto missing = [&] {
        std::map<std::string, int> found = accounted_for(s);
        std::size_t lost = 0;
        for (const std::string& item : s.notes("put"))
            lost += found.contains(item) ? 0 : 1;
        return lost;
    };
    co_await testing::eventually_async(
        [&] { return missing() <= may_be_lost; }, s.patience(), "no item is lost");
    std::map<std::string, int> found = accounted_for(s);
    for (const std::string& item : s.notes("refused"))
        s.check(!found.contains(item), "what was not sent is not there: " + item);
    const auto& tried = s.notes("tried");
    for (const auto& [item, times] : found) {
        s.check(times == 1, "the item is there once: " + item);
        s.check(std::find(tried.begin(), tried.end(), item) != tried.end(),
                "the item was put: " + item);
    }
}

awaitable<void> put_as(client& c, stage& s, std::string item) {
    queue q(c, path(s), options_of<queue_options>(s));
    s.note("tried", item);
    co_await q.put(item);
    s.note("put", item);
}

/// Puts one more and takes whatever is there, until that has come out.
awaitable<void> probe(client& c, stage& s) {
    queue q(c, path(s), options_of<queue_options>(s));
    co_await q.put("last");
    for (;;) {
        auto deadline = std::chrono::steady_clock::now() + s.patience();
        queue_item item = co_await q.take_until(deadline);
        if (item.data == "last")
            break;
    }
}

awaitable<void> puts_too(client& c, stage& s) {
    co_await put_as(c, s, "beside");
}

awaitable<void> put(stage& s) {
    object<queue> q(s, s.ours(), path(s), options_of<queue_options>(s));
    for (const char* item : {"a", "b", "c"}) {
        call<> putting(s, std::string("put ") + item);
        s.note("tried", item);
        q->put(item, putting.token());
        error_code ec = co_await putting.ended();
        if (ec == errc::not_connected)
            s.note("refused", item);
        co_await putting.result();
        s.note("put", item);
        std::string name = std::string("put ") + item;
        co_await s.state(name);
    }
}

/// Waits at an empty queue, and takes what comes.
awaitable<void> take(stage& s) {
    object<queue> q(s, s.ours(), path(s), options_of<queue_options>(s));
    call<queue_item> taking(s, "take");
    q->take(taking.token());
    co_await s.state("waiting");
    co_await put_as(s.theirs(), s, "a");
    co_await put_as(s.theirs(), s, "b");
    error_code ec = co_await taking.ended();
    if (is_outcome_unknown(ec))
        s.note("unknown", "a");
    queue_item item = co_await taking.result();
    s.note("taken", item.data);
    co_await s.state("taken");
    // With its parent the other item is gone.
    if (s.which() == fault::parent_deleted)
        throw scenario_over();
    call<queue_item> another(s, "take another");
    q->take(another.token());
    ec = co_await another.ended();
    if (is_outcome_unknown(ec))
        s.note("unknown", "b");
    item = co_await another.result();
    s.note("taken", item.data);
}

/// Puts one and takes one.
awaitable<void> takes_too(client& c, stage& s) {
    co_await put_as(c, s, "beside");
    queue q(c, path(s), options_of<queue_options>(s));
    queue_item item = co_await q.take();
    s.note("taken", item.data);
}

awaitable<void> consume(stage& s) {
    object<queue> q(s, s.ours(), path(s), options_of<queue_options>(s));
    call<queue_claim> consuming(s, "consume");
    q->consume(consuming.token());
    co_await s.state("waiting");
    co_await put_as(s.theirs(), s, "a");
    queue_claim claim = co_await consuming.result();
    co_await s.state("claimed");
    transaction steps;
    steps.create(effect(s) + claim.data());
    call<> acknowledging(s, "acknowledge");
    claim.acknowledge(steps, acknowledging.token());
    co_await acknowledging.result();
    s.check(s.exists(effect(s) + claim.data()), "the effect is there");
    co_await s.state("acknowledged");
}

scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "queue";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe;
    s.invariant = nothing_lost;
    s.leaves_data = true;
    s.foreign_in = "/q";
    return s;
}

const registered all[] = {
    registered([] {
        scenario s = make("put", put);
        s.companion = puts_too;
        s.outlives_session = true;
        // Nothing was sent in the time allowed.
        s.may_end_with[fault::long_hole] = {errc::not_connected};
        return s;
    }()),
    registered([] {
        scenario s = make("take", take);
        s.companion = takes_too;
        s.outlives_session = true;
        return s;
    }()),
    registered([] {
        scenario s = make("consume", consume);
        s.companion = puts_too;
        // The answer to an acknowledgement, and the session with it.
        for (fault f : {fault::expired, fault::long_hole, fault::client_stopped})
            s.may_end_with[f] = {zk_errc::connection_loss};
        return s;
    }()),
};

}  // namespace

}  // namespace corozk::matrix
