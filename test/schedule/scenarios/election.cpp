// SPDX-License-Identifier: Apache-2.0
#include "patience.hpp"
#include "turns.hpp"
#include <corozk/recipe/election.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace corozk::schedule {

namespace election_scenarios {

/// Leads once, and says so.
awaitable<void> campaign(actor& a) {
    election e(a.zk(), folder);
    for (;;) {
        auto token = a.token();
        auto [ec, term] = co_await e.campaign(token);
        if (ec) {
            if (!a.may_see(ec, "campaign") || a.cancelled())
                co_return;
            continue;
        }
        {
            stage::tenure owner(a, term);
            auto firm = a.firm_token();
            auto [acknowledged] = co_await e.acknowledge(term, firm);
            a.may_see(acknowledged, "acknowledge");
            co_await a.gate("leading");
        }
        co_await give_back(a, term);
        co_return;
    }
}

/// Sees somebody lead, by the model's records.
awaitable<void> observe(actor& a) {
    election e(a.zk(), folder);
    auto token = a.token();
    auto [ec, leader] = co_await e.get_leader(token);
    // A question that is asked once may remain unanswered.
    if (ec && ec != zk_errc::connection_loss)
        a.may_see(ec, "leader");
    if (!ec && leader)
        a.on().check(leader.path.starts_with(folder), "the leader has a node");
}

/// Leads, again if need be, until the follower has seen it.
awaitable<void> lead_until_seen(actor& a) {
    election e(a.zk(), folder);
    auto firm = a.firm_token();
    while (times_noted(a, "seen") == 0) {
        auto [ec, term] = co_await e.campaign(firm);
        if (!a.may_see(ec, "campaign"))
            co_return;
        if (ec)
            continue;
        auto [acknowledged] = co_await e.acknowledge(term, firm);
        a.may_see(acknowledged, "acknowledge");
        while (term.valid() && times_noted(a, "seen") == 0)
            co_await pause();
        co_await give_back(a, term);
    }
}

/// Leads once, however shortly.
awaitable<void> lead_shortly(actor& a) {
    election e(a.zk(), folder);
    auto token = a.token();
    auto [ec, term] = co_await e.campaign(token);
    a.may_see(ec, "campaign");
}

/// Until one has led whose procedure has run, and nobody leads any more.
awaitable<void> follow(actor& a) {
    noted_at_the_end over(a, "seen");
    election e(a.zk(), folder);
    election_leader last;
    std::int64_t latest = 0;
    bool seen = false;
    while (!seen || last) {
        auto token = a.token();
        auto [ec, now] = co_await e.next_leader(last, token);
        if (!a.may_see(ec, "next_leader") || ec)
            co_return;
        bool same_term = now.path == last.path;
        a.on().check(!same_term || now.acknowledged != last.acknowledged,
                     "the same leader is told twice");
        a.on().check(!same_term || now.acknowledged, "an acknowledgement is taken back");
        if (now) {
            a.on().check(now.fencing_token >= latest, "an earlier leader comes later");
            latest = std::max(latest, now.fencing_token);
        }
        last = std::move(now);
        if (last.acknowledged && !std::exchange(seen, true))
            a.on().note_down("seen", a.name());
    }
}

template <int Candidates>
void contest(stage& s) {
    for (int i = 0; i < Candidates; ++i)
        s.play(std::string(1, static_cast<char>('a' + i)), i, campaign);
    s.leaves_nothing_in(folder);
}

void observed(stage& s) {
    s.play("candidate", 0, campaign);
    s.play("observer", 1, observe);
    s.leaves_nothing_in(folder);
}

/// Leads, resigns and stays a candidate, and leads again.
awaitable<void> campaign_twice(actor& a) {
    election e(a.zk(), folder);
    auto token = a.token();
    auto [ec, term] = co_await e.campaign(token);
    if (!a.may_see(ec, "campaign") || ec)
        co_return;
    {
        stage::tenure owner(a, term);
        co_await a.gate("leading");
    }
    auto second_token = a.token();
    auto [again, second] = co_await e.campaign_again(std::move(term), second_token);
    if (!a.may_see(again, "campaign_again") || again)
        co_return;
    {
        stage::tenure owner(a, second);
        co_await a.gate("leading again");
    }
    co_await give_back(a, second);
}

void again(stage& s) {
    contend_all(s, {{"twice", campaign_twice}, {"b", campaign}});
}

void followed(stage& s) {
    contend_all(s, {{"candidate", lead_until_seen}, {"follower", follow}});
}

void followed_through_terms(stage& s) {
    contend_all(s, {{"candidate", lead_until_seen}, {"follower", follow}, {"other", lead_shortly}});
}

const registered all[] = {
    registered(scenario("election.2", 2, contest<2>).of_equals()),
    registered(scenario("election.3", 3, contest<3>).of_equals()),
    registered(scenario("election.3", 3, contest<3>).of_equals().in_a_folder()),
    registered(scenario("election.observed", 2, observed)),
    registered(scenario("election.again", 2, again)),
    registered(scenario("election.followed", 2, followed).with_child_stats()),
    registered(scenario("election.followed-3", 3, followed_through_terms).with_child_stats()),
};

}  // namespace election_scenarios

}  // namespace corozk::schedule
