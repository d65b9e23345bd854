// SPDX-License-Identifier: Apache-2.0
#include "lagging_server.hpp"
#include "two_sites.hpp"

namespace corozk::testing::two_phase_commit_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

const std::vector<std::string> alone{"mine"};
const std::vector<std::string> two{"mine", "other"};

}  // namespace

TEST_CASE("two-phase commit: a site cut off learns the decision that was made without it") {
    boost::asio::io_context context;
    fault_proxy proxy(shared_server().port());
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connect_to(proxy.hosts(), steady_session);
        client clean = co_await one_more_client();
        std::string path = fresh_path();
        two_sites tx(clean, zk, clean, path, commit_form::coordinator);
        co_await tx.begin();
        // The vote is applied; its answer and the connection are gone.
        proxy.arm(at_op(op_code::multi), swallow_reply_and_cut().then_refuse());
        outcome_result voting, other_votes;
        tx.mine.vote(commit_vote::commit, voting.handler());
        commit_outcome d;
        tx.other.vote(commit_vote::commit, other_votes.handler());
        d = co_await tx.coordinator->decide();
        CHECK(d.committed);
        CHECK_FALSE(voting.done());
        co_await accept_again(proxy, zk);
        CHECK(!co_await finished(voting));
        CHECK(voting.value().committed);
        // Without a connection a deadline means: in doubt.
        std::string second = path + "-2";
        commit_coordinator c2(clean, second, with_form(commit_form::coordinator));
        co_await c2.begin(two, "");
        commit_site mine2(zk, second, "mine");
        co_await mine2.join();
        rule_id rule = proxy.arm(at_op(op_code::get_data).under(second + "/decision"),
                                 drop_request_and_cut().then_refuse());
        auto [ec, o] = co_await mine2.vote_for(commit_vote::commit, 5s, as_tuple());
        CHECK(proxy.fired(rule) == 1);
        CHECK(ec == errc::in_doubt);
        co_await accept_again(proxy, zk);
        d = co_await c2.abort("enough");
        o = co_await mine2.wait_outcome();
        CHECK(o.reason == "enough");
        co_await zk.close(as_tuple());
        co_await clean.close();
    });
    run_to_idle(context);
}

TEST_CASE("two-phase commit: a deadline without a connection: in doubt only if a vote was sent") {
    for (commit_form form : commit_forms) {
        with_proxy(
            [form](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
                client clean = co_await one_more_client();
                commit_coordinator c(clean, path, with_form(form));
                co_await c.begin(alone, "");
                commit_site mine(zk, path, "mine");
                co_await mine.join();
                // The vote is applied; its answer and the connection are gone.
                proxy.arm(at_op(op_code::multi), swallow_reply_and_cut().then_refuse());
                auto [ec, o] = co_await mine.vote_for(commit_vote::commit, 5s, as_tuple());
                CHECK(ec == errc::in_doubt);
                CHECK(observer().data(path + "/site-mine") == "commit");
                outcome_result deciding;
                c.decide(deciding.handler());
                co_await accept_again(proxy, zk);
                o = co_await mine.wait_outcome();
                CHECK(o.committed);
                CHECK(!co_await finished(deciding));
                co_await clean.close();
            },
            run_limit,
            steady_session);
    }
}

TEST_CASE(
    "two-phase commit: a vote to abort that is answered when decisions are due is the decision") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        commit_coordinator c(zk, path, with_form(commit_form::all_sites));
        co_await c.begin(alone, "");
        commit_site mine(zk, path, "mine");
        co_await mine.join();
        const rule_id held = proxy.arm(at_op(op_code::multi), hold_reply());
        outcome_result voting;
        mine.vote_for(commit_vote::abort, 2s, voting.handler());
        // A decision is due after three of them.
        boost::asio::steady_timer due(zk.get_executor(), 1'550ms);
        co_await due.async_wait(boost::asio::use_awaitable);
        proxy.release(held);
        // On a slow machine the call's deadline comes first.
        error_code ec = co_await finished(voting);
        CHECK((!ec || ec == errc::in_doubt));
        CHECK_FALSE(voting.value().committed);
        CHECK(voting.calls() == 1);
    });
}

