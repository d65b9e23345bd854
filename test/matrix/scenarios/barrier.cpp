// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/call.hpp"
#include <corozk/recipe/barrier.hpp>

namespace corozk::matrix {

namespace barrier_scenarios {

std::string gate(const stage& s) {
    return s.folder() + "/gate";
}

awaitable<void> probe(client& c, stage& s) {
    barrier b(c, gate(s), options_of<barrier_options>(s));
    co_await b.set();
    co_await b.remove();
    co_await b.wait_for(s.patience());
}

/// One more who waits.
awaitable<void> waits_too(client& c, stage& s) {
    barrier b(c, gate(s), options_of<barrier_options>(s));
    co_await b.wait_for(s.patience());
}

awaitable<void> wait(stage& s) {
    barrier theirs(s.theirs(), gate(s), options_of<barrier_options>(s));
    co_await theirs.set();
    object<barrier> mine(s, s.ours(), gate(s), options_of<barrier_options>(s));
    call<> waits(s, "wait");
    mine->wait_for(waits.limit(), waits.token());
    co_await s.state("waiting");
    // Removed before we have looked, the barrier would refuse nobody.
    if (s.which() == fault::forbidding_acl)
        co_await s.settle();
    if (s.which() != fault::parent_deleted)
        s.check(!waits.good(), "nobody passes a barrier");
    co_await theirs.remove();
    co_await waits.result();
}

awaitable<void> set(stage& s) {
    object<barrier> mine(s, s.ours(), gate(s), options_of<barrier_options>(s));
    co_await s.state("idle");
    call<bool> setting(s, "set");
    mine->set_for(setting.limit(), setting.token());
    bool by_us = co_await setting.result();
    s.check(by_us, "we have set it");
    s.check(s.exists(gate(s)), "the barrier is there");
    co_await s.state("set");
    call<bool> removing(s, "remove");
    mine->remove_for(removing.limit(), removing.token());
    bool removed = co_await removing.result();
    s.check(removed || s.which() == fault::parent_deleted, "we have removed it");
    s.check(!s.exists(gate(s)), "the barrier is gone");
}

scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "barrier";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe;
    s.outlives_session = true;
    s.may_stay = [](stage&, const std::string& below) { return below == "gate"; };
    s.without[fault::own_node_deleted] = "the barrier is nobody's node";
    return s;
}

const registered all[] = {
    registered([] {
        scenario s = make("wait", wait);
        s.companion = waits_too;
        return s;
    }()),
    registered([] {
        scenario s = make("set", set);
        s.companion = waits_too;
        return s;
    }()),
};

}  // namespace barrier_scenarios

}  // namespace corozk::matrix
