// SPDX-License-Identifier: Apache-2.0
// One decision, and nobody is told another one; no commit without everybody's vote.
#include "patience.hpp"
#include "turns.hpp"
#include <corozk/recipe/two_phase_commit.hpp>

#include <algorithm>
#include <set>
#include <string>

namespace corozk::schedule {

namespace two_phase_commit_scenarios {

constexpr const char* path = "/f/tx";

commit_options options_of(commit_form form) {
    commit_options options;
    options.form = form;
    return options;
}

void told(actor& a, const commit_outcome& o) {
    a.on().note_down("outcome", o.committed ? "commit" : "abort");
    if (o.committed)
        a.on().check(a.on().notes("commits").size() == 2, "a commit without all votes");
}

template <commit_form Form>
awaitable<void> coordinate(actor& a) {
    commit_coordinator c(a.zk(), path, options_of(Form));
    std::vector<std::string> sites{"left", "right"};
    auto firm = a.firm_token();
    auto [begun] = co_await c.begin(sites, "payload", firm);
    if (begun) {
        a.on().check(false, "begin: " + begun.message());
        co_return;
    }
    auto [ec, outcome] = co_await c.decide(firm);
    if (a.may_see(ec, "decide") && !ec)
        told(a, outcome);
}

/// Goes on with what another one has begun, who may be about to decide as well.
awaitable<void> resume(actor& a) {
    commit_coordinator c(a.zk(), path);
    auto firm = a.firm_token();
    for (;;) {
        auto [ec, transaction] = co_await c.resume(firm);
        if (!ec)
            break;
        bool not_yet = ec == zk_errc::no_node;
        if (!not_yet && !is_recoverable(ec) && !a.may_see(ec, "resume"))
            co_return;
        co_await pause();
    }
    auto [ec, outcome] = co_await c.decide(firm);
    if (a.may_see(ec, "decide") && !ec)
        told(a, outcome);
}

enum class site_manner : bool { at_once, thinks };

template <commit_form Form>
awaitable<void> take_part(actor& a,
                          const char* name,
                          commit_vote wish,
                          site_manner manner = site_manner::at_once) {
    commit_site site(a.zk(), path, name, options_of(Form));
    auto firm = a.firm_token();
    auto [joined, transaction] = co_await site.join(firm);
    if (!a.may_see(joined, "join") || joined)
        co_return;
    if (manner == site_manner::thinks)
        co_await a.gate("thinking");
    if (wish == commit_vote::commit)
        a.on().note_down("commits", name);
    auto [voted, outcome] = co_await site.vote(wish, firm);
    while (voted) {
        if (!a.may_see(voted, "vote"))
            co_return;
        auto [again, known] = co_await site.wait_outcome(firm);
        voted = again;
        outcome = known;
    }
    told(a, outcome);
    auto [finished] = co_await site.finish(firm);
    a.may_see(finished, "finish");
}

const std::string decision = std::string(path) + "/decision";
const std::set<std::string> site_nodes{std::string(path) + "/site-left",
                                       std::string(path) + "/site-right"};

/// A site whose session ends before the decision has died: there is no commit without it.
void nobody_had_died(stage& s) {
    std::set<std::string> there;
    for (const model::log_entry& entry : s.zookeeper().log()) {
        for (const model::change& c : entry.changes) {
            bool commits = c.what == model::change::type::create && c.path == decision &&
                           c.data.starts_with("commit");
            s.check(!commits || there == site_nodes, "a commit without a site that has died");
            if (!site_nodes.contains(c.path))
                continue;
            if (c.what == model::change::type::create)
                there.insert(c.path);
            if (c.what == model::change::type::erase)
                there.erase(c.path);
        }
    }
}

void agreed(stage& s) {
    const auto& outcomes = s.notes("outcome");
    s.check(!outcomes.empty() || s.any_fault(), "nobody was told anything");
    for (const std::string& one : outcomes)
        s.check(one == outcomes.front(), "two outcomes");
    bool all_wanted = s.notes("commits").size() == 2;
    bool undisturbed = !s.happened(move_kind::expire) && !s.happened(move_kind::silence);
    if (all_wanted && undisturbed && !outcomes.empty())
        s.check(outcomes.front() == "commit", "aborted although all wanted to commit");
}

template <commit_form Form, commit_vote Right, site_manner Manner = site_manner::at_once>
void transact(stage& s) {
    s.play("coordinator", 0, coordinate<Form>);
    s.play("left", 1, [](actor& a) {
        return take_part<Form>(a, "left", commit_vote::commit, Manner);
    });
    s.play("right", 2, [](actor& a) { return take_part<Form>(a, "right", Right, Manner); });
    s.zookeeper().order_matters(decision);
    for (const std::string& node : site_nodes)
        s.zookeeper().order_matters(node);
    s.finally(agreed);
    s.finally(nobody_had_died);
}

/// Changes its mind.
awaitable<void> begin_and_abort(actor& a) {
    commit_coordinator c(a.zk(), path, options_of(commit_form::all_sites));
    std::vector<std::string> sites{"left", "right"};
    auto firm = a.firm_token();
    auto [begun] = co_await c.begin(sites, "payload", firm);
    if (begun) {
        a.on().check(false, "begin: " + begun.message());
        co_return;
    }
    co_await a.gate("aborting");
    auto [ec, outcome] = co_await c.abort("for a reason", firm);
    if (!a.may_see(ec, "abort") || ec)
        co_return;
    told(a, outcome);
    // As soon as all have heard of it nothing is left.
    for (;;) {
        auto [left] = co_await c.clean_up(false, firm);
        if (!left)
            break;
        if (left == errc::busy)
            co_await until_noted(a, "over", 2);
        bool force = times_noted(a, "over") == 2;
        auto [gone] = co_await c.clean_up(force, firm);
        if (!gone)
            break;
        if (gone != errc::busy && !is_recoverable(gone) && !a.may_see(gone, "clean_up"))
            co_return;
        co_await pause();
    }
    a.on().note_down("clean", "");
}

/// A site that was away all the time: it asks what has become of it.
awaitable<void> ask_for_outcome(actor& a, const char* name) {
    noted_at_the_end over(a, "over");
    commit_site site(a.zk(), path, name);
    auto firm = a.firm_token();
    for (;;) {
        auto [ec, outcome] = co_await site.wait_outcome(firm);
        if (!ec) {
            told(a, outcome);
            break;
        }
        bool not_yet = ec == zk_errc::no_node && a.on().notes("clean").empty();
        if (!not_yet && (ec == zk_errc::no_node || !a.may_see(ec, "outcome")))
            co_return;
        co_await pause();
    }
    auto [finished] = co_await site.finish(firm);
    bool gone = finished == zk_errc::no_node && !a.on().exists(path);
    if (!gone)
        a.may_see(finished, "finish");
}

awaitable<void> take_part_to_the_end(actor& a, const char* name) {
    noted_at_the_end over(a, "over");
    co_await take_part<commit_form::all_sites>(a, name, commit_vote::commit);
}

void transact_aborted(stage& s, awaitable<void> (*right)(actor&, const char*)) {
    s.play("coordinator", 0, begin_and_abort);
    s.play("left", 1, [](actor& a) { return take_part_to_the_end(a, "left"); });
    s.play("right", 2, [right](actor& a) { return right(a, "right"); });
    s.finally([](stage& end) {
        const auto& outcomes = end.notes("outcome");
        for (const std::string& one : outcomes)
            end.check(one == outcomes.front(), "two outcomes");
        end.check(end.notes("clean").empty() || !end.exists(path), "cleaned up, and it is there");
    });
}

template <awaitable<void> (*Right)(actor&, const char*)>
void transact_aborted_with(stage& s) {
    transact_aborted(s, Right);
}

/// Two decide, one of them in a site's session.
void transact_resumed(stage& s) {
    transact<commit_form::coordinator, commit_vote::commit>(s);
    s.play("resumes", 1, resume);
}

/// All have joined before anybody votes.
template <commit_form Form>
void transact_thinking(stage& s) {
    transact<Form, commit_vote::commit, site_manner::thinks>(s);
}

const registered all[] = {
    registered::in_halves(scenario("two_phase_commit.all-sites-thinking",
                                   3,
                                   transact_thinking<commit_form::all_sites>)
                              .uncancelled()),
    registered::in_halves(scenario("two_phase_commit.coordinator-thinking",
                                   3,
                                   transact_thinking<commit_form::coordinator>)
                              .uncancelled()),
    registered(scenario("two_phase_commit.all-sites",
                        3,
                        transact<commit_form::all_sites, commit_vote::commit>)
                   .uncancelled()),
    registered(scenario("two_phase_commit.coordinator",
                        3,
                        transact<commit_form::coordinator, commit_vote::commit>)
                   .uncancelled()),
    registered(scenario("two_phase_commit.aborted", 3, transact_aborted_with<take_part_to_the_end>)
                   .uncancelled()),
    registered(
        scenario("two_phase_commit.away", 3, transact_aborted_with<ask_for_outcome>).uncancelled()),
    registered(scenario("two_phase_commit.resumed", 3, transact_resumed).uncancelled()),
    registered(
        scenario("two_phase_commit.abort", 3, transact<commit_form::all_sites, commit_vote::abort>)
            .uncancelled()),
};

}  // namespace two_phase_commit_scenarios

}  // namespace corozk::schedule