TEST_CASE("two-phase commit: a vote that was lost may be given again, but not another one") {
    for (commit_form form : commit_forms) {
        with_proxy(
            [form](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
                client clean = co_await one_more_client();
                commit_coordinator c(clean, path, with_form(form));
                co_await c.begin(alone, "");
                commit_site mine(zk, path, "mine");
                co_await mine.join();
                proxy.arm(at_op(op_code::multi), drop_request_and_cut().then_refuse());
                auto [ec, o] = co_await mine.vote_for(commit_vote::commit, 2s, as_tuple());
                CHECK(ec == errc::in_doubt);
                std::tie(ec, o) = co_await mine.vote(commit_vote::abort, as_tuple());
                CHECK(ec == errc::busy);
                outcome_result deciding;
                c.decide(deciding.handler());
                co_await accept_again(proxy, zk);
                o = co_await mine.vote(commit_vote::commit);
                CHECK(o.committed);
                CHECK(!co_await finished(deciding));
                co_await clean.close();
            },
            run_limit,
            steady_session);
    }
}

TEST_CASE("two-phase commit: a vote that nobody waits for any more is not given afterwards") {
    for (bool cancelled : {false, true}) {
        with_proxy(
            [cancelled](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
                client clean = co_await one_more_client();
                two_sites tx(clean, zk, clean, path, commit_form::all_sites);
                co_await tx.begin();
                proxy.set_acceptance(acceptance::not_listening);
                proxy.cut();
                co_await eventually_async([&] { return zk.state() == session_state::suspended; });
                outcome_result voting;
                if (cancelled) {
                    tx.mine.vote(commit_vote::commit, voting.handler());
                    voting.cancel();
                } else {
                    tx.mine.vote_for(commit_vote::commit, 100ms, voting.handler());
                }
                error_code ec = co_await finished(voting);
                CHECK(ec == (cancelled ? make_error_code(boost::asio::error::operation_aborted)
                                       : make_error_code(errc::deadline_exceeded)));
                proxy.set_acceptance(acceptance::normal);
                co_await eventually_async([&] { return zk.state() == session_state::connected; });
                co_await settle(zk);
                CHECK(observer().data(path + "/site-mine").empty());
                // It can be given again.
                outcome_result again, other_votes;
                tx.mine.vote(commit_vote::commit, again.handler());
                tx.other.vote(commit_vote::commit, other_votes.handler());
                CHECK(!co_await finished(again));
                CHECK(!co_await finished(other_votes));
                CHECK(again.value().committed);
                co_await clean.close();
            },
            run_limit,
            steady_session);
    }
}

TEST_CASE(
    "two-phase commit: the server of a decider's new session lags behind: no site seems dead") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client clean = co_await one_more_client();
        two_sites tx(zk, clean, clean, path, commit_form::coordinator);
        co_await tx.begin();
        outcome_result deciding, mine_votes;
        tx.coordinator->decide(deciding.handler());
        co_await settle(zk);  // it has seen both
        co_await next_session_lags(zk, proxy, path);
        tx.mine.vote(commit_vote::commit, mine_votes.handler());
        commit_outcome o = co_await tx.other.vote(commit_vote::commit);
        CHECK(o.committed);
        CHECK(!co_await finished(deciding));
        CHECK(deciding.value().committed);
        CHECK(!co_await finished(mine_votes));
        co_await clean.close();
    });
}

TEST_CASE("two-phase commit: a vote that was not sent may be changed") {
    with_proxy([](client& zk, fault_proxy&, std::string path) -> awaitable<void> {
        two_sites tx(zk, zk, zk, path, commit_form::all_sites);
        co_await tx.begin();
        outcome_result voting;
        tx.mine.vote(commit_vote::commit, voting.handler());
        voting.cancel();
        CHECK(co_await finished(voting) == boost::asio::error::operation_aborted);
        commit_outcome o = co_await tx.mine.vote(commit_vote::abort);
        CHECK(o.reason == "site mine voted to abort");
    });
}

