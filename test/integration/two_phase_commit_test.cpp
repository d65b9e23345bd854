// SPDX-License-Identifier: Apache-2.0
#include "two_sites.hpp"

#include <deque>

namespace corozk::testing::two_phase_commit_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

/// Leaves a decider a second, from when votes are due, to write the decision.
constexpr std::chrono::seconds deciders_limit{4};

std::vector<std::string> names(std::size_t count) {
    std::vector<std::string> result;
    for (std::size_t i = 0; i < count; ++i)
        result.push_back("s" + std::to_string(i));
    return result;
}

/// A site with a client of its own.
struct participant {
    participant(client c, const std::string& path, const std::string& name)
        : zk(std::move(c)), site(zk, path, name) {}
    client zk;
    commit_site site;
    pending_result<commit_transaction> joining;
    outcome_result voting;
};

awaitable<void> add(std::deque<participant>& sites, const std::string& path) {
    client c = co_await one_more_client();
    sites.emplace_back(std::move(c), path, "s" + std::to_string(sites.size()));
}

}  // namespace

TEST_CASE("two-phase commit: all commit, in both forms; finish and clean up") {
    for (commit_form form : commit_forms) {
        with_client([form](client& zk, std::string path) -> awaitable<void> {
            std::string tx = path + "/deep/tx";
            std::deque<participant> sites;
            for (int i = 0; i < 3; ++i)
                co_await add(sites, tx);
            sites[0].site.join(sites[0].joining.handler());  // before it has begun
            co_await settle(sites[0].zk);
            CHECK_FALSE(sites[0].joining.done());
            commit_coordinator c(zk, tx, with_form(form));
            auto all = names(3);
            co_await c.begin(all, "the payload");
            auto [ec] = co_await c.begin(all, "again", as_tuple());
            CHECK(ec == errc::already_exists);
            for (std::size_t i = 1; i < 3; ++i)
                sites[i].site.join(sites[i].joining.handler());
            for (participant& s : sites) {
                CHECK(!co_await finished(s.joining));
                CHECK(s.joining.value().payload == "the payload");
                CHECK(s.joining.value().sites == all);
                CHECK(s.joining.value().form == form);
                CHECK_FALSE(s.joining.value().outcome);
            }
            outcome_result deciding;
            c.decide(deciding.handler());
            sites[0].site.vote(commit_vote::commit, sites[0].voting.handler());
            sites[1].site.vote(commit_vote::commit, sites[1].voting.handler());
            for (participant& s : sites)
                co_await settle(s.zk);
            CHECK_FALSE(deciding.done());
            CHECK_FALSE(sites[0].voting.done());
            std::tie(ec) = co_await sites[0].site.finish(as_tuple());
            CHECK(ec == errc::in_doubt);
            std::tie(ec) = co_await c.clean_up(false, as_tuple());
            CHECK(ec == errc::in_doubt);
            sites[2].site.vote(commit_vote::commit, sites[2].voting.handler());
            CHECK(!co_await finished(deciding));
            CHECK(deciding.value().committed);
            for (participant& s : sites) {
                CHECK(!co_await finished(s.voting));
                CHECK(s.voting.value().committed);
            }
            CHECK(observer().data(tx + "/decision").starts_with("commit\n"));
            commit_outcome late = co_await c.abort("too late");
            CHECK(late.committed);
            co_await sites[0].site.finish();
            std::tie(ec) = co_await c.clean_up(false, as_tuple());
            CHECK(ec == errc::busy);
            // A site that was away learns it after all others are gone.
            co_await sites[2].zk.close();
            commit_site back(zk, tx, "s2");
            commit_transaction found = co_await back.join();
            REQUIRE(found.outcome);
            CHECK(found.outcome->committed);
            co_await back.finish();
            co_await sites[1].site.finish();
            co_await c.clean_up();
            CHECK_FALSE(observer().exists(tx));
            co_await c.clean_up();
            co_await eventually_async([&] { return watches_below(path) == 0; });
            co_await sites[0].zk.close();
            co_await sites[1].zk.close();
        });
    }
}

TEST_CASE("two-phase commit: one abort decides early") {
    for (commit_form form : commit_forms) {
        with_client([form](client& zk, std::string path) -> awaitable<void> {
            std::deque<participant> sites;
            for (int i = 0; i < 3; ++i)
                co_await add(sites, path);
            commit_coordinator c(zk, path, with_form(form));
            auto all = names(3);
            co_await c.begin(all, "");
            outcome_result deciding;
            c.decide(deciding.handler());
            for (std::size_t i = 0; i < 2; ++i)
                co_await sites[i].site.join();
            sites[0].site.vote(commit_vote::commit, sites[0].voting.handler());
            co_await settle(sites[0].zk);
            CHECK_FALSE(sites[0].voting.done());
            commit_outcome o = co_await sites[1].site.vote(commit_vote::abort);
            CHECK_FALSE(o.committed);
            CHECK(o.reason == "site s1 voted to abort");
            CHECK(!co_await finished(sites[0].voting));
            CHECK_FALSE(sites[0].voting.value().committed);
            CHECK(!co_await finished(deciding));
            CHECK_FALSE(deciding.value().committed);
            commit_transaction found = co_await sites[2].site.join();  // comes late
            REQUIRE(found.outcome);
            CHECK(found.outcome->reason == o.reason);
            for (participant& s : sites)
                co_await s.zk.close();
        });
    }
}

