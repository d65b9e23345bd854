// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/election.hpp>

namespace corozk::testing::election_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

awaitable<void> nothing_left(const std::string& path) {
    co_await eventually_async([&] { return observer().children(path).empty(); });
    co_await eventually_async([&] { return watches_below(path) == 0; });
}

awaitable<void> next_one_leads(const std::string& path) {
    client other = co_await one_more_client();
    election next(other, path);
    ownership term = co_await next.campaign_for(15s);
    co_await term.release();
    co_await other.close();
}

}  // namespace

TEST_CASE("election: a term with a cut at every frame") {
    cut_at_every_frame([](fault_run& r) -> awaitable<void> {
        election e(r.zk, r.path);
        ownership term = co_await e.campaign();
        CHECK(observer().stat(term.path())->ephemeral_owner == r.zk.session_id());
        co_await e.acknowledge(term);
        CHECK(observer().exists(term.path() + "-acknowledged"));
        CHECK(observer().children(r.path).size() == 2);
        co_await term.release();
        co_await nothing_left(r.path);
        co_await next_one_leads(r.path);
    });
}

TEST_CASE("election: an observer with a cut at every frame ends with the last leader") {
    cut_at_every_frame([](fault_run& r) -> awaitable<void> {
        client other = co_await one_more_client();
        election candidate(other, r.path);
        election watcher(r.zk, r.path);
        election_leader seen;
        pending_result<election_leader> first;
        watcher.next_leader(seen, first.handler());
        co_await settle(r.zk);
        ownership term = co_await candidate.campaign();
        CHECK(!co_await finished(first));
        CHECK(first.value().path == term.path());
        pending_result<election_leader> second;
        watcher.next_leader(first.value(), second.handler());
        co_await settle(r.zk);
        co_await candidate.acknowledge(term);
        CHECK(!co_await finished(second));
        CHECK(second.value().acknowledged);
        pending_result<election_leader> third;
        watcher.next_leader(second.value(), third.handler());
        co_await settle(r.zk);
        co_await term.release();
        CHECK(!co_await finished(third));
        CHECK((third.value().path.empty() || !third.value().acknowledged));
        co_await other.close();
    });
}

TEST_CASE("election: the session lost at every frame: the body runs again and ends") {
    expire_at_every_frame([](fault_run& r) -> awaitable<void> {
        election e(r.zk, r.path);
        int terms = 0;
        auto body = [&](ownership& term) -> awaitable<int> {
            ++terms;
            CHECK(observer().stat(term.path()).has_value());
            co_await e.acknowledge(term);
            for (int i = 0; i < 3; ++i)
                co_await r.zk.sync("/");
            co_return terms;
        };
        int result = 0;
        try {
            result = co_await e.run(body);
        } catch (const error& failure) {
            // The body met the loss before it was told.
            CHECK((is_session_lost(failure.code()) || is_recoverable(failure.code()) ||
                   failure.code() == errc::ownership_lost));
            result = -1;
        }
        CHECK(result != 0);
        co_await nothing_left(r.path);
        co_await next_one_leads(r.path);
    });
}

TEST_CASE("election: cancelled at every frame, no candidate is left (curator 3)") {
    for (bool acknowledging : {false, true}) {
        cancel_at_every_frame(
            [acknowledging](fault_run& r, boost::asio::cancellation_slot slot) -> awaitable<void> {
                election e(r.zk, r.path);
                auto token = boost::asio::bind_cancellation_slot(slot, as_tuple());
                if (acknowledging) {
                    ownership term = co_await e.campaign();
                    auto [ec] = co_await e.acknowledge(term, token);
                    CHECK((!ec || ec == boost::asio::error::operation_aborted));
                    CHECK(term.valid());
                } else {
                    auto [ec, term] = co_await e.campaign(token);
                    CHECK((!ec || ec == boost::asio::error::operation_aborted));
                }
                co_await nothing_left(r.path);
                co_await next_one_leads(r.path);
            });
    }
}

TEST_CASE("election: connections that bounce: one leader at a time, and it stays") {
    boost::asio::io_context context;
    fault_proxy proxy(shared_server().port());
    run(context, [&]() -> awaitable<void> {
        client a = co_await connect_to(proxy.hosts());
        client b = co_await connect_to(proxy.hosts());
        std::string path = fresh_path();
        election first(a, path);
        election second(b, path);
        ownership term = co_await first.campaign();
        pending_result<ownership> next;
        second.campaign(next.handler());
        co_await eventually_async([&] { return observer().children(path).size() == 2; });
        std::string leader = term.path();
        for (int i = 0; i < 10; ++i) {
            proxy.cut();
            co_await settle(a);
            co_await settle(b);
            CHECK(!next.done());
            CHECK(observer().exists(leader));
        }
        CHECK(term.valid());
        CHECK(observer().children(path).size() == 2);
        // The third party is noticed by the leader.
        pending_result<error_code> lost;
        term.wait_lost(lost.handler());
        observer().erase(leader);
        CHECK(!co_await finished(lost));
        CHECK(lost.value() == errc::ownership_lost);
        CHECK(!co_await finished(next));
        auto [ec] = co_await first.acknowledge(term, as_tuple());
        CHECK(ec == errc::ownership_lost);
        co_await next.value().release();
        co_await nothing_left(path);
        co_await a.close();
        co_await b.close();
    });
    run_to_idle(context);
}

TEST_CASE("election: the leader's node erased while it acknowledges") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        election e(zk, path);
        ownership term = co_await e.campaign();
        co_await e.acknowledge(term);
        observer().erase(term.path());
        // What said that it leads goes as well.
        co_await eventually_async([&] { return observer().children(path).empty(); });
        CHECK(!term.valid());
        co_await next_one_leads(path);
    });
}

}  // namespace corozk::testing::election_test