TEST_CASE("two-phase commit: a site whose join was undone has not died") {
    with_proxy(
        [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            client clean = co_await one_more_client();
            commit_coordinator c(clean, path, with_form(commit_form::coordinator));
            co_await c.begin(alone, "");
            outcome_result deciding;
            c.decide(deciding.handler());
            commit_site mine(zk, path, "mine");
            const rule_id joining = proxy.arm(at_op(op_code::multi), hold_reply());
            pending_result<commit_transaction> join;
            mine.join_for(5s, join.handler());
            co_await eventually_async([&] { return observer().exists(path + "/site-mine"); });
            CHECK(co_await finished(join) == errc::deadline_exceeded);
            co_await settle(clean);  // the decider has seen it
            proxy.release(joining);
            co_await eventually_async([&] { return !observer().exists(path + "/site-mine"); });
            co_await settle(clean);
            CHECK_FALSE(deciding.done());
            co_await mine.join();
            commit_outcome o = co_await mine.vote(commit_vote::commit);
            CHECK(o.committed);
            CHECK(!co_await finished(deciding));
            CHECK(deciding.value().committed);
            co_await clean.close();
        },
        run_limit,
        steady_session);
}

TEST_CASE("two-phase commit: another object of the client is the site, and the response is lost") {
    for (const bool given_up : {false, true}) {
        CAPTURE(given_up);
        auto body = [given_up](
                        client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            commit_coordinator c(zk, path);
            co_await c.begin(alone, "");
            commit_site mine(zk, path, "mine");
            co_await mine.join();
            commit_site same(zk, path, "mine");
            action lost = swallow_reply_and_cut();
            if (given_up)
                lost = std::move(lost).then_refuse();
            proxy.arm(at_op(op_code::multi), std::move(lost));
            pending_result<commit_transaction> joining;
            same.join(joining.handler());
            if (given_up) {
                co_await eventually_async([&] { return zk.state() == session_state::suspended; });
                joining.cancel();
                proxy.set_acceptance(acceptance::normal);
                co_await eventually_async([&] { return zk.state() == session_state::connected; });
                co_await settle(zk);
            }
            const error_code ec = co_await finished(joining);
            if (given_up)
                CHECK(ec == boost::asio::error::operation_aborted);
            else
                CHECK(ec == errc::already_exists);
            CHECK(observer().exists(path + "/site-mine"));
            auto [voted, o] = co_await mine.vote(commit_vote::commit, as_tuple());
            CHECK(!voted);
            CHECK(o.committed);
        };
        with_proxy(body, run_limit, steady_session);
    }
}

TEST_CASE("two-phase commit: a join in doubt that has ended is undone before the next one begins") {
    with_proxy(
        [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            commit_coordinator c(zk, path);
            co_await c.begin(alone, "");
            commit_site mine(zk, path, "mine");
            proxy.arm(at_op(op_code::multi), swallow_reply_and_cut().then_refuse());
            pending_result<commit_transaction> ended, joining;
            mine.join(ended.handler());
            co_await eventually_async([&] { return zk.state() == session_state::suspended; });
            const auto earlier = observer().stat(path + "/joined-mine");
            REQUIRE(earlier);
            ended.cancel();
            mine.join(joining.handler());
            auto [busy, t] = co_await mine.join(as_tuple());
            CHECK(busy == errc::busy);
            co_await accept_again(proxy, zk);
            CHECK(!co_await finished(joining));
            co_await settle(zk);
            const auto present = observer().stat(path + "/joined-mine");
            REQUIRE(present);
            CHECK(present->czxid != earlier->czxid);
            auto [voted, o] = co_await mine.vote(commit_vote::commit, as_tuple());
            CHECK(!voted);
            CHECK(o.committed);
        },
        run_limit,
        steady_session);
}

TEST_CASE("two-phase commit: a join after others that have ended learns what has been decided") {
    with_proxy(
        [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            commit_coordinator c(zk, path);
            co_await c.begin(alone, "payload");
            co_await c.abort("enough");
            auto learns = [](commit_site& site) -> awaitable<void> {
                auto [ec, t] = co_await site.join(as_tuple());
                CHECK(!ec);
                CHECK(t.payload == "payload");
                REQUIRE(t.outcome);
                CHECK(t.outcome->reason == "enough");
            };
            commit_site mine(zk, path, "mine");
            const rule_id held =
                proxy.arm(at_op(op_code::get_data).under(path + "/decision"), hold_reply());
            pending_result<commit_transaction> ended, also_ended, joining;
            mine.join(ended.handler());
            co_await eventually_async([&] { return proxy.fired(held) == 1; });
            ended.cancel();
            mine.join(also_ended.handler());
            also_ended.cancel();
            CHECK(co_await finished(also_ended) == boost::asio::error::operation_aborted);
            mine.join(joining.handler());
            proxy.release(held);
            CHECK(!co_await finished(joining));
            co_await learns(mine);
            // It has been told the outcome, but not what was decided.
            commit_site away(zk, path, "mine");
            co_await away.wait_outcome();
            co_await learns(away);
        },
        run_limit,
        steady_session);
}

