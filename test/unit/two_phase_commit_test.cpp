// SPDX-License-Identifier: Apache-2.0
#include "recipe/two_phase_commit/decision.hpp"
#include "recipe/two_phase_commit/rule.hpp"

#include <catch2/catch.hpp>

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

}  // namespace corozk::testing::two_phase_commit_test
