// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/call.hpp"
#include "matrix/engine/stays_away.hpp"
#include <corozk/recipe/membership.hpp>

#include <set>

namespace corozk::matrix {

namespace membership_scenarios {

using names = std::set<std::string>;

void apply(names& known, const membership_change& change, stage& s) {
    for (const member_info& m : change.left)
        s.check(known.erase(m.name) == 1, "who left was there: " + m.name);
    for (const member_info& m : change.joined)
        s.check(known.insert(m.name).second, "who joined was not there: " + m.name);
}

/// Comes under the same name, and goes.
awaitable<void> probe(client& c, stage& s) {
    membership g(c, s.folder(), options_of<membership_options>(s));
    co_await g.join_for("a", "last", s.patience());
    std::vector<member_info> all = co_await g.list_members();
    s.check(all.size() == 1 && all[0].data == "last", "the next one is the only member");
    co_await g.leave();
}

/// Under a name of its own.
awaitable<void> joins_too(client& c, stage& s) {
    membership g(c, s.folder(), options_of<membership_options>(s));
    co_await g.join_for("b", "1", s.patience());
    co_await g.leave();
}

awaitable<void> member(stage& s) {
    object<membership> g(s, s.ours(), s.folder(), options_of<membership_options>(s));
    std::string node = s.folder() + "/a";
    call<> joining(s, "join");
    g->join_for("a", "1", joining.limit(), joining.token());
    co_await joining.result();
    co_await s.state("member");
    call<> changing(s, "set_data");
    g->set_data_for("2", changing.limit(), changing.token());
    co_await changing.result();
    // Whatever has happened to the session or the node: it is there again, with the last data.
    co_await testing::eventually_async(
        [&] {
            if (s.disturbed())
                return true;
            auto record = s.stat(node);
            return record && record->ephemeral_owner == s.ours().session_id() &&
                   s.data(node) == "2";
        },
        s.patience(),
        "the member is there with its last data");
    co_await s.state("changed");
    call<> leaving(s, "leave");
    g->leave_for(leaving.limit(), leaving.token());
    co_await leaving.result();
    co_await stays_away(s, node, "outside");
}

awaitable<void> observe(stage& s) {
    membership_options options = options_of<membership_options>(s);
    object<membership> g(s, s.ours(), s.folder(), options);
    membership theirs(s.theirs(), s.folder(), options);
    names known;
    names joined{"a"};
    names nobody;
    for (bool there : {true, false}) {
        call<membership_change> waiting(s, "next");
        g->next(waiting.token());
        const char* state = there ? "empty" : "one is there";
        co_await s.state(state);
        if (there) {
            co_await theirs.join("a", "1");
        } else {
            co_await theirs.leave();
        }
        membership_change change = co_await waiting.result();
        apply(known, change, s);
        while (known != (there ? joined : nobody)) {
            call<membership_change> more(s, "next");
            g->next(more.token());
            change = co_await more.result();
            apply(known, change, s);
        }
    }
}

/// Its node is deleted by somebody: it is there again.
awaitable<void> comes_back(stage& s) {
    object<membership> g(s, s.ours(), s.folder(), options_of<membership_options>(s));
    std::string node = s.folder() + "/a";
    call<> joining(s, "join");
    g->join("a", "1", joining.token());
    co_await joining.result();
    call<> changing(s, "set_data");
    g->set_data_for("2", changing.limit(), changing.token());
    co_await changing.result();
    s.erase(node);
    co_await s.state("back", [&] { return s.exists(node); });
    co_await testing::eventually_async(
        [&] { return s.disturbed() || (s.exists(node) && s.data(node) == "2"); },
        s.patience(),
        "the member is there with its last data");
    call<> leaving(s, "leave");
    g->leave_for(leaving.limit(), leaving.token());
    co_await leaving.result();
}

/// Two members, their data, and what becomes of them.
awaitable<void> observe_two(stage& s) {
    membership_options options = options_of<membership_options>(s);
    object<membership> g(s, s.ours(), s.folder(), options);
    membership a(s.theirs(), s.folder(), options);
    membership b(s.theirs(), s.folder(), options);
    using members = std::map<std::string, std::string>;
    members known;
    auto follow_until = [&](const members& wanted) -> awaitable<void> {
        while (known != wanted) {
            call<membership_change> waiting(s, "next");
            g->next(waiting.token());
            membership_change change = co_await waiting.result();
            for (const member_info& m : change.left)
                s.check(known.erase(m.name) == 1, "who left was there: " + m.name);
            for (const member_info& m : change.joined)
                s.check(known.emplace(m.name, m.data).second, "who joined was not: " + m.name);
            for (const member_info& m : change.updated) {
                s.check(known.contains(m.name), "who changed was there: " + m.name);
                known[m.name] = m.data;
            }
        }
    };
    const members a1{{"a", "1"}};
    const members both{{"a", "2"}, {"b", "1"}};
    const members b1{{"b", "1"}};
    const members nobody;
    co_await a.join("a", "1");
    co_await follow_until(a1);
    co_await s.state("one is there");
    co_await b.join("b", "1");
    co_await a.set_data("2");
    co_await follow_until(both);
    co_await s.state("two are there");
    co_await a.leave();
    co_await follow_until(b1);
    co_await b.leave();
    co_await follow_until(nobody);
}

scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "membership";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe;
    s.outlives_session = true;
    return s;
}

const registered all[] = {
    registered([] {
        scenario s = make("member", member);
        s.companion = joins_too;
        return s;
    }()),
    registered([] {
        scenario s = make("comes back", comes_back);
        s.only(at_requests, other_requests);
        return s;
    }()),
    registered([] {
        scenario s = make("observe two", observe_two);
        s.only(at_requests, other_requests);
        return s;
    }()),
    registered([] {
        scenario s = make("observe", observe);
        s.without[fault::own_node_deleted] = "an observer has no node";
        s.without[fault::second_object] = "another member would be one more to observe";
        return s;
    }()),
};

}  // namespace membership_scenarios

}  // namespace corozk::matrix
