// SPDX-License-Identifier: Apache-2.0
#include "recipe/two_phase_commit/decision.hpp"
#include "recipe/two_phase_commit/rule.hpp"
#include "recipe/two_phase_commit/votes.hpp"
#include "scripted_port.hpp"
#include "session/watch_registry.hpp"

#include <catch2/catch.hpp>

#include <optional>
#include <string>

namespace corozk::testing::two_phase_commit_test {

using namespace corozk;
using namespace corozk::detail;

namespace {

using states = std::vector<site_state>;
const std::vector<std::string> sites{"a", "b", "c"};
const std::string some_guid = "0123456789abcdef0123456789abcdef";

}  // namespace

TEST_CASE("two-phase commit: the header") {
    commit_header h;
    h.form = commit_form::coordinator;
    h.guid = some_guid;
    h.sites = sites;
    h.payload = "any\nbytes\n\nsite=x\n";
    h.payload += '\0';
    auto parsed = parse_header(format_header(h));
    REQUIRE(parsed);
    CHECK(*parsed == h);
    h.form = commit_form::all_sites;
    h.payload.clear();
    parsed = parse_header(format_header(h));
    REQUIRE(parsed);
    CHECK(*parsed == h);
    std::string good = format_header(h);
    for (std::size_t length = 0; length < good.size(); ++length) {
        CHECK_FALSE(parse_header(good.substr(0, length)));
    }
    CHECK_FALSE(parse_header("10.0.0.1"));
    for (const std::string& guid : {std::string(),
                                    std::string("0123"),
                                    std::string("0123456789abcdef0123456789abcde/"),
                                    std::string("0123456789ABCDEF0123456789ABCDEF"),
                                    some_guid + "0",
                                    std::string(600'000, 'a')}) {
        h.guid = guid;
        CHECK_FALSE(parse_header(format_header(h)));
    }
    h.guid = some_guid;
    h.sites.clear();
    CHECK_FALSE(parse_header(format_header(h)));
    h.sites = {"a", "a"};
    CHECK_FALSE(parse_header(format_header(h)));
}

TEST_CASE("two-phase commit: which sites are fit") {
    CHECK(sites_are_good(sites));
    CHECK_FALSE(sites_are_good({}));
    CHECK_FALSE(sites_are_good({"a", ""}));
    CHECK_FALSE(sites_are_good({"a/b"}));
    CHECK_FALSE(sites_are_good({"a\n"}));
    CHECK_FALSE(sites_are_good({"a", "b", "a"}));
}

TEST_CASE("two-phase commit: what is erased in the end, and what goes last") {
    commit_header h;
    h.guid = some_guid;
    h.sites = sites;
    name_list children;
    for (const char* name : {"decision",
                             "id-4567",
                             "done-a",
                             "done-stranger",
                             "done-",
                             "c",
                             "joined-a",
                             "site-b",
                             "done-c"})
        children.push_back(name);
    CHECK_FALSE(sort_leftovers("/tx", h, children).identified);
    children.push_back("id-" + some_guid);
    commit_leftovers found = sort_leftovers("/tx", h, children);
    CHECK(found.identified);
    CHECK(found.acknowledgements == std::vector<std::string>{"/tx/done-a", "/tx/done-c"});
    CHECK(found.others == std::vector<std::string>{"/tx/id-4567",
                                                   "/tx/done-stranger",
                                                   "/tx/done-",
                                                   "/tx/c",
                                                   "/tx/joined-a",
                                                   "/tx/site-b"});
    children.push_back("done-a");
    children.push_back("c");
    commit_leftovers once = sort_leftovers("/tx", h, children);
    CHECK(once.acknowledgements == found.acknowledgements);
    CHECK(once.others == found.others);
    found = sort_leftovers("/", h, children);
    CHECK(found.acknowledgements.front() == "/done-a");
    found = sort_leftovers("/tx", h, name_list());
    CHECK(found.acknowledgements.empty());
    CHECK(found.others.empty());
}

TEST_CASE("two-phase commit: decisions and votes as data") {
    auto committed = parse_decision(format_decision(commit_outcome(true, ""), "1f"));
    REQUIRE(committed);
    CHECK(committed->outcome.committed);
    CHECK(committed->guid == "1f");
    auto aborted = parse_decision(format_decision(commit_outcome(false, "because\nof that"), "1f"));
    REQUIRE(aborted);
    CHECK_FALSE(aborted->outcome.committed);
    CHECK(aborted->outcome.reason == "because\nof that");
    CHECK(aborted->guid == "1f");
    for (const char* foreign : {"",
                                "commit",
                                "commit\n",
                                "commit\n1f\n",
                                "committed\n1f",
                                "abort",
                                "abort\n1f",
                                "abort\n\nx",
                                "abortion\n1f\n",
                                "COMMIT\n1f",
                                "ab"}) {
        CHECK_FALSE(parse_decision(foreign));
    }
    CHECK(read_vote("") == site_state::silent);
    CHECK(read_vote(format_vote(commit_vote::commit)) == site_state::commit);
    CHECK(read_vote(format_vote(commit_vote::abort)) == site_state::abort);
    CHECK(read_vote("yes") == site_state::foreign);
}

TEST_CASE("two-phase commit: the rule, for all combinations of three votes") {
    const states all{site_state::absent,
                     site_state::silent,
                     site_state::commit,
                     site_state::abort,
                     site_state::dead,
                     site_state::foreign};
    for (site_state a : all) {
        for (site_state b : all) {
            for (site_state c : all) {
                states votes{a, b, c};
                auto outcome = decide_commit(sites, votes);
                bool bad = false;
                bool missing = false;
                for (site_state s : votes) {
                    bad = bad || s == site_state::abort || s == site_state::dead ||
                          s == site_state::foreign;
                    missing = missing || s == site_state::absent || s == site_state::silent;
                }
                if (bad) {
                    REQUIRE(outcome);  // early: whatever the others do
                    CHECK_FALSE(outcome->committed);
                } else if (missing) {
                    CHECK_FALSE(outcome);
                } else {
                    REQUIRE(outcome);
                    CHECK(outcome->committed);
                }
            }
        }
    }
}

TEST_CASE("two-phase commit: nodes") {
    CHECK(identity_node("/app/tx", "1f") == "/app/tx/id-1f");
    CHECK(site_node("/app/tx", "a") == "/app/tx/site-a");
    CHECK(done_node("/app/tx", "a") == "/app/tx/done-a");
    CHECK(decision_node("/app/tx") == "/app/tx/decision");
}

TEST_CASE("two-phase commit: votes are due early enough to write the decision") {
    using namespace std::chrono_literals;
    const time_point begin(1h);
    auto due = [&](time_limit limit) { return decision_times(limit, begin).votes_due - begin; };
    auto over = [&](time_limit limit) { return decision_times(limit, begin).deadline - begin; };
    for (auto brief : {0ms, 30ms, 200ms}) {
        CHECK(over(brief) == 200ms);
        CHECK(due(brief) == 150ms);
    }
    CHECK(over(2s) == 2s);
    CHECK(due(2s) == 1'500ms);
    CHECK(over(1h) == 1h);
    CHECK(due(1h) == 1h - 1s);
    CHECK(decision_times(time_limit::for_ever(), begin).votes_due == no_deadline);
}

namespace {

this_transaction known_transaction() {
    commit_header header;
    header.guid = some_guid;
    this_transaction mine("/tx", acl());
    mine.is(header);
    return mine;
}

/// What a driver has come to.
struct verdict {
    std::optional<error_code> ec;
    outcome_slot outcome;
};

task<> abort_for(port& p, const this_transaction& mine, const interest* call, verdict& found) {
    found.ec = co_await write_abort(p, mine, "enough", found.outcome, call);
}

/// As in a `decide`.
task<> tally(port& p, const this_transaction& mine, verdict& found) {
    recipe_core core(p, "two-phase commit", "/tx");
    signal wake(p);
    outcome_call call(
        core, [](error_code, commit_outcome) {}, wake);
    alarm due(p, wake);
    session_signal states(p, wake);
    vote_tally votes(p, mine, {"a"}, nullptr, wake);
    found.ec = co_await votes.run(call, due, found.outcome);
}

/// As in a `vote` of a site whose session has ended since.
task<> await(port& p, const this_transaction& mine, verdict& found) {
    recipe_core core(p, "two-phase commit", "/tx");
    signal wake(p);
    outcome_call call(
        core, [](error_code, commit_outcome) {}, wake);
    alarm due(p, wake);
    session_signal states(p, wake);
    own_site own("a");
    own.has_node = true;
    own.generation = 1;
    found.ec = co_await await_decision(p, mine, own, wake, call, due, found.outcome);
}

void expect(scripted_port& p, const std::string& question, error_code ec = {}) {
    REQUIRE(p.asked() == question);
    p.answer(ec);
}

}  // namespace

TEST_CASE("two-phase commit: an abort waits for the quorum if nobody else can make it") {
    scripted_port p;
    const this_transaction mine = known_transaction();
    verdict found;
    auto without_quorum = [&] {
        p.set_state(session_state::read_only, 2);
        expect(p, "commit /tx", zk_errc::not_read_only);
        CHECK(p.asked().empty());
        CHECK_FALSE(found.ec);
        p.set_state(session_state::connected, 2);
    };
    SECTION("of a site, or a decider") {
        p.spawn(abort_for(p, mine, nullptr, found));
        without_quorum();
        expect(p, "commit /tx");
        CHECK(found.ec == error_code());
    }
    SECTION("also to read the decision of another one") {
        p.spawn(abort_for(p, mine, nullptr, found));
        expect(p, "commit /tx", zk_errc::node_exists);
        p.set_state(session_state::read_only, 2);
        expect(p, "sync /tx/decision", zk_errc::not_read_only);
        expect(p, "get /tx/decision", zk_errc::no_node);
        CHECK(p.asked().empty());
        CHECK_FALSE(found.ec);
        p.set_state(session_state::connected, 2);
        expect(p, "commit /tx", zk_errc::no_node);
        CHECK(found.ec == make_error_code(zk_errc::no_node));
    }
    SECTION("of the user") {
        user_call<> call(p, [](error_code) {});
        p.spawn(abort_for(p, mine, &call, found));
        SECTION("nothing is in doubt: refused") {
            p.set_state(session_state::read_only, 2);
            expect(p, "commit /tx", zk_errc::not_read_only);
            CHECK(found.ec == make_error_code(zk_errc::not_read_only));
        }
        SECTION("in doubt") {
            expect(p, "commit /tx", zk_errc::connection_loss);
            without_quorum();
            expect(p, "commit /tx");
            CHECK(found.ec == error_code());
        }
    }
    CHECK(p.asked().empty());
}

TEST_CASE("two-phase commit: a site that has voted waits for the quorum") {
    scripted_port p;
    const this_transaction mine = known_transaction();
    verdict found;
    p.set_state(session_state::read_only, 2);
    p.spawn(await(p, mine, found));
    expect(p, "get /tx/decision", zk_errc::no_node);
    expect(p, "exists /tx/decision", zk_errc::no_node);
    expect(p, "commit /tx", zk_errc::not_read_only);
    CHECK(p.asked().empty());
    CHECK_FALSE(found.ec);
    p.set_state(session_state::connected, 2);
    expect(p, "commit /tx");
    CHECK(found.ec == error_code());
    CHECK(found.outcome);
    CHECK(p.asked().empty());
}

TEST_CASE("two-phase commit: what a server without a quorum does not have has not died") {
    scripted_port p;
    watch_registry watches;
    const this_transaction mine = known_transaction();
    verdict found;
    auto vote = [&](const std::string& data) {
        REQUIRE(p.asked() == "get /tx/site-a");
        p.front().record.czxid = 7;
        p.front().answer = data;
        watches.armed(watch_kind::data, "/tx/site-a", 1, p.front().watcher());
        p.answer();
    };
    auto undecided = [&] {
        expect(p, "get /tx/decision", zk_errc::no_node);
        expect(p, "exists /tx/decision", zk_errc::no_node);
    };
    p.spawn(tally(p, mine, found));
    undecided();
    vote("");
    REQUIRE(p.asked() == "exists " + mine.identity);
    watches.armed(watch_kind::data, mine.identity, 1, p.front().watcher());
    p.answer();
    CHECK(p.asked().empty());
    watches.drop_all(zk_errc::session_expired);
    p.set_state(session_state::read_only, 2);
    undecided();
    CHECK(p.asked().empty());
    p.set_state(session_state::connected, 2);
    expect(p, "get /tx/decision", zk_errc::no_node);
    REQUIRE(p.asked() == "sync /tx/decision");
    p.front().sent_in = 2;  // it has caught up
    p.answer();
    expect(p, "exists /tx/decision", zk_errc::no_node);
    vote("commit");
    REQUIRE(p.asked() == "commit /tx");
    p.answer(zk_errc::connection_loss);
    undecided();
    // Whether the lost one was written, only a quorum says.
    expect(p, "commit /tx", zk_errc::not_read_only);
    CHECK_FALSE(found.ec);
    undecided();
    expect(p, "commit /tx");
    CHECK(found.ec == error_code());
    REQUIRE(found.outcome);
    CHECK(found.outcome->committed);
    CHECK(p.asked().empty());
}

}  // namespace corozk::testing::two_phase_commit_test
