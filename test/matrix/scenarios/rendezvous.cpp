// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/call.hpp"
#include "matrix/engine/stays_away.hpp"
#include <corozk/recipe/rendezvous.hpp>

namespace corozk::matrix {

namespace rendezvous_scenarios {

std::string place_of(const stage& s) {
    return s.folder() + "/master";
}

awaitable<void> probe(client& c, stage& s) {
    rendezvous master(c, place_of(s), options_of<rendezvous_options>(s));
    rendezvous worker(c, place_of(s), options_of<rendezvous_options>(s));
    co_await master.publish_for("last", s.patience());
    rendezvous_point p = co_await worker.await_for(s.patience());
    s.check(p.data == "last", "the next one is met");
    co_await master.withdraw();
}

/// Another worker.
awaitable<void> looks_too(client& c, stage& s) {
    rendezvous worker(c, place_of(s), options_of<rendezvous_options>(s));
    co_await worker.next();
}

awaitable<void> publish(stage& s) {
    object<rendezvous> master(s, s.ours(), place_of(s), options_of<rendezvous_options>(s));
    call<> publishing(s, "publish");
    master->publish_for("1", publishing.limit(), publishing.token());
    co_await publishing.result();
    co_await s.state("published");
    call<> updating(s, "update");
    master->set_data_for("2", updating.limit(), updating.token());
    co_await updating.result();
    // Whatever has happened to the session or the node: it is there again.
    co_await testing::eventually_async(
        [&] {
            if (s.disturbed())
                return true;
            auto record = s.stat(place_of(s));
            return record && record->ephemeral_owner == s.ours().session_id() &&
                   s.data(place_of(s)) == "2";
        },
        s.patience(),
        "the master is there with its last data");
    co_await s.state("updated");
    call<> withdrawing(s, "withdraw");
    master->withdraw_for(withdrawing.limit(), withdrawing.token());
    co_await withdrawing.result();
    co_await stays_away(s, place_of(s), "withdrawn");
}

awaitable<void> meet(stage& s) {
    rendezvous_options options = options_of<rendezvous_options>(s);
    rendezvous master(s.theirs(), place_of(s), options);
    object<rendezvous> worker(s, s.ours(), place_of(s), options);
    call<rendezvous_point> waiting(s, "await");
    worker->await_for(waiting.limit(), waiting.token());
    co_await s.state("waiting");
    s.check(!waiting.good(), "nobody is there yet");
    co_await master.publish("1");
    rendezvous_point p = co_await waiting.result();
    s.check(p.present && p.data == "1", "the master is met");
    co_await s.state("met");
    auto follow_until = [&](std::string data) -> awaitable<void> {
        do {
            call<rendezvous_point> next(s, "next");
            worker->next(next.token());
            p = co_await next.result();
        } while (p.present ? p.data != data : !data.empty());
    };
    co_await master.set_data("2");
    co_await follow_until("2");
    co_await master.withdraw();
    co_await follow_until("");
    co_await master.publish("3");
    co_await follow_until("3");
    co_await master.withdraw();
    co_await follow_until("");
}

scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "rendezvous";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe;
    s.companion = looks_too;
    s.outlives_session = true;
    return s;
}

const registered all[] = {
    registered(make("publish", publish)),
    registered([] {
        scenario s = make("meet", meet);
        s.without[fault::own_node_deleted] = "a worker has no node";
        return s;
    }()),
};

}  // namespace rendezvous_scenarios

}  // namespace corozk::matrix
