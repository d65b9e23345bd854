// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/call.hpp"
#include <corozk/recipe/two_phase_commit.hpp>

namespace corozk::matrix {

namespace two_phase_commit_scenarios {

const std::vector<std::string> sites{"mine", "other"};

std::string path(const stage& s) {
    return s.folder() + "/tx";
}

commit_options options_for(const stage& s, commit_form form) {
    commit_options options = options_of<commit_options>(s);
    options.form = form;
    return options;
}

void told(stage& s, const commit_outcome& o) {
    s.note("outcome", o.committed ? "commit" : "abort");
}

/// One decision, and nobody was told another one.
awaitable<void> agreed(stage& s) {
    if (!s.exists(path(s)))
        co_return;
    commit_coordinator c(s.theirs(), path(s), options_for(s, commit_form::all_sites));
    auto [ec, t] = co_await c.resume(as_tuple());
    if (!ec && !t.outcome) {
        auto [problem, o] = co_await c.abort("over", as_tuple());
        ec = problem;
        t.outcome = o;
    }
    // A clean-up that nobody waits for may still be under way.
    s.check(!ec || ec == zk_errc::no_node, "the transaction can be ended: " + ec.message());
    if (!ec)
        told(s, *t.outcome);
    for (const std::string& outcome : s.notes("outcome"))
        s.check(outcome == s.notes("outcome").front(), "all are told the same outcome");
    co_await c.clean_up(true);
    s.check(!s.exists(path(s)), "the transaction is cleaned up");
}

/// A whole transaction of its own.
awaitable<void> probe(client& c, stage& s) {
    std::string own = s.folder() + "/tx-" + std::to_string(c.session_id());
    commit_options options = options_for(s, commit_form::all_sites);
    commit_coordinator coordinator(c, own, options);
    commit_site a(c, own, "mine", options);
    commit_site b(c, own, "other", options);
    co_await coordinator.begin(sites, "");
    co_await a.join();
    co_await b.join();
    call<commit_outcome> voting(s, "the next one's vote", party::theirs);
    a.vote(commit_vote::commit, voting.token());
    commit_outcome o = co_await b.vote(commit_vote::commit);
    s.check(o.committed, "the next transaction commits");
    o = co_await voting.result();
    s.check(o.committed, "the next transaction commits for all");
    co_await a.finish();
    co_await b.finish();
    co_await coordinator.clean_up();
}

/// Ours is one of two sites.
template <commit_form Form>
awaitable<void> site(stage& s) {
    commit_options options = options_for(s, Form);
    commit_coordinator coordinator(s.theirs(), path(s), options);
    co_await coordinator.begin(sites, "payload");
    commit_site other(s.theirs(), path(s), "other", options);
    co_await other.join();
    object<commit_site> mine(s, s.ours(), path(s), "mine", options);
    call<commit_transaction> joining(s, "join");
    mine->join_for(joining.limit(), joining.token());
    co_await joining.result();
    co_await s.state("joined");
    call<commit_outcome> voting(s, "vote");
    call<commit_outcome> deciding(s, "their decide", party::theirs);
    call<commit_outcome> other_votes(s, "their vote", party::theirs);
    coordinator.decide(deciding.token());
    mine->vote_for(commit_vote::commit, voting.limit(), voting.token());
    co_await s.state("voted");
    s.check(!voting.good() || s.deprived() || ends_session(s.which()),
            "nothing is decided before all have voted");
    other.vote(commit_vote::commit, other_votes.token());
    call<commit_outcome> voting_again(s, "vote again");
    if (cancels(s.which()))
        co_await testing::eventually_async([&] { return voting.done() || deciding.done(); });
    const bool votes_again = voting.error() == boost::asio::error::operation_aborted;
    if (votes_again)  // perhaps it was not sent; if it is in flight, this one is refused
        mine->vote(commit_vote::commit, voting_again.token());
    commit_outcome o = co_await deciding.result();
    told(s, o);
    o = co_await other_votes.result();
    told(s, o);
    error_code ec = co_await voting.ended();
    if (votes_again)
        ec = co_await voting_again.ended();
    if (votes_again && ec != errc::busy) {
        o = co_await voting_again.result();
    } else if (votes_again || (cancels(s.which()) && ec == boost::asio::error::operation_aborted)) {
        call<commit_outcome> asking(s, "outcome");
        mine->wait_outcome(asking.token());
        o = co_await asking.result();
    } else {
        o = co_await voting.result();
    }
    told(s, o);
    s.check(o.committed || ends_session(s.which()) || s.deprived(), "the transaction commits");
    co_await s.state("decided");
    call<> finishing(s, "finish");
    mine->finish_for(finishing.limit(), finishing.token());
    co_await finishing.result();
    co_await other.finish();
    co_await coordinator.clean_up();
}

/// Ours coordinates, and is one of the sites.
template <commit_form Form>
awaitable<void> whole(stage& s) {
    commit_options options = options_for(s, Form);
    object<commit_coordinator> coordinator(s, s.ours(), path(s), options);
    call<> beginning(s, "begin");
    coordinator->begin_for(sites, "payload", beginning.limit(), beginning.token());
    co_await beginning.result();
    object<commit_site> mine(s, s.ours(), path(s), "mine", options);
    commit_site other(s.theirs(), path(s), "other", options);
    co_await other.join();
    call<commit_transaction> joining(s, "join");
    mine->join(joining.token());
    commit_transaction joined = co_await joining.result();
    s.check(joined.payload == "payload", "the payload is there");
    call<commit_outcome> deciding(s, "decide");
    call<commit_outcome> voting(s, "vote");
    call<commit_outcome> other_votes(s, "their vote", party::theirs);
    coordinator->decide(deciding.token());
    mine->vote(commit_vote::commit, voting.token());
    other.vote(commit_vote::commit, other_votes.token());
    commit_outcome o = co_await deciding.result();
    told(s, o);
    bool committed = s.data(path(s) + "/decision").starts_with("commit\n");
    s.check(o.committed == committed, "the decision is the one that is stored");
    s.check(committed || ends_session(s.which()) || s.disturbed(), "the transaction commits");
    o = co_await voting.result();
    told(s, o);
    o = co_await other_votes.result();
    told(s, o);
    co_await s.state("decided");
    call<> finishing(s, "finish");
    mine->finish_for(finishing.limit(), finishing.token());
    co_await finishing.result();
    co_await other.finish();
    call<> cleaning(s, "clean_up");
    coordinator->clean_up_for(false, cleaning.limit(), cleaning.token());
    co_await cleaning.result();
    s.check(!s.exists(path(s)), "the transaction is cleaned up");
}

/// Ours is the site that votes against it.
template <commit_form Form>
awaitable<void> refuse(stage& s) {
    commit_options options = options_for(s, Form);
    commit_coordinator coordinator(s.theirs(), path(s), options);
    co_await coordinator.begin(sites, "");
    object<commit_site> mine(s, s.ours(), path(s), "mine", options);
    call<commit_transaction> joining(s, "join");
    mine->join(joining.token());
    co_await joining.result();
    call<commit_outcome> voting(s, "vote");
    mine->vote(commit_vote::abort, voting.token());
    commit_outcome o = co_await voting.result();
    told(s, o);
    s.check(!o.committed, "who votes against it aborts it");
    std::string decision = s.data(path(s) + "/decision");
    bool ours = decision.ends_with("\nsite mine voted to abort");
    s.check(decision.starts_with("abort\n") && (ours || ends_session(s.which())),
            "the decision says who aborted it");
    commit_outcome theirs = co_await coordinator.decide();
    told(s, theirs);
    s.check(theirs.reason == o.reason, "all are told the same reason");
    call<> finishing(s, "finish");
    mine->finish_for(finishing.limit(), finishing.token());
    co_await finishing.result();
    co_await coordinator.clean_up(true);
}

/// Ours was away, and asks what has become of it.
awaitable<void> ask(stage& s) {
    commit_options options = options_for(s, commit_form::all_sites);
    commit_coordinator coordinator(s.theirs(), path(s), options);
    co_await coordinator.begin(sites, "payload");
    object<commit_site> mine(s, s.ours(), path(s), "mine", options);
    call<commit_outcome> asking(s, "outcome");
    mine->wait_outcome_for(asking.limit(), asking.token());
    co_await s.state("asked");
    s.check(!asking.good(), "nothing has been decided");
    commit_outcome o = co_await coordinator.abort("for a reason");
    told(s, o);
    o = co_await asking.result();
    told(s, o);
    co_await s.state("decided");
    call<> finishing(s, "finish");
    mine->finish_for(finishing.limit(), finishing.token());
    co_await finishing.result();
    co_await coordinator.clean_up(true);
}

/// Ours coordinates two sites of others.
template <commit_form Form>
awaitable<void> coordinate(stage& s) {
    commit_options options = options_for(s, Form);
    object<commit_coordinator> mine(s, s.ours(), path(s), options);
    call<> beginning(s, "begin");
    mine->begin_for(sites, "payload", beginning.limit(), beginning.token());
    co_await beginning.result();
    co_await s.state("begun");
    commit_site a(s.theirs(), path(s), "mine", options);
    commit_site b(s.theirs(), path(s), "other", options);
    call<commit_transaction> joining(s, "their join", party::theirs);
    a.join(joining.token());
    co_await joining.result();
    co_await b.join();
    call<commit_outcome> deciding(s, "decide");
    mine->decide_for(deciding.limit(), deciding.token());
    call<commit_outcome> a_votes(s, "their vote", party::theirs);
    a.vote(commit_vote::commit, a_votes.token());
    co_await s.state("deciding");
    s.check(!deciding.good() || s.deprived(), "nothing is decided before all have voted");
    call<commit_outcome> b_votes(s, "their other vote", party::theirs);
    b.vote(commit_vote::commit, b_votes.token());
    commit_outcome o = co_await deciding.result();
    told(s, o);
    o = co_await a_votes.result();
    told(s, o);
    o = co_await b_votes.result();
    told(s, o);
    s.check(o.committed, "the transaction commits");
    co_await a.finish();
    co_await b.finish();
    co_await s.state("decided");
    call<> cleaning(s, "clean_up");
    mine->clean_up_for(false, cleaning.limit(), cleaning.token());
    co_await cleaning.result();
}

/// Ours takes over what another coordinator has begun, and ends it.
awaitable<void> take_over(stage& s) {
    commit_options options = options_for(s, commit_form::coordinator);
    commit_coordinator theirs(s.theirs(), path(s), options);
    co_await theirs.begin(sites, "payload");
    object<commit_coordinator> mine(s, s.ours(), path(s), options);
    call<commit_transaction> resuming(s, "resume");
    mine->resume_for(resuming.limit(), resuming.token());
    commit_transaction t = co_await resuming.result();
    s.check(t.payload == "payload" && !t.outcome, "it is the one that was begun");
    co_await s.state("resumed");
    commit_site a(s.theirs(), path(s), "mine", options);
    co_await a.join();
    call<commit_outcome> voting(s, "their vote", party::theirs);
    a.vote(commit_vote::abort, voting.token());
    co_await s.state("refused by one");
    call<commit_outcome> aborting(s, "abort");
    mine->abort_for("over", aborting.limit(), aborting.token());
    commit_outcome o = co_await aborting.result();
    told(s, o);
    s.check(!o.committed, "who votes against it aborts it");
    o = co_await voting.result();
    told(s, o);
    co_await a.finish();
    co_await s.state("decided");
    call<> cleaning(s, "clean_up");
    mine->clean_up_for(true, cleaning.limit(), cleaning.token());
    co_await cleaning.result();
}

scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "two_phase_commit";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe;
    s.invariant = agreed;
    s.may_stay = [](stage&, const std::string& below) {
        return below == "tx" || below.starts_with("tx/");
    };
    // Every call ends with "no node" then, or waits for the next transaction (`join`): another
    // scenario, which the integration test has.
    // Whose time is over while something is under way does not know what has been decided.
    for (fault f : {fault::deadline_hole, fault::slow_answers})
        s.may_end_with[f] = {errc::in_doubt};
    s.without[fault::parent_deleted] = "a transaction that others have deleted has no outcome";
    return s;
}

template <commit_form Form>
scenario make_site(std::string name) {
    scenario s = make(std::move(name), site<Form>);
    // Who has died has aborted, and learns it.
    s.outlives_session = true;
    return s;
}

scenario make_asker(std::string name) {
    scenario s = make(std::move(name), ask);
    s.outlives_session = true;
    s.without[fault::own_node_deleted] = "who only asks has no node of its own";
    return s;
}

scenario make_coordinator(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s = make(std::move(name), play);
    s.outlives_session = true;
    s.without[fault::own_node_deleted] = "the coordinator has no node of its own";
    return s;
}

template <commit_form Form>
scenario make_whole(std::string name) {
    scenario s = make_site<Form>(std::move(name));
    s.play = whole<Form>;
    s.only(at_requests, other_requests);
    return s;
}

template <commit_form Form>
scenario make_refusal(std::string name) {
    scenario s = make_site<Form>(std::move(name));
    s.play = refuse<Form>;
    s.only(at_requests, other_requests);
    return s;
}

const registered all[] = {
    registered(make_whole<commit_form::all_sites>("whole, all sites")),
    registered(make_whole<commit_form::coordinator>("whole, coordinator")),
    registered(make_refusal<commit_form::all_sites>("refuse, all sites")),
    registered(make_refusal<commit_form::coordinator>("refuse, coordinator")),
    registered(make_site<commit_form::all_sites>("site, all sites")),
    registered(make_site<commit_form::coordinator>("site, coordinator")),
    registered(make_asker("asker")),
    registered(make_coordinator("coordinator, all sites", coordinate<commit_form::all_sites>)),
    registered(make_coordinator("coordinator", coordinate<commit_form::coordinator>)),
    registered(make_coordinator("take over", take_over)),
};

}  // namespace two_phase_commit_scenarios

}  // namespace corozk::matrix
