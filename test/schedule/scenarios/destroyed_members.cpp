// SPDX-License-Identifier: Apache-2.0
// Whoever meets others ends with the object: what stands for it there goes, too.
#include "destroyed.hpp"
#include <corozk/recipe/barrier.hpp>
#include <corozk/recipe/double_barrier.hpp>
#include <corozk/recipe/membership.hpp>
#include <corozk/recipe/name_service.hpp>
#include <corozk/recipe/rendezvous.hpp>
#include <corozk/recipe/two_phase_commit.hpp>

#include <optional>
#include <string>
#include <vector>

namespace corozk::schedule {

namespace destroyed_members_scenarios {

awaitable<void> use_barrier(actor& a, std::optional<barrier>& b) {
    if (!b)
        co_return;
    auto token = a.token();
    auto [ec] = co_await b->wait(token);
    goes_on(a, b, ec, "wait");
}

awaitable<void> set_and_remove(actor& a) {
    barrier b(a.zk(), "/f/b");
    auto firm = a.firm_token();
    auto [set_ec, set] = co_await b.set(firm);
    a.may_see(set_ec, "set");
    co_await a.gate("set");
    auto [removed_ec, removed] = co_await b.remove(firm);
    a.may_see(removed_ec, "remove");
}

void a_barrier(stage& s) {
    play_until_destroyed(s, barrier(s.zk(0), "/f/b"), use_barrier);
    s.play("keeper", 1, set_and_remove);
    s.leaves_nothing_in(folder);
}

awaitable<void> use_double_barrier(actor& a, std::optional<double_barrier>& b) {
    if (!b)
        co_return;
    auto firm = a.firm_token();
    auto [entered] = co_await b->enter_for(a_while, firm);
    if (entered == errc::deadline_exceeded || !goes_on(a, b, entered, "enter"))
        co_return;
    co_await a.gate("inside");
    if (!b)
        co_return;
    auto [left] = co_await b->leave_for(a_while, firm);
    if (left != errc::deadline_exceeded)
        goes_on(a, b, left, "leave");
}

awaitable<void> enter_and_leave(actor& a) {
    double_barrier b(a.zk(), folder, 2);
    auto firm = a.firm_token();
    auto [entered] = co_await b.enter_for(a_while, firm);
    if (!has_waited(a, entered, "enter") || entered)
        co_return;
    auto [left] = co_await b.leave_for(a_while, firm);
    has_waited(a, left, "leave");
}

void a_double_barrier(stage& s) {
    play_until_destroyed(s, double_barrier(s.zk(0), folder, 2), use_double_barrier);
    s.play("b", 1, enter_and_leave);
    s.leaves_nothing_in(folder);
}

awaitable<void> use_membership(actor& a, std::optional<membership>& m) {
    if (!m)
        co_return;
    auto firm = a.firm_token();
    auto [joined] = co_await m->join("a", "1", firm);
    if (!goes_on(a, m, joined, "join"))
        co_return;
    auto [told, all] = co_await m->next(firm);
    if (!goes_on(a, m, told, "next"))
        co_return;
    auto [changed] = co_await m->set_data("2", firm);
    if (!goes_on(a, m, changed, "set_data"))
        co_return;
    auto token = a.token();
    auto [told_again, difference] = co_await m->next(token);
    goes_on(a, m, told_again, "next");
}

awaitable<void> join_and_leave(actor& a) {
    membership m(a.zk(), folder);
    auto firm = a.firm_token();
    auto [joined] = co_await m.join("b", "", firm);
    a.may_see(joined, "join");
}

void a_membership(stage& s) {
    play_until_destroyed(s, membership(s.zk(0), folder), use_membership);
    s.play("b", 1, join_and_leave);
    s.leaves_nothing_in(folder);
}

awaitable<void> use_rendezvous(actor& a, std::optional<rendezvous>& r) {
    if (!r)
        co_return;
    auto token = a.token();
    auto [published] = co_await r->publish("1", token);
    if (!goes_on(a, r, published, "publish"))
        co_return;
    auto update_token = a.token();
    auto [updated] = co_await r->set_data("2", update_token);
    goes_on(a, r, updated, "update");
}

awaitable<void> meet(actor& a) {
    rendezvous r(a.zk(), "/f/r");
    auto token = a.token();
    auto [ec, point] = co_await r.await_for(a_while, token);
    has_waited(a, ec, "await_for");
    auto publish_token = a.token();
    auto [published] = co_await r.publish_for("3", a_while, publish_token);
    has_waited(a, published, "publish_for");
}

void a_rendezvous(stage& s) {
    play_until_destroyed(s, rendezvous(s.zk(0), "/f/r"), use_rendezvous);
    s.play("b", 1, meet);
    s.leaves_nothing_in(folder);
}

awaitable<void> use_names(actor& a, std::optional<name_service>& names) {
    if (!names)
        co_return;
    auto firm = a.firm_token();
    auto [given] = co_await names->register_name("n", "1", create_mode::ephemeral, firm);
    bool taken = given == errc::already_exists;
    if (!taken && !goes_on(a, names, given, "register_name"))
        co_return;
    if (!names)
        co_return;
    auto token = a.token();
    auto [ec, entry] = co_await names->await_for("other", a_while, token);
    if (ec != errc::deadline_exceeded)
        goes_on(a, names, ec, "await_for");
}

awaitable<void> give_names(actor& a) {
    name_service names(a.zk(), folder);
    for (const char* name : {"n", "other"}) {
        auto firm = a.firm_token();
        auto [given] = co_await names.register_name(name, "2", create_mode::ephemeral, firm);
        if (given != errc::already_exists)
            a.may_see(given, "register_name");
    }
}

void a_name_service(stage& s) {
    play_until_destroyed(s, name_service(s.zk(0), folder), use_names);
    s.play("b", 1, give_names);
    s.leaves_nothing_in(folder);
}

// A site that is destroyed has died ---------------------------------------------------------------

void told(actor& a, const commit_outcome& o) {
    a.on().note_down("outcome", o.committed ? "commit" : "abort");
}

awaitable<void> use_site(actor& a, std::optional<commit_site>& site) {
    if (!site)
        co_return;
    auto firm = a.firm_token();
    auto [joined, transaction] = co_await site->join_for(a_while, firm);
    if (joined == errc::deadline_exceeded || !goes_on(a, site, joined, "join"))
        co_return;
    if (transaction.outcome) {
        told(a, *transaction.outcome);
        co_return;
    }
    auto [voted, outcome] = co_await site->vote(commit_vote::commit, firm);
    if (!voted)
        told(a, outcome);
    if (goes_on(a, site, voted, "vote")) {
        auto [finished] = co_await site->finish(firm);
        goes_on(a, site, finished, "finish");
    }
}

awaitable<void> coordinate(actor& a) {
    commit_coordinator c(a.zk(), "/f/tx");
    std::vector<std::string> sites{"left"};
    auto firm = a.firm_token();
    auto [begun] = co_await c.begin(sites, "payload", firm);
    if (!a.may_see(begun, "begin") || begun)
        co_return;
    auto [ec, outcome] = co_await c.decide_for(a_while, firm);
    bool cut_off = ec == errc::in_doubt && a.on().any_fault();
    if (!cut_off && a.may_see(ec, "decide_for") && !ec)
        told(a, outcome);
}

void a_site(stage& s) {
    play_until_destroyed(s, commit_site(s.zk(0), "/f/tx", "left"), use_site);
    s.play("coordinator", 1, coordinate);
    s.finally([](stage& end) {
        const auto& outcomes = end.notes("outcome");
        for (const std::string& one : outcomes)
            end.check(one == outcomes.front(), "two outcomes");
    });
}

const registered all[] = {
    registered(scenario("destroyed.barrier", 2, a_barrier).with_child_stats()),
    registered(
        scenario("destroyed.double_barrier", 2, a_double_barrier).with_child_stats().uncancelled()),
    registered(scenario("destroyed.membership", 2, a_membership).with_child_stats()),
    registered(scenario("destroyed.name_service", 2, a_name_service).with_child_stats()),
    registered(scenario("destroyed.rendezvous", 2, a_rendezvous).with_child_stats()),
    registered(scenario("destroyed.site", 2, a_site).with_child_stats().uncancelled()),
};

}  // namespace destroyed_members_scenarios

}  // namespace corozk::schedule