TEST_CASE("two-phase commit: a join that is undone while another client looks is no death") {
    for (const bool joins_again : {false, true}) {
        CAPTURE(joins_again);
        auto body = [joins_again](
                        client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            client clean = co_await connect_to(shared_server().hosts(), steady_session);
            const std::string node = path + "/site-mine";
            const std::string joined = path + "/joined-mine";
            const create_options bound{.mode = create_mode::ephemeral};
            transaction join, undo;
            join.create(joined, "").create(node, "", bound);
            undo.erase(node).erase(joined);
            commit_coordinator c(clean, path);
            co_await c.begin(alone, "");
            co_await clean.commit(join);
            const rule_id look = proxy.arm(at_op(op_code::get_data).under(node), hold_request());
            const rule_id second_look =
                proxy.arm(at_op(op_code::exists).under(joined), hold_request());
            commit_site mine(zk, path, "mine");
            pending_result<commit_transaction> joining;
            mine.join(joining.handler());
            co_await eventually_async([&] { return proxy.fired(look) == 1; });
            co_await clean.commit(undo);
            if (!joins_again)
                proxy.release(second_look);
            proxy.release(look);
            if (joins_again) {
                co_await eventually_async([&] { return proxy.fired(second_look) == 1; });
                co_await clean.commit(join);
                proxy.release(second_look);
                co_await settle(zk);
                CHECK_FALSE(joining.done());
                co_await clean.commit(undo);
            }
            CHECK(!co_await finished(joining));
            CHECK_FALSE(joining.value().outcome);
            CHECK_FALSE(observer().exists(path + "/decision"));
            co_await clean.close();
        };
        with_proxy(body, run_limit, steady_session);
    }
}

TEST_CASE("two-phase commit: whatever happens to the second look for a site that has gone") {
    enum class event : std::uint8_t { lost, unanswered, cut, cancelled, expired };
    for (const bool undone : {false, true}) {
        for (const event what :
             {event::lost, event::unanswered, event::cut, event::cancelled, event::expired}) {
            CAPTURE(undone, static_cast<int>(what));
            auto body = [&](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
                client clean = co_await connect_to(shared_server().hosts(), steady_session);
                client mortal = co_await connect_to(shared_server().hosts(), steady_session);
                commit_coordinator c(zk, path, with_form(commit_form::coordinator));
                co_await c.begin(alone, "");
                commit_site dies(mortal, path, "mine");
                co_await dies.join();
                outcome_result deciding, again;
                c.decide(deciding.handler());
                co_await settle(zk);  // it has seen the site
                auto second_look = at_op(op_code::exists, 2).under(path + "/joined-mine");
                action fault = hold_request();
                if (what == event::lost)
                    fault = drop_request_and_cut().then_refuse();
                else if (what == event::unanswered)
                    fault = swallow_reply_and_cut().then_refuse();
                else if (what == event::cut)
                    fault = cut_after_reply().then_refuse();
                const rule_id rule = proxy.arm(std::move(second_look), std::move(fault));
                co_await mortal.close();
                co_await eventually_async([&] { return proxy.fired(rule) == 1; });
                if (undone)
                    observer().erase(path + "/joined-mine");
                if (what == event::cancelled) {
                    deciding.cancel();
                    CHECK(co_await finished(deciding) == boost::asio::error::operation_aborted);
                    proxy.release(rule);
                    c.decide(again.handler());
                } else if (what == event::expired) {
                    expire(proxy.session());
                    proxy.cut();
                } else {
                    co_await accept_again(proxy, zk);
                }
                outcome_result& result = what == event::cancelled ? again : deciding;
                if (undone && what != event::cut) {
                    co_await settle(zk);
                    CHECK_FALSE(result.done());
                    commit_site mine(clean, path, "mine");
                    co_await mine.join();
                    commit_outcome o = co_await mine.vote(commit_vote::commit);
                    CHECK(o.committed);
                }
                CHECK(!co_await finished(result));
                CHECK(result.value().committed == (undone && what != event::cut));
                CHECK(deciding.calls() == 1);
                CHECK(observer().stat(path + "/decision")->version == 0);
                co_await clean.close();
            };
            with_proxy(body, run_limit, steady_session);
        }
    }
}