TEST_CASE("two-phase commit: a site that dies before or after its vote means abort") {
    for (commit_form form : commit_forms) {
        for (bool voted : {false, true}) {
            with_client([form, voted](client& zk, std::string path) -> awaitable<void> {
                std::deque<participant> sites;
                for (int i = 0; i < 3; ++i)
                    co_await add(sites, path);
                commit_coordinator c(zk, path, with_form(form));
                auto all = names(3);
                co_await c.begin(all, "");
                outcome_result deciding;
                c.decide(deciding.handler());
                for (participant& s : sites)
                    co_await s.site.join();
                sites[0].site.vote(commit_vote::commit, sites[0].voting.handler());
                if (voted)
                    sites[1].site.vote(commit_vote::commit, sites[1].voting.handler());
                for (participant& s : sites)
                    co_await settle(s.zk);
                co_await sites[1].zk.close();
                CHECK(!co_await finished(sites[0].voting));
                CHECK_FALSE(sites[0].voting.value().committed);
                CHECK(sites[0].voting.value().reason == "site s1 died");
                CHECK(!co_await finished(deciding));
                commit_outcome o = co_await sites[2].site.vote(commit_vote::commit);
                CHECK_FALSE(o.committed);
                co_await sites[0].zk.close();
                co_await sites[2].zk.close();
            });
        }
    }
}

TEST_CASE("two-phase commit: a site that died before anybody looked means abort, too") {
    for (commit_form form : commit_forms) {
        with_client([form](client& zk, std::string path) -> awaitable<void> {
            auto two = names(2);
            commit_coordinator c(zk, path, with_form(form));
            co_await c.begin(two, "");
            client doomed = co_await one_more_client();
            commit_site dead(doomed, path, "s1");
            co_await dead.join();
            co_await doomed.close();
            commit_site a(zk, path, "s0");
            co_await a.join();
            outcome_result deciding;
            c.decide(deciding.handler());
            commit_outcome o = co_await a.vote(commit_vote::commit);
            CHECK(o.reason == "site s1 died");
            CHECK(!co_await finished(deciding));
        });
    }
}

TEST_CASE("two-phase commit: nobody lives to vote") {
    for (commit_form form : commit_forms) {
        with_client([form](client& zk, std::string path) -> awaitable<void> {
            commit_coordinator c(zk, path, with_form(form));
            co_await c.begin(names(1), "");
            client doomed = co_await one_more_client();
            commit_site only(doomed, path, "s0");
            co_await only.join();
            co_await doomed.close();
            commit_outcome o = co_await c.decide();
            CHECK_FALSE(o.committed);
            CHECK(o.reason == "site s0 died");
        });
    }
}

TEST_CASE("two-phase commit: deadlines") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        // First form: the site whose time is over aborts.
        auto two = names(2);
        {
            commit_coordinator c(zk, path + "/1", with_form(commit_form::all_sites));
            co_await c.begin(two, "");
            commit_site s(zk, path + "/1", "s0");
            co_await s.join();
            commit_outcome o = co_await s.vote_for(commit_vote::commit, deciders_limit);
            CHECK_FALSE(o.committed);
            CHECK(o.reason == "the deadline passed");
            o = co_await c.decide();
            CHECK_FALSE(o.committed);
        }
        // Second form: it is in doubt, until somebody goes on as the coordinator.
        std::string tx = path + "/2";
        two_sites second(zk, zk, zk, tx, commit_form::coordinator);
        co_await second.begin();
        second.coordinator.reset();
        auto [ec, none] = co_await second.mine.vote_for(commit_vote::commit, 30ms, as_tuple());
        CHECK(ec == errc::in_doubt);
        co_await settle(zk);  // until its response the same vote could be given again
        std::tie(ec, none) = co_await second.mine.vote(commit_vote::commit, as_tuple());
        CHECK(ec == errc::busy);
        std::tie(ec, none) = co_await second.mine.wait_outcome_for(30ms, as_tuple());
        CHECK(ec == errc::in_doubt);
        outcome_result waiting, voting;
        second.mine.wait_outcome(waiting.handler());
        second.other.vote(commit_vote::commit, voting.handler());
        co_await settle(zk);
        CHECK_FALSE(waiting.done());
        CHECK_FALSE(voting.done());
        commit_coordinator next(zk, tx);
        std::tie(ec, none) = co_await next.decide(as_tuple());
        CHECK(ec == errc::not_a_member);
        commit_transaction found = co_await next.resume();
        CHECK(found.form == commit_form::coordinator);
        commit_outcome o = co_await next.decide();
        CHECK(o.committed);
        CHECK(!co_await finished(waiting));
        CHECK(waiting.value().committed);
        CHECK(!co_await finished(voting));
        // The coordinator's deadline, with a site that never comes.
        tx = path + "/3";
        commit_coordinator c(zk, tx, with_form(commit_form::coordinator));
        co_await c.begin(two, "");
        o = co_await c.decide_for(deciders_limit);
        CHECK_FALSE(o.committed);
    });
}

