// SPDX-License-Identifier: Apache-2.0
// Differences lead from one true state to the next, and in the end to the last one.
#include "patience.hpp"
#include "turns.hpp"
#include <corozk/recipe/membership.hpp>

#include <map>

namespace corozk::schedule {

namespace membership_scenarios {

constexpr const char* group = "/f/g";

/// Comes, changes, goes; "end" comes behind it, and stays until all have seen it.
template <std::size_t Watchers>
awaitable<void> come_and_go(actor& a) {
    membership m(a.zk(), group);
    membership end(a.zk(), group);
    auto firm = a.firm_token();
    auto [joined] = co_await m.join("m", "1", firm);
    if (!a.may_see(joined, "join"))
        co_return;
    co_await a.gate("joined");
    auto [changed] = co_await m.set_data("2", firm);
    if (!a.may_see(changed, "set_data"))
        co_return;
    co_await a.gate("changed");
    auto [left] = co_await m.leave(firm);
    if (!a.may_see(left, "leave"))
        co_return;
    auto [ended] = co_await end.join("end", "", firm);
    if (!a.may_see(ended, "join"))
        co_return;
    co_await until_noted(a, "over", Watchers);
}

/// Applies the differences, each of which has to fit.
void apply(actor& a, std::map<std::string, member_info>& known, const membership_change& change) {
    auto same = [&known](const member_info& m) {
        auto at = known.find(m.name);
        return at != known.end() && at->second.incarnation == m.incarnation;
    };
    a.on().check(known.empty() || !change.empty(), "a change without a difference");
    for (const member_info& m : change.left) {
        a.on().check(same(m), m.name + " has left without having been there");
        known.erase(m.name);
    }
    for (const member_info& m : change.joined) {
        a.on().check(!known.contains(m.name), m.name + " has joined twice");
        known[m.name] = m;
    }
    for (const member_info& m : change.updated) {
        a.on().check(same(m), m.name + " is another one");
        a.on().check(known[m.name].data < m.data, m.name + " has older data later");
        known[m.name] = m;
    }
}

awaitable<void> watch_them(actor& a) {
    noted_at_the_end over(a, "over");
    membership m(a.zk(), group);
    std::map<std::string, member_info> known;
    std::int64_t latest = 0;
    while (!known.contains("end")) {
        auto token = a.token();
        auto [ec, change] = co_await m.next(token);
        if (!a.may_see(ec, "next") || ec)
            co_return;
        for (const member_info& one : change.joined) {
            if (one.name == "m")
                a.on().check(one.incarnation > std::exchange(latest, one.incarnation),
                             "an earlier member comes later");
        }
        apply(a, known, change);
    }
    // A client that has heard of no server gives its session up before the server ends it.
    a.on().check(!known.contains("m") || a.on().happened(move_kind::silence),
                 "a member that has left is told as being there");
}

/// A member of a name that another one wants, too: as far as each can know, it is the only one.
awaitable<void> be_the_one(actor& a) {
    membership m(a.zk(), group);
    auto token = a.token();
    auto [joined] = co_await m.join("m", a.name(), token);
    if (!a.may_see(joined, "join") || joined)
        co_return;
    {
        // Of a session that was ended, the node may be another one's before we hear of it.
        auto still = [&] { return m.joined() && !a.on().session_ended(a.client_index()); };
        stage::tenure owner(a, std::string(group) + "/m", still);
        co_await a.gate("joined");
    }
    auto firm = a.firm_token();
    auto [left] = co_await m.leave(firm);
    a.may_see(left, "leave");
}

void one_name(stage& s) {
    play_all(s, {{"a", be_the_one}, {"b", be_the_one}});
    s.leaves_nothing_in(group);
}

void two(stage& s) {
    play_all(s, {{"member", come_and_go<1>}, {"watcher", watch_them}});
    s.leaves_nothing_in(group);
}

void three(stage& s) {
    play_all(s, {{"member", come_and_go<2>}, {"watcher", watch_them}, {"other", watch_them}});
    s.leaves_nothing_in(group);
}

const registered all[] = {
    registered(scenario("membership.2", 2, two).with_child_stats()),
    registered(scenario("membership.3", 3, three).with_child_stats()),
    registered(scenario("membership.3", 3, three).with_child_stats().in_a_folder({"/f", group})),
    registered::in_halves(
        scenario("membership.3", 3, three).with_child_stats().in_a_folder({"/f", group})),
    registered(scenario("membership.one-name", 2, one_name).with_child_stats()),
};

}  // namespace membership_scenarios

}  // namespace corozk::schedule
