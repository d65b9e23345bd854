// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/turns.hpp"
#include <corozk/recipe/election.hpp>

namespace corozk::matrix {

namespace election_scenarios {

awaitable<void> probe(client& c, stage& s) {
    election e(c, s.folder(), options_of<election_options>(s));
    ownership term = co_await e.campaign_for(s.patience());
    co_await others_turn(s, c, std::move(term));
}

/// After somebody else's term.
awaitable<void> campaign(stage& s) {
    election_options options = options_of<election_options>(s);
    election theirs(s.theirs(), s.folder(), options);
    ownership first = co_await theirs.campaign();
    s.enter_owner(first, party::theirs);
    object<election> mine(s, s.ours(), s.folder(), options);
    grant asked(s, "campaign");
    mine->campaign_for(asked.limit(), asked.token());
    co_await s.state("candidate", [&] { return s.nodes() >= 2; });
    co_await first.release();
    co_await take_turn(s, asked, "leading");
}

/// A whole term, with the acknowledgement.
awaitable<void> acknowledge(stage& s) {
    object<election> mine(s, s.ours(), s.folder(), options_of<election_options>(s));
    grant asked(s, "campaign");
    mine->campaign_for(asked.limit(), asked.token());
    ownership given = co_await asked.result();
    droppable<ownership> term(s, std::move(given));
    co_await s.state("leading");
    ownership& own = *term;
    call<> acknowledged(s, "acknowledge");
    mine->acknowledge(own, acknowledged.token());
    co_await changed(s, term, acknowledged);
    // Its nodes may go at any moment, before it can know.
    auto may_be_over = [&] { return !term.holds() || s.deprived() || ends_session(s.which()); };
    s.check(may_be_over() || s.exists(term->path() + "-acknowledged"),
            "the acknowledgement is there");
    co_await s.state("acknowledged");
    call<> proclaimed(s, "proclaim");
    mine->proclaim(own, "proclaimed", proclaimed.token());
    co_await changed(s, term, proclaimed);
    s.check(may_be_over() || s.data(term->path()) == "proclaimed", "what was proclaimed is there");
    co_await s.state("proclaimed");
    call<> released(s, "release");
    term->release(released.token());
    co_await released.result();
}

/// From one term into the next, behind somebody else's.
awaitable<void> again(stage& s) {
    election_options options = options_of<election_options>(s);
    object<election> mine(s, s.ours(), s.folder(), options);
    election theirs(s.theirs(), s.folder(), options);
    grant asked(s, "campaign");
    mine->campaign_for(asked.limit(), asked.token());
    ownership first = co_await asked.result();
    call<ownership> rival(s, "their campaign", party::theirs);
    rival.at_result([&s](const ownership& o) { s.enter_owner(o, party::theirs); });
    theirs.campaign(rival.token());
    co_await s.state("leading", [&] { return s.nodes() >= 2 || rival.done(); });
    grant second(s, "campaign_again");
    mine->campaign_again(std::move(first), second.token());
    ownership between = co_await rival.result();
    co_await s.state("candidate again");
    co_await between.release();
    co_await take_turn(s, second, "leading again");
}

/// Of somebody else's term.
awaitable<void> observe(stage& s) {
    election_options options = options_of<election_options>(s);
    election theirs(s.theirs(), s.folder(), options);
    object<election> mine(s, s.ours(), s.folder(), options);
    election_leader nobody;
    call<election_leader> first(s, "next_leader");
    mine->next_leader(nobody, first.token());
    co_await s.state("nobody leads");
    ownership term = co_await theirs.campaign();
    election_leader leader = co_await first.result();
    std::string path = term.path();
    s.check(leader.path == path, "the leader is seen");
    call<election_leader> second(s, "next_leader after");
    mine->next_leader(leader, second.token());
    co_await s.state("somebody leads");
    auto [ec] = co_await theirs.acknowledge(term, as_tuple());
    s.check(!ec || s.which() == fault::parent_deleted, "their acknowledgement: " + ec.message());
    leader = co_await second.result();
    s.check(leader.acknowledged || ec, "the acknowledgement is seen");
    // With its parent node the term has ended already.
    if (ec && leader.path != path)
        co_return;
    call<election_leader> third(s, "next_leader at last");
    mine->next_leader(leader, third.token());
    co_await term.release(as_tuple());
    leader = co_await third.result();
    s.check(leader.path != path || !leader.acknowledged, "the end of the term is seen");
}

/// A coroutine that runs while ours leads, and again in its next session.
awaitable<void> run(stage& s) {
    election mine(s.ours(), s.folder(), options_of<election_options>(s));
    int terms = 0;
    auto body = [&](ownership& term) -> awaitable<int> {
        ++terms;
        s.enter_owner(term, party::ours);
        co_await s.state("leading");
        co_await mine.acknowledge(term);
        co_await s.settle();
        co_return terms;
    };
    error_code ec;
    try {
        co_await mine.run(body);
    } catch (const error& e) {
        ec = e.code();
    }
    // The body may see the loss before its term does.
    bool loss = is_session_lost(ec) || is_recoverable(ec) || ec == errc::ownership_lost;
    s.check(!ec || (loss && ends_session(s.which())), "run: " + ec.message());
    s.check(ec || terms > 0, "the body has run");
}

scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "election";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe;
    s.probe_takes_turns = true;
    return s;
}

const registered all[] = {
    registered(make("campaign", campaign)),
    registered(make("acknowledge", acknowledge)),
    registered([] {
        scenario s = make("run", run);
        s.only({fault::request_lost,
                fault::answer_lost,
                fault::cut_after_answer,
                fault::answer_delayed,
                fault::expired},
               other_requests);
        return s;
    }()),
    registered([] {
        scenario s = make("again", again);
        s.without[fault::may_not_delete] = "the other one waits for a node that may not be erased";
        return s;
    }()),
    registered([] {
        scenario s = make("observe", observe);
        s.probe_takes_turns = false;
        s.outlives_session = true;
        s.without[fault::own_node_deleted] = "an observer has no node";
        s.without[fault::second_object] = "another candidate would be the next leader";
        return s;
    }()),
};

}  // namespace election_scenarios

}  // namespace corozk::matrix
