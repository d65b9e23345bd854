// SPDX-License-Identifier: Apache-2.0
// The election, with Curator's LeaderLatch and Kazoo's Election on the same path.
#include "contest.hpp"
#include <corozk/recipe/election.hpp>

namespace corozk::testing::election_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

election_options options_with(party_kind which, std::string identity = our_party) {
    election_options options(std::move(identity));
    options.compatibility =
        which == party_kind::curator ? compatibility::curator : compatibility::kazoo;
    return options;
}

/// Each of our terms is acknowledged: the others must not mistake that node for a candidate.
contest election_contest(party_kind with) {
    contest c;
    c.with = with;
    c.kind = "election";
    c.goal.handovers = 200;
    c.recipe = [with](client& zk, std::string path) -> acquire_function {
        auto ours = std::make_shared<election>(zk, path, options_with(with));
        return [ours](std::string) -> boost::asio::awaitable<ownership> {
            ownership term = co_await ours->campaign();
            co_await ours->acknowledge(term);
            co_return term;
        };
    };
    return c;
}

}  // namespace

TEST_CASE("our candidates and Curator's latches elect one leader at a time") {
    turns result = contend(election_contest(party_kind::curator));
    CHECK(result.to_us >= 200);
}

TEST_CASE("our candidates and Kazoo's elect one leader at a time") {
    turns result = contend(election_contest(party_kind::kazoo));
    CHECK(result.to_us >= 200);
}

TEST_CASE("our observers see another library's leader and the change to ours") {
    auto which = GENERATE(party_kind::curator, party_kind::kazoo);
    CAPTURE(name_of(which));
    meeting at;
    party theirs(which, at.arguments({"task=hold", "kind=election", "identity=them"}));
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        election ours(zk, at.path, options_with(which));
        auto they_lead = [&] { return at.inside(name_of(which)) == 1; };
        co_await theirs.until(they_lead, "leading");
        // Curator writes its id before it can lead.
        election_leader seen = co_await ours.leader();
        REQUIRE(seen);
        CHECK(seen.identity == "them");
        CHECK(seen.session_id != zk.session_id());
        CHECK_FALSE(seen.acknowledged);

        pending_result<ownership> campaign;
        ours.campaign(campaign.handler());
        auto both_are_there = [&] { return at.hand.children(at.path).size() == 2; };
        co_await theirs.until(both_are_there, "our candidate's node");
        std::vector<contender_info> line = co_await ours.contenders();
        REQUIRE(line.size() == 2);
        CHECK(line[0].data == "them");
        CHECK(line[0].holds);
        CHECK(line[1].data == our_party);
        CHECK_FALSE(campaign.done());

        pending_result<election_leader> change;
        ours.next_leader(seen, change.handler());
        at.tell_to_leave();
        error_code won = co_await finished(campaign);
        REQUIRE_FALSE(won);
        error_code changed = co_await finished(change);
        CHECK_FALSE(changed);
        // The moment without a leader may be reported, too.
        if (change.value())
            CHECK(change.value().identity == our_party);
        seen = co_await ours.leader();
        CHECK(seen.path == campaign.value().path());
        co_await theirs.end();
        co_await campaign.value().release();
    });
    CHECK(at.hand.children(at.path).empty());
}

TEST_CASE("another library's candidate sees our leader and follows it") {
    auto which = GENERATE(party_kind::curator, party_kind::kazoo);
    CAPTURE(name_of(which));
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        election ours(zk, at.path, options_with(which));
        ownership term = co_await ours.campaign();
        co_await ours.acknowledge(term);
        party theirs(which, at.arguments({"task=hold", "kind=election", "identity=them"}));
        auto they_are_candidates = [&] { return at.hand.children(at.path).size() == 3; };
        co_await theirs.until(they_are_candidates, "being a candidate");
        if (which == party_kind::curator) {
            // Its id is written after its node was created.
            auto named = [&] {
                for (const std::string& name : at.hand.children(at.path)) {
                    auto stat = at.hand.stat(at.path + "/" + name);
                    if (stat && at.hand.data(at.path + "/" + name) == "them")
                        return true;
                }
                return false;
            };
            co_await theirs.until(named, "its id");
            party onlooker(which, at.arguments({"task=leader"}));
            co_await onlooker.end();
            std::vector<std::string> seen = onlooker.lines();
            REQUIRE_FALSE(seen.empty());
            CHECK(seen[0] == std::string("leader ") + our_party);
            CHECK(std::count(seen.begin(), seen.end(), "participant them") == 1);
        } else {
            party onlooker(which, at.arguments({"task=contenders", "kind=election"}));
            co_await onlooker.end();
            std::vector<std::string> seen{our_party, "them"};
            CHECK(onlooker.lines() == seen);
        }
        CHECK(at.inside(name_of(which)) == 0);
        election_leader leader = co_await ours.leader();
        CHECK(leader.path == term.path());
        CHECK(leader.acknowledged);

        co_await term.release();
        auto they_lead = [&] { return at.inside(name_of(which)) == 1; };
        co_await theirs.until(they_lead, "leading");
        leader = co_await ours.leader();
        CHECK(leader.identity == "them");
        at.tell_to_leave();
        co_await theirs.end();
        leader = co_await ours.leader();
        CHECK_FALSE(leader);
    });
    CHECK(at.hand.children(at.path).empty());
}

}  // namespace corozk::testing::election_test