TEST_CASE("two-phase commit: a dead coordinator does not stop the first form") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client doomed = co_await one_more_client();
        two_sites tx(doomed, zk, zk, path, commit_form::all_sites);
        co_await tx.begin();
        co_await doomed.close();
        tx.coordinator.reset();
        outcome_result voting;
        tx.mine.vote(commit_vote::commit, voting.handler());
        commit_outcome o = co_await tx.other.vote(commit_vote::commit);
        CHECK(o.committed);
        CHECK(!co_await finished(voting));
        CHECK(voting.value().committed);
    });
}

TEST_CASE(
    "two-phase commit: messages grow with the square in the first form, linearly in the second") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        auto run_one = [&](commit_form form, std::size_t n) -> awaitable<std::uint64_t> {
            std::string tx = path + "/" + std::to_string(n) + (form == commit_forms[0] ? "a" : "b");
            commit_coordinator c(zk, tx, with_form(form));
            auto all = names(n);
            co_await c.begin(all, "");
            std::deque<commit_site> sites;
            std::deque<outcome_result> votes(n);
            for (std::size_t i = 0; i < n; ++i)
                sites.emplace_back(zk, tx, all[i]);
            for (commit_site& s : sites)
                co_await s.join();
            std::uint64_t before = zk.counters().requests;
            outcome_result deciding;
            c.decide(deciding.handler());
            for (std::size_t i = 0; i < n; ++i) {
                sites[i].vote(commit_vote::commit, votes[i].handler());
            }
            for (outcome_result& v : votes)
                CHECK(!co_await finished(v));
            CHECK(!co_await finished(deciding));
            co_return zk.counters().requests - before;
        };
        std::uint64_t a_10 = co_await run_one(commit_form::all_sites, 10);
        std::uint64_t a_20 = co_await run_one(commit_form::all_sites, 20);
        std::uint64_t b_10 = co_await run_one(commit_form::coordinator, 10);
        std::uint64_t b_20 = co_await run_one(commit_form::coordinator, 20);
        CHECK(a_10 >= 100);
        CHECK(a_20 >= 3 * a_10);
        CHECK(b_10 <= 80);
        CHECK(b_20 <= 160);
    });
}

TEST_CASE("two-phase commit: who waits hears when others delete the transaction") {
    for (commit_form form : commit_forms) {
        with_client([form](client& zk, std::string path) -> awaitable<void> {
            std::string tx = path + "/tx";
            std::deque<participant> sites;
            for (int i = 0; i < 2; ++i)
                co_await add(sites, tx);
            commit_coordinator c(zk, tx, with_form(form));
            auto all = names(3);  // one of them never comes
            co_await c.begin(all, "");
            for (participant& s : sites) {
                s.site.join(s.joining.handler());
                CHECK(!co_await finished(s.joining));
                s.site.vote(commit_vote::commit, s.voting.handler());
                co_await settle(s.zk);
            }
            outcome_result deciding;
            c.decide(deciding.handler());
            co_await settle(zk);
            CHECK_FALSE(deciding.done());
            observer().erase_recursively(tx);
            CHECK(co_await finished(deciding) == zk_errc::no_node);
            for (participant& s : sites) {
                CHECK(co_await finished(s.voting) == zk_errc::no_node);
                co_await s.zk.close();
            }
            co_await eventually_async([&] { return watches_below(path) == 0; });
        });
    }
}