TEST_CASE(
    "two-phase commit: cleaning up, interrupted, with as many sites as a request has room for") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client_options options(proxy.hosts());
        options.session_timeout = 60s;
        options.max_request_size = 4096;
        client small(zk.get_executor(), options);
        co_await small.connect();
        commit_coordinator c(small, path);
        std::vector<std::string> names;
        for (int i = 0; i < 100; ++i)
            names.push_back("site-" + std::to_string(i));
        for (error_code ec = errc::too_large; ec == errc::too_large;) {
            names.pop_back();
            auto [begun] = co_await c.begin(names, "", as_tuple());
            ec = begun;
            REQUIRE((!ec || ec == errc::too_large));
        }
        co_await c.abort("for the test");
        for (const std::string& name : names) {
            commit_site site(zk, path, name);
            co_await site.join();
            co_await site.finish();
        }
        proxy.arm(at_op(op_code::multi, 3), drop_request_and_cut());
        co_await c.clean_up();
        CHECK_FALSE(observer().exists(path));
        co_await small.close();
    });
}

TEST_CASE("two-phase commit: begun in doubt, and the server of the next session lags behind") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        const std::int64_t earlier = zk.session_id();
        commit_coordinator c(zk, path);
        proxy.arm(at_op(op_code::multi), swallow_reply_and_cut().then_refuse());
        pending_result<> beginning;
        c.begin(two, "", beginning.handler());
        co_await eventually_async(
            [&] { return zk.state() == session_state::suspended && observer().exists(path); });
        lag_behind(proxy, path);
        expire(proxy.session());
        co_await accept_again(proxy, zk);
        CHECK(!co_await finished(beginning));
        CHECK(zk.session_id() != earlier);
    });
}

TEST_CASE("two-phase commit: the server killed and restarted between the votes") {
    server own(recipe_server_options());
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            for (commit_form form : commit_forms) {
                client zk = co_await connect_to(own.hosts(), steady_session);
                std::string path = form == commit_forms[0] ? "/first" : "/second";
                two_sites tx(zk, zk, zk, path, form);
                co_await tx.begin();
                outcome_result deciding, mine_votes;
                tx.coordinator->decide(deciding.handler());
                tx.mine.vote(commit_vote::commit, mine_votes.handler());
                co_await settle(zk);
                own.kill();
                own.restart();
                commit_outcome o = co_await tx.other.vote(commit_vote::commit);
                CHECK(!co_await finished(deciding));
                CHECK(!co_await finished(mine_votes));
                CHECK(o.committed == deciding.value().committed);
                CHECK(o.committed == mine_votes.value().committed);
                CHECK(o.committed);
                co_await zk.close(as_tuple());
            }
        },
        90s);
    run_to_idle(context);
}

TEST_CASE("two-phase commit: finished in doubt, and the next server has no quorum") {
    with_proxy(
        [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            commit_coordinator c(zk, path);
            co_await c.begin(alone, "");
            commit_site mine(zk, path, "mine");
            co_await mine.join();
            co_await mine.vote(commit_vote::abort);
            // The first request has been applied; to the next one there is another answer.
            proxy.arm(at_op(op_code::multi), swallow_reply_and_cut());
            bool again = false;
            int answers = 0;
            proxy.edit(direction::to_client, [&](const frame_info& frame, std::string bytes) {
                again = again || frame.kind == frame_kind::connect;
                if (!again || frame.kind != frame_kind::reply || frame.op != op_code::multi ||
                    answers++ > 0)
                    return bytes;
                const std::string not_read_only("\xff\xff\xff\x89", 4);
                return bytes.replace(16, 4, not_read_only);
            });
            auto [ec] = co_await mine.finish(as_tuple());
            CHECK(!ec);
            CHECK(answers > 1);
            proxy.edit(direction::to_client, nullptr);
            CHECK(observer().exists(path + "/done-mine"));
            CHECK_FALSE(observer().exists(path + "/site-mine"));
        },
        run_limit,
        steady_session);
}

}  // namespace corozk::testing::two_phase_commit_test
