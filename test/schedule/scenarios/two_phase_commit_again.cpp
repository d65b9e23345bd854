// SPDX-License-Identifier: Apache-2.0
// One path, two transactions, one after the other: whoever has to do with the first does nothing to
// the second, and is told nothing of it.
#include "patience.hpp"
#include "turns.hpp"
#include <corozk/recipe/two_phase_commit.hpp>

#include <string>

namespace corozk::schedule {

namespace two_phase_commit_again_scenarios {

constexpr const char* path = "/f/tx";

commit_options decided_by_the_coordinator() {
    commit_options options;
    options.form = commit_form::coordinator;
    return options;
}

/// @return whether it has begun
awaitable<bool> begin(actor& a, commit_coordinator& c, std::string payload) {
    std::vector<std::string> sites{"left"};
    auto firm = a.firm_token();
    auto [ec] = co_await c.begin(sites, std::move(payload), firm);
    a.on().check(!ec, "begin: " + ec.message());
    co_return !ec;
}

/// What was told of one of the transactions.
void told(actor& a, const std::string& transaction, const commit_outcome& o) {
    a.on().note_down("outcome of " + transaction, o.committed ? "commit" : "abort");
}

/// The transaction may have gone for good.
bool may_be_over(actor& a, const error_code& ec, const char* during) {
    return ec == zk_errc::no_node || a.may_see(ec, during);
}

void one_outcome_each(stage& s) {
    for (const char* transaction : {"first", "second"}) {
        const auto& outcomes = s.notes(std::string("outcome of ") + transaction);
        for (const std::string& one : outcomes)
            s.check(one == outcomes.front(),
                    std::string("two outcomes of the ") + transaction + " transaction");
    }
}

awaitable<void> abort(actor& a, commit_coordinator& c, const char* transaction) {
    auto firm = a.firm_token();
    auto [ec, outcome] = co_await c.abort("for a reason", firm);
    if (a.may_see(ec, "abort") && !ec)
        told(a, transaction, outcome);
}

/// The second is not cleaned up while anybody decides.
awaitable<void> decide(actor& a, commit_coordinator& c, const std::string& transaction) {
    auto firm = a.firm_token();
    auto [ec, outcome] = co_await c.decide(firm);
    bool over = transaction == "first" && ec == zk_errc::no_node;
    if (!over && a.may_see(ec, "decide") && !ec)
        told(a, transaction, outcome);
}

awaitable<void> clean_up(actor& a, commit_coordinator& c) {
    auto firm = a.firm_token();
    auto [ec] = co_await c.clean_up(true, firm);
    a.may_see(ec, "clean_up");
}

// Two clean up -----------------------------------------------------------------------------------

awaitable<void> abort_and_clean_up(actor& a) {
    noted_at_the_end cleaned(a, "cleaned");
    commit_coordinator c(a.zk(), path);
    bool begun = co_await begin(a, c, "first");
    if (!begun)
        co_return;
    co_await abort(a, c, "first");
    a.on().note_down("aborted", "");
    co_await clean_up(a, c);
}

awaitable<void> clean_up_and_begin_again(actor& a) {
    co_await until_noted(a, "aborted");
    commit_coordinator any(a.zk(), path);
    co_await clean_up(a, any);
    commit_coordinator c(a.zk(), path);
    bool begun = co_await begin(a, c, "second");
    if (!begun)
        co_return;
    co_await abort(a, c, "second");
    co_await until_noted(a, "cleaned");
    a.on().check(a.on().exists(path) && a.on().exists(std::string(path) + "/decision"),
                 "the second transaction was cleaned up with the first");
    co_await clean_up(a, c);
}

void cleaned_twice(stage& s) {
    play_all(s, {{"first", abort_and_clean_up}, {"second", clean_up_and_begin_again}});
    s.finally(one_outcome_each);
    s.finally([](stage& end) { end.check(!end.exists(path), "cleaned up, and it is there"); });
}

// One decides, and the other begins again ---------------------------------------------------------

awaitable<void> begin_and_decide(actor& a) {
    commit_coordinator c(a.zk(), path, decided_by_the_coordinator());
    bool begun = co_await begin(a, c, "first");
    if (!begun)
        co_return;
    a.on().note_down("begun", "");
    co_await decide(a, c, "first");
}

awaitable<void> abort_and_begin_again(actor& a) {
    co_await until_noted(a, "begun");
    // Neither begun nor resumed by this object: the one that is there is meant.
    commit_coordinator old(a.zk(), path);
    co_await abort(a, old, "first");
    co_await clean_up(a, old);
    commit_coordinator c(a.zk(), path, decided_by_the_coordinator());
    bool begun = co_await begin(a, c, "second");
    if (!begun)
        co_return;
    co_await decide(a, c, "second");
}

/// @return the transaction whose outcome it was told
awaitable<std::string> take_part(actor& a) {
    commit_site site(a.zk(), path, "left");
    auto firm = a.firm_token();
    auto [joined, transaction] = co_await site.join(firm);
    // The object of the last round may be about to go.
    bool not_yet = joined == errc::already_exists;
    if (joined) {
        if (!not_yet)
            may_be_over(a, joined, "join");
        co_return std::string();
    }
    std::string name = transaction.payload;
    auto [ec, outcome] = co_await site.vote(commit_vote::commit, firm);
    if (!may_be_over(a, ec, "vote") || ec)
        co_return std::string();
    told(a, name, outcome);
    auto [finished] = co_await site.finish(firm);
    may_be_over(a, finished, "finish");
    co_return name;
}

awaitable<void> take_part_in_both(actor& a) {
    for (;;) {
        std::string transaction = co_await take_part(a);
        if (transaction == "second")
            co_return;
        co_await pause();
    }
}

void begun_again(stage& s) {
    play_all(s,
             {{"first", begin_and_decide},
              {"second", abort_and_begin_again},
              {"left", take_part_in_both}});
    s.finally(one_outcome_each);
}

// A vote that comes too late ----------------------------------------------------------------------

awaitable<void> coordinate_both(actor& a) {
    commit_coordinator old(a.zk(), path);
    bool begun = co_await begin(a, old, "first");
    if (!begun)
        co_return;
    co_await until_noted(a, "joined");
    co_await abort(a, old, "first");
    co_await clean_up(a, old);
    commit_coordinator c(a.zk(), path);
    begun = co_await begin(a, c, "second");
    if (!begun)
        co_return;
    a.on().note_down("begun", "again");
    co_await decide(a, c, "second");
}

awaitable<void> vote_late(actor& a) {
    noted_at_the_end joined(a, "joined");
    commit_site site(a.zk(), path, "left");
    auto firm = a.firm_token();
    auto [ec, transaction] = co_await site.join(firm);
    if (!a.may_see(ec, "join") || ec)
        co_return;
    a.on().note_down("joined", transaction.payload);
    co_await a.gate("thinking");
    auto [voted, outcome] = co_await site.vote(commit_vote::commit, firm);
    if (may_be_over(a, voted, "vote") && !voted)
        told(a, transaction.payload, outcome);
}

/// The site of the second transaction, which is against it.
awaitable<void> vote_against(actor& a) {
    co_await until_noted(a, "begun");
    commit_site site(a.zk(), path, "left");
    auto firm = a.firm_token();
    auto [ec, transaction] = co_await site.join(firm);
    if (!a.may_see(ec, "join") || ec)
        co_return;
    a.on().check(transaction.payload == "second", "an older transaction is joined");
    auto [voted, outcome] = co_await site.vote(commit_vote::abort, firm);
    if (a.may_see(voted, "vote") && !voted)
        told(a, "second", outcome);
}

void late_vote(stage& s) {
    play_all(
        s, {{"coordinator", coordinate_both}, {"old site", vote_late}, {"new site", vote_against}});
    s.finally(one_outcome_each);
    s.finally([](stage& end) {
        for (const std::string& one : end.notes("outcome of second"))
            end.check(one == "abort", "a commit with the vote of an older transaction's site");
    });
}

const registered all[] = {
    registered(scenario("two_phase_commit.cleaned-twice", 2, cleaned_twice).uncancelled()),
    registered(scenario("two_phase_commit.begun-again", 3, begun_again).uncancelled()),
    registered(scenario("two_phase_commit.late-vote", 3, late_vote).uncancelled()),
    registered(scenario("two_phase_commit.begun-again", 3, begun_again).uncancelled().lagging()),
};

}  // namespace two_phase_commit_again_scenarios

}  // namespace corozk::schedule