TEST_CASE("two-phase commit: who has to do with a transaction does nothing to the next one there") {
    for (commit_form form : commit_forms) {
        with_client([form](client& zk, std::string path) -> awaitable<void> {
            std::string tx = path + "/tx";
            auto all = names(2);
            std::deque<participant> sites;
            for (int i = 0; i < 2; ++i)
                co_await add(sites, tx);
            commit_coordinator first(zk, tx, with_form(form));
            co_await first.begin(all, "the first");
            for (participant& s : sites) {
                s.site.join(s.joining.handler());
                CHECK(!co_await finished(s.joining));
            }
            outcome_result waiting;
            sites[0].site.vote(commit_vote::commit, sites[0].voting.handler());
            first.decide(waiting.handler());
            co_await settle(zk);
            observer().erase_recursively(tx);
            CHECK(co_await finished(sites[0].voting) == zk_errc::no_node);
            CHECK(co_await finished(waiting) == zk_errc::no_node);

            commit_coordinator second(zk, tx, with_form(form));
            co_await second.begin(all, "the second");
            std::deque<participant> others;
            for (int i = 0; i < 2; ++i) {
                co_await add(others, tx);
                others.back().site.join(others.back().joining.handler());
                CHECK(!co_await finished(others.back().joining));
            }
            // Of the first, neither votes nor outcomes nor orders are taken for the second's.
            auto [ec, outcome] = co_await sites[1].site.vote(commit_vote::commit, as_tuple());
            CHECK(ec == zk_errc::no_node);
            CHECK(observer().data(tx + "/site-s1").empty());
            std::tie(ec, outcome) = co_await first.abort("late", as_tuple());
            CHECK(ec == zk_errc::no_node);
            CHECK_FALSE(observer().exists(tx + "/decision"));
            co_await second.abort("not yet");
            std::tie(ec, outcome) = co_await first.decide(as_tuple());
            CHECK(ec == zk_errc::no_node);
            co_await first.clean_up(true);
            // A site that was away asks for the one that is there.
            commit_site away(zk, tx, "s0");
            outcome = co_await away.wait_outcome();
            CHECK(outcome.reason == "not yet");
            co_await away.finish();
            CHECK(observer().exists(tx + "/done-s0"));
            for (participant& s : sites) {
                s.site = commit_site();
                co_await s.zk.close();
            }
            CHECK(observer().exists(tx + "/decision"));
            CHECK(observer().exists(tx + "/site-s0"));
            CHECK(observer().exists(tx + "/site-s1"));
            co_await second.clean_up(true);
            CHECK_FALSE(observer().exists(tx));
            for (participant& s : others)
                co_await s.zk.close();
        });
    }
}

TEST_CASE("two-phase commit: misuse and strangers") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        commit_coordinator c(zk, path);
        std::vector<std::string> none;
        std::vector<std::string> twice{"a", "a"};
        std::vector<std::string> one{"a"};
        auto [ec] = co_await c.begin(none, "", as_tuple());
        CHECK(ec == errc::bad_option);
        std::tie(ec) = co_await c.begin(twice, "", as_tuple());
        CHECK(ec == errc::bad_option);
        std::string large(2'000'000, 'x');
        std::tie(ec) = co_await c.begin(one, large, as_tuple());
        CHECK(ec == errc::too_large);
        CHECK_FALSE(observer().exists(path));
        co_await c.begin(one, "");
        commit_site stranger(zk, path, "b");
        auto [ec2, t] = co_await stranger.join(as_tuple());
        CHECK(ec2 == errc::not_a_member);
        commit_outcome o;
        std::tie(ec, o) = co_await stranger.vote(commit_vote::commit, as_tuple());
        CHECK(ec == errc::not_a_member);
        commit_site a(zk, path, "a");
        commit_site same(zk, path, "a");
        co_await a.join();
        std::tie(ec2, t) = co_await same.join(as_tuple());
        CHECK(ec2 == errc::already_exists);
        std::tie(ec2, t) = co_await a.join(as_tuple());
        CHECK(ec2 == errc::busy);
        observer().set(path + "/site-a", "garbage");
        std::tie(ec, o) = co_await a.vote(commit_vote::commit, as_tuple());
        CHECK(ec == errc::foreign_data);
        observer().plant(path + "-x", "somebody's");
        commit_site x(zk, path + "-x", "a");
        std::tie(ec2, t) = co_await x.join(as_tuple());
        CHECK(ec2 == errc::foreign_data);
        commit_site empty;
        std::tie(ec2, t) = co_await empty.join(as_tuple());
        CHECK(ec2 == errc::closed);
        // Destroying an undecided site is its death.
        a = commit_site();
        co_await eventually_async([&] { return !observer().exists(path + "/site-a"); });
        o = co_await c.decide_for(deciders_limit);
        CHECK_FALSE(o.committed);
        pending_result<commit_transaction> waits;
        commit_site never(zk, path + "-never", "a");
        never.join(waits.handler());
        co_await settle(zk);
        waits.cancel();
        CHECK(co_await finished(waits) == boost::asio::error::operation_aborted);
        co_await eventually_async([&] { return watches_below(path + "-never") == 0; });
    });
}

}  // namespace corozk::testing::two_phase_commit_test
