// SPDX-License-Identifier: Apache-2.0
#include "turns.hpp"
#include <corozk/recipe/election.hpp>

namespace corozk::schedule {

namespace {

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
        auto firm = a.firm_token();
        auto [released] = co_await term.release(firm);
        a.may_see(released, "release");
        co_return;
    }
}

/// Sees somebody lead, by the model's records.
awaitable<void> observe(actor& a) {
    election e(a.zk(), folder);
    auto token = a.token();
    auto [ec, leader] = co_await e.leader(token);
    // A question that is asked once may remain unanswered.
    if (ec && ec != zk_errc::connection_loss)
        a.may_see(ec, "leader");
    if (!ec && leader)
        a.on().check(leader.path.starts_with(folder), "the leader has a node");
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

const registered all[] = {
    registered(scenario("election.2", 2, contest<2>).of_equals()),
    registered(scenario("election.3", 3, contest<3>).of_equals()),
    registered(scenario("election.observed", 2, observed)),
};

}  // namespace

}  // namespace corozk::schedule
