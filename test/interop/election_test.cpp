// SPDX-License-Identifier: Apache-2.0
// The election, with Curator's LeaderLatch or LeaderSelector and Kazoo's Election on the same path.
#include "contest.hpp"
#include <corozk/recipe/election.hpp>

namespace corozk::testing::election_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

/// An election of another library.
struct foreign_election {
    party_kind with;
    const char* kind;
    bool leader_selector = false;
};

constexpr foreign_election foreign_elections[] = {
    {party_kind::curator, "election"},
    {party_kind::curator, "selector", true},
    {party_kind::kazoo, "election"},
};

/// One of them, for each section of a test.
const foreign_election& any_of_them() {
    auto which = GENERATE(range(std::size_t(0), std::size(foreign_elections)));
    return foreign_elections[which];
}

election_options options_with(const foreign_election& foreign, std::string identity = our_party) {
    election_options options(std::move(identity));
    options.compatibility =
        foreign.with == party_kind::curator ? compatibility::curator : compatibility::kazoo;
    options.leader_selector = foreign.leader_selector;
    return options;
}

std::vector<std::string> a_leader(meeting& at, const foreign_election& foreign) {
    return at.arguments(
        {"task=hold", std::string("kind=") + foreign.kind, "identity=them", short_session});
}

/// Each of our terms is acknowledged: the others must not mistake that node for a candidate.
contest election_contest(const foreign_election& foreign) {
    contest c;
    c.with = foreign.with;
    c.kind = foreign.kind;
    c.goal.handovers = 200;
    c.recipe = [foreign](client& zk, std::string path) -> acquire_function {
        auto ours = std::make_shared<election>(zk, path, options_with(foreign));
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
    turns result = contend(election_contest(foreign_elections[0]));
    CHECK(result.to_us >= 200);
}

TEST_CASE("our candidates and Curator's selectors elect one leader at a time") {
    turns result = contend(election_contest(foreign_elections[1]));
    CHECK(result.to_us >= 200);
}

TEST_CASE("our candidates and Kazoo's elect one leader at a time") {
    turns result = contend(election_contest(foreign_elections[2]));
    CHECK(result.to_us >= 200);
}

TEST_CASE("our observers see another library's leader and the change to ours") {
    const foreign_election& foreign = any_of_them();
    const party_kind which = foreign.with;
    CAPTURE(name_of(which), foreign.kind);
    meeting at;
    party theirs(which, a_leader(at, foreign));
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        election ours(zk, at.path, options_with(foreign));
        auto they_lead = [&] { return at.inside(name_of(which)) == 1; };
        co_await theirs.until(they_lead, "leading");
        // Curator writes its id before it can lead.
        election_leader seen = co_await ours.get_leader();
        REQUIRE(seen);
        CHECK(seen.identity == "them");
        CHECK(seen.session_id != zk.session_id());
        CHECK_FALSE(seen.acknowledged);

        pending_result<ownership> campaign;
        ours.campaign(campaign.handler());
        auto both_are_there = [&] { return at.hand.children(at.path).size() == 2; };
        co_await theirs.until(both_are_there, "our candidate's node");
        std::vector<contender_info> line = co_await ours.list_contenders();
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
        seen = co_await ours.get_leader();
        CHECK(seen.path == campaign.value().path());
        co_await theirs.end();
        co_await campaign.value().release();
    });
    CHECK(at.hand.children(at.path).empty());
}

TEST_CASE("another library's candidate sees our leader and follows it") {
    const foreign_election& foreign = any_of_them();
    const party_kind which = foreign.with;
    CAPTURE(name_of(which), foreign.kind);
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        election ours(zk, at.path, options_with(foreign));
        ownership term = co_await ours.campaign();
        co_await ours.acknowledge(term);
        party theirs(which, a_leader(at, foreign));
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
            party onlooker(which,
                           at.arguments({"task=leader", std::string("kind=") + foreign.kind}));
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
        election_leader leader = co_await ours.get_leader();
        CHECK(leader.path == term.path());
        CHECK(leader.acknowledged);

        co_await term.release();
        auto they_lead = [&] { return at.inside(name_of(which)) == 1; };
        co_await theirs.until(they_lead, "leading");
        leader = co_await ours.get_leader();
        CHECK(leader.identity == "them");
        at.tell_to_leave();
        co_await theirs.end();
        leader = co_await ours.get_leader();
        CHECK_FALSE(leader);
    });
    CHECK(at.hand.children(at.path).empty());
}

TEST_CASE("when another library's leader dies, ours leads, and the other way round") {
    const foreign_election& foreign = any_of_them();
    const party_kind which = foreign.with;
    CAPTURE(name_of(which), foreign.kind);
    meeting at;
    meet(at, [&](client&) -> boost::asio::awaitable<void> {
        party dead(which, a_leader(at, foreign));
        auto it_leads = [&] { return at.inside(name_of(which)) == 1; };
        co_await dead.until(it_leads, "leading");
        mortal_client dying;
        co_await dying.connect();
        election ours(dying.zk, at.path, options_with(foreign));
        pending_result<ownership> campaign;
        ours.campaign(campaign.handler());
        auto both_are_there = [&] { return at.hand.children(at.path).size() == 2; };
        co_await dead.until(both_are_there, "our candidate's node");
        CHECK_FALSE(campaign.done());
        dead.kill();
        co_await eventually_async([&] { return campaign.done() && at.inside(name_of(which)) == 0; },
                                  party_limit,
                                  "leading after a death");
        REQUIRE_FALSE(campaign.error());
        ownership& term = campaign.value();
        CHECK(term.valid());

        party theirs(which, a_leader(at, foreign));
        co_await theirs.until(both_are_there, "being a candidate");
        CHECK(at.inside(name_of(which)) == 0);
        pending_result<error_code> loss;
        term.wait_lost(loss.handler());
        dying.expire();
        auto they_lead = [&] { return at.inside(name_of(which)) == 1; };
        co_await theirs.until(they_lead, "leading");
        error_code heard = co_await finished(loss);
        CHECK_FALSE(heard);
        CHECK(loss.value() == zk_errc::session_expired);
        CHECK_FALSE(term.valid());
        at.tell_to_leave();
        co_await theirs.end();
        co_await dying.zk.close(as_tuple());
    });
    CHECK(at.hand.children(at.path).empty());
}

TEST_CASE("another library sees what our leader proclaims") {
    const foreign_election& foreign = any_of_them();
    const party_kind which = foreign.with;
    CAPTURE(name_of(which), foreign.kind);
    meeting at;
    meet(at, [&](client& zk) -> boost::asio::awaitable<void> {
        election ours(zk, at.path, options_with(foreign));
        ownership term = co_await ours.campaign();
        co_await ours.proclaim(term, "host-7");
        std::string task = which == party_kind::curator ? "task=leader" : "task=contenders";
        party onlooker(which, at.arguments({task.c_str(), std::string("kind=") + foreign.kind}));
        co_await onlooker.end();
        std::vector<std::string> said = onlooker.lines();
        REQUIRE_FALSE(said.empty());
        CHECK(said[0] == (which == party_kind::curator ? "leader host-7" : "host-7"));
        co_await term.release();
    });
    CHECK(at.hand.children(at.path).empty());
}

}  // namespace corozk::testing::election_test
