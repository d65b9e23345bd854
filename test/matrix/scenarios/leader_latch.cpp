// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/call.hpp"
#include <corozk/recipe/leader_latch.hpp>

namespace corozk::matrix {

namespace leader_latch_scenarios {

using latch_ptr = std::weak_ptr<leader_latch>;

/// Who leads has its node there, alone, and first in line.
void enter_leader(stage& s, const latch_ptr& latch, std::int64_t session_id) {
    auto now = latch.lock();
    // Somebody has erased the node, and the latch may not have heard of it yet.
    bool node_may_be_gone =
        s.applied() && (deletes_own(s.which()) || s.which() == fault::parent_deleted);
    if (!now || now->term_path().empty() || node_may_be_gone)
        return;
    std::int64_t token = now->status().fencing_token;
    auto leads = [latch, token] {
        auto l = latch.lock();
        return l && l->has_leadership() && l->status().fencing_token == token;
    };
    std::string path = now->term_path();
    testing::owner_registry::owner leader{
        leads, [path] { return path; }, token, session_id, {}, latch};
    s.owners.enter(std::move(leader));
}

/// To be told in the moment in which it leads.
template <class Call>
void enter_when_it_leads(stage& s, Call& asked, const latch_ptr& latch, const client& whose) {
    asked.at_result(
        [&s, latch, &whose](std::int64_t) { enter_leader(s, latch, whose.session_id()); });
}

awaitable<void> probe(client& c, stage& s) {
    auto next = std::make_shared<leader_latch>(c, s.folder(), options_of<election_options>(s));
    next->start();
    auto deadline = std::chrono::steady_clock::now() + s.patience();
    call<std::int64_t> leads(s, "the next one's leadership", party::theirs);
    enter_when_it_leads(s, leads, next, c);
    next->wait_leadership_until(deadline, leads.token());
    co_await leads.result();
    s.check(next->has_leadership() || s.which() == fault::parent_deleted, "the next one leads");
    co_await next->close();
}

awaitable<void> lead_again(stage& s, object<leader_latch>& mine, std::int64_t& last) {
    call<std::int64_t> leads(s, "leadership");
    enter_when_it_leads(s, leads, mine.weak(), s.ours());
    mine->wait_leadership_until(leads.deadline(), leads.token());
    std::int64_t token = co_await leads.result();
    s.check(token >= last, "fencing tokens do not go back");
    last = token;
}

/// The term may have ended otherwise before.
awaitable<void> ended_with_its_term(stage& s, call<>& done) {
    error_code ec = co_await done.ended();
    bool may_have_ended = s.deprived() || ends_session(s.which());
    if (!may_have_ended || (ec != errc::ownership_lost && ec != zk_errc::session_expired))
        co_await done.result();
}

/// Leads, resigns, leads again; over lost sessions and erased nodes.
awaitable<void> lead(stage& s) {
    object<leader_latch> mine(s, s.ours(), s.folder(), options_of<election_options>(s));
    std::int64_t token = 0;
    mine->start();
    co_await lead_again(s, mine, token);
    co_await s.state("leading");
    co_await lead_again(s, mine, token);
    call<> resigned(s, "resign");
    mine->resign(resigned.token());
    co_await ended_with_its_term(s, resigned);
    co_await lead_again(s, mine, token);
    co_await s.state("leading again");
    call<> closed(s, "close the latch");
    mine->close(closed.token());
    co_await closed.result();
    s.check(mine->status().state == latch_state::idle, "who has closed is no candidate");
}

/// After somebody else's term.
awaitable<void> follow(stage& s) {
    election_options options = options_of<election_options>(s);
    auto theirs = std::make_shared<leader_latch>(s.theirs(), s.folder(), options);
    theirs->start();
    co_await theirs->wait_leadership();
    enter_leader(s, theirs, s.theirs().session_id());
    object<leader_latch> mine(s, s.ours(), s.folder(), options);
    mine->start();
    call<std::int64_t> leads(s, "leadership");
    enter_when_it_leads(s, leads, mine.weak(), s.ours());
    mine->wait_leadership_until(leads.deadline(), leads.token());
    co_await s.state("candidate", [&] { return s.nodes() >= 2; });
    co_await theirs->close();
    co_await leads.result();
    co_await s.state("leading");
    call<> closed(s, "close the latch");
    mine->close(closed.token());
    co_await closed.result();
}

/// Is told of each change of its state, and acknowledges what it has come to lead.
awaitable<void> watch_changes(stage& s) {
    object<leader_latch> mine(s, s.ours(), s.folder(), options_of<election_options>(s));
    latch_status seen = mine->status();
    mine->start();
    call<std::int64_t> leads(s, "leadership");
    enter_when_it_leads(s, leads, mine.weak(), s.ours());
    mine->wait_leadership_until(leads.deadline(), leads.token());
    // Whoever may not lead is idle again.
    do {
        call<latch_status> changed(s, "changed");
        mine->next_status(seen, changed.token());
        seen = co_await changed.result();
    } while (seen.state == latch_state::candidate);
    co_await leads.result();
    co_await s.state("leading");
    call<> acknowledged(s, "acknowledge");
    mine->acknowledge(acknowledged.token());
    co_await ended_with_its_term(s, acknowledged);
    call<> closed(s, "close the latch");
    mine->close(closed.token());
    co_await closed.result();
}

/// Beside a rival that resigns until ours leads, and leads again when ours has gone.
awaitable<void> rivals(stage& s) {
    election_options options = options_of<election_options>(s);
    auto theirs = std::make_shared<leader_latch>(s.theirs(), s.folder(), options);
    object<leader_latch> mine(s, s.ours(), s.folder(), options);
    theirs->start();
    co_await theirs->wait_leadership();
    enter_leader(s, theirs, s.theirs().session_id());
    mine->start();
    call<std::int64_t> leads(s, "leadership");
    enter_when_it_leads(s, leads, mine.weak(), s.ours());
    mine->wait_leadership(leads.token());
    co_await s.state("candidate", [&] { return s.nodes() >= 2; });
    // Ours may not be a candidate at that moment: then theirs leads again.
    while (!leads.done()) {
        if (theirs->has_leadership() && (s.nodes() >= 2 || s.disturbed()))
            co_await theirs->resign(as_tuple());
        co_await s.theirs().sync("/", as_tuple());
    }
    co_await leads.result();
    call<> closed(s, "close the latch");
    mine->close(closed.token());
    co_await closed.result();
    co_await theirs->wait_leadership();
    enter_leader(s, theirs, s.theirs().session_id());
    co_await theirs->close();
}

scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "leader_latch";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe;
    s.probe_takes_turns = true;
    s.outlives_session = true;
    return s;
}

const registered all[] = {
    registered([] {
        scenario s = make("lead", lead);
        s.at_every_turn = true;
        return s;
    }()),
    registered([] {
        scenario s = make("rivals", rivals);
        s.only(at_requests, other_requests);
        return s;
    }()),
    registered(make("follow", follow)),
    registered([] {
        scenario s = make("changes", watch_changes);
        // What is done in a term ends as the term does.
        s.may_end_with[fault::destroy_object] = {errc::ownership_lost};
        return s;
    }()),
};

}  // namespace leader_latch_scenarios

}  // namespace corozk::matrix
