// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/election.hpp>
#include <corozk/recipe/leader_latch.hpp>
#include <corozk/recipe/lock.hpp>

namespace corozk::testing::election_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

awaitable<void> gone(const std::string& path) {
    co_await eventually_async([&] { return observer().children(path).empty(); });
}

awaitable<void> sleep_for_ever() {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, 1h);
    co_await timer.async_wait(boost::asio::use_awaitable);
}

}  // namespace

TEST_CASE("election: candidates in order, an acknowledgement, a resignation") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        election_options me("me");
        election_options they("they");
        election mine(zk, path, me);
        election theirs(other, path, they);
        CHECK(!co_await theirs.get_leader());
        ownership term = co_await mine.campaign();
        election_leader leader = co_await theirs.get_leader();
        CHECK(leader.path == term.path());
        CHECK(leader.identity == "me");
        CHECK(leader.fencing_token == term.fencing_token());
        CHECK(leader.session_id == zk.session_id());
        CHECK(!leader.acknowledged);

        pending_result<ownership> next;
        theirs.campaign(next.handler());
        auto [blocked, none] = co_await theirs.try_campaign(as_tuple());
        CHECK(blocked == errc::would_block);
        auto [late, nothing] = co_await theirs.campaign_for(20ms, as_tuple());
        CHECK(late == errc::deadline_exceeded);

        pending_result<election_leader> seen;
        theirs.next_leader(leader, seen.handler());
        co_await settle(other);
        CHECK(!seen.done());
        co_await mine.acknowledge(term);
        CHECK(!co_await finished(seen));
        CHECK(seen.value().acknowledged);
        CHECK(seen.value().path == term.path());
        co_await mine.acknowledge(term);  // it stays so
        lock no_election(zk, path);
        ownership no_term = co_await no_election.acquire();
        auto [refused] = co_await mine.acknowledge(no_term, as_tuple());
        CHECK(refused == errc::bad_option);
        co_await no_term.release();
        auto candidates = co_await theirs.list_contenders();
        REQUIRE(candidates.size() == 2);
        CHECK((candidates[0].holds && candidates[0].kind == "candidate"));

        pending_result<election_leader> changed;
        theirs.next_leader(seen.value(), changed.handler());
        co_await settle(other);
        CHECK(!changed.done());
        co_await term.release();
        CHECK(!co_await finished(next));
        CHECK(!co_await finished(changed));
        CHECK(changed.value().path != leader.path);
        CHECK(!changed.value().acknowledged);
        co_await next.value().release();
        co_await gone(path);
        co_await other.close();
    });
}

TEST_CASE("election: an observer from before the first candidate to after the last") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        election candidate(zk, path);
        election watcher(other, path);
        election_leader nobody;
        pending_result<election_leader> first;
        watcher.next_leader(nobody, first.handler());  // not even a folder
        co_await settle(other);
        CHECK(!first.done());
        ownership term = co_await candidate.campaign();
        CHECK(!co_await finished(first));
        CHECK(first.value().path == term.path());
        pending_result<election_leader> second;
        watcher.next_leader(first.value(), second.handler());
        co_await settle(other);
        co_await term.release();
        CHECK(!co_await finished(second));
        CHECK(!second.value());
        pending_result<election_leader> third;
        watcher.next_leader(nobody, third.handler());  // an empty folder
        co_await settle(other);
        CHECK(!third.done());
        term = co_await candidate.campaign();
        CHECK(!co_await finished(third));
        pending_result<election_leader> cancelled;
        watcher.next_leader(third.value(), cancelled.handler());
        co_await settle(other);
        cancelled.cancel();
        CHECK(co_await finished(cancelled) == boost::asio::error::operation_aborted);
        co_await eventually_async([&] { return watches_below(path) <= 1; });  // the leader's own
        pending_result<election_leader> closed;
        watcher.next_leader(third.value(), closed.handler());
        co_await settle(other);
        co_await other.close();
        CHECK(co_await finished(closed) == errc::closed);
        co_await term.release();
        co_await gone(path);
    });
}

TEST_CASE("election: resigning and staying a candidate") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        election mine(zk, path);
        election theirs(other, path);
        ownership term = co_await mine.campaign();
        std::string first_path = term.path();
        // Alone: leads again.
        term = co_await mine.campaign_again(std::move(term));
        CHECK(term.path() != first_path);
        pending_result<ownership> next, again;
        theirs.campaign(next.handler());
        co_await eventually_async([&] { return observer().children(path).size() == 2; });
        mine.campaign_again(std::move(term), again.handler());
        CHECK(!co_await finished(next));
        co_await settle(zk);
        CHECK(!again.done());
        co_await next.value().release();
        CHECK(!co_await finished(again));
        co_await again.value().release();
        co_await gone(path);
        co_await other.close();
    });
}

TEST_CASE("election: run leads again after the leadership was taken away, and the session lost") {
    boost::asio::io_context context;
    fault_proxy proxy(shared_server().port());
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connect_to(proxy.hosts());
        client other = co_await one_more_client();
        std::string path = fresh_path();
        election mine(zk, path);
        election watcher(other, path);
        int terms = 0;
        int cancelled = 0;
        auto body = [&](ownership& term) -> awaitable<int> {
            ++terms;
            CHECK(term.valid());
            CHECK(observer().exists(term.path()));
            co_await mine.acknowledge(term);
            if (terms == 3)
                co_return 42;
            try {
                co_await sleep_for_ever();
            } catch (...) {
                ++cancelled;
                throw;
            }
            co_return 0;
        };
        pending_result<int> result;
        boost::asio::co_spawn(co_await boost::asio::this_coro::executor,
                              mine.run(body),
                              [&](std::exception_ptr failure, int value) {
                                  CHECK(!failure);
                                  result.handler()(error_code(), value);
                              });
        auto acknowledged = [&](const election_leader& l) { return l.acknowledged; };
        election_leader leader;
        while (!acknowledged(leader))
            leader = co_await watcher.next_leader(leader);
        observer().erase(leader.path);
        co_await eventually_async([&] { return terms == 2; });
        CHECK(cancelled == 1);
        leader = co_await watcher.get_leader();
        while (!acknowledged(leader))
            leader = co_await watcher.next_leader(leader);
        expire(proxy.session());
        proxy.cut();
        CHECK(!co_await finished(result));
        CHECK(result.value() == 42);
        CHECK(cancelled == 2);
        CHECK(terms == 3);
        co_await gone(path);
        co_await other.close();
        co_await zk.close();
    });
    run_to_idle(context);
}

TEST_CASE("election: a body that throws, a run that is cancelled") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        election e(zk, path);
        auto bad = [](ownership&) -> awaitable<void> {
            throw std::runtime_error("no");
            co_return;
        };
        bool thrown = false;
        try {
            co_await e.run(bad);
        } catch (const std::runtime_error& failure) {
            thrown = std::string(failure.what()) == "no";
        }
        CHECK(thrown);
        co_await gone(path);

        bool ended = false;
        bool began = false;
        auto stay = [&](ownership&) -> awaitable<void> {
            began = true;
            co_await sleep_for_ever();
        };
        boost::asio::cancellation_signal cancel;
        boost::asio::co_spawn(
            co_await boost::asio::this_coro::executor,
            e.run(stay),
            boost::asio::bind_cancellation_slot(cancel.slot(), [&](std::exception_ptr failure) {
                CHECK(failure);
                ended = true;
            }));
        co_await eventually_async([&] { return began; });
        cancel.emit(boost::asio::cancellation_type::terminal);
        co_await eventually_async([&] { return ended; });
        co_await gone(path);
    });
}

TEST_CASE("election: the names of other libraries") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        for (auto style : {compatibility::curator, compatibility::kazoo}) {
            bool curator = style == compatibility::curator;
            election_options options;
            options.compatibility = style;
            std::string folder = path + (curator ? "/curator" : "/kazoo");
            std::string theirs = folder + (curator ? "/_c_01234567-89ab-cdef-0123-456789abcdef-"
                                                     "latch-0000000000"
                                                   : "/0123456789abcdef0123456789abcdef"
                                                     "__lock__0000000000");
            observer().plant(theirs, "they");
            election e(zk, folder, options);
            election_leader leader = co_await e.get_leader();
            CHECK(leader.path == theirs);
            CHECK(leader.identity == "they");
            pending_result<ownership> mine;
            e.campaign(mine.handler());
            co_await settle(zk);
            CHECK(!mine.done());
            observer().erase(theirs);
            CHECK(!co_await finished(mine));
            CHECK(mine.value().path().find(curator ? "-latch-0" : "__lock__0") !=
                  std::string::npos);
            co_await e.acknowledge(mine.value());
            CHECK((co_await e.get_leader()).acknowledged);
            co_await mine.value().release();
            co_await gone(folder);
        }
    });
}

TEST_CASE("election: what a leader proclaims is heard") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        election mine(zk, path, election_options("starting"));
        election theirs(other, path);
        ownership term = co_await mine.campaign();
        election_leader leader = co_await theirs.get_leader();
        CHECK(leader.identity == "starting");
        pending_result<election_leader> seen;
        theirs.next_leader(leader, seen.handler());
        co_await settle(other);
        CHECK_FALSE(seen.done());
        co_await mine.proclaim(term, "ready");
        CHECK(!co_await finished(seen));
        CHECK(seen.value().identity == "ready");
        CHECK(seen.value().path == leader.path);
        CHECK(seen.value().fencing_token == leader.fencing_token);

        // The later one of two takes effect, and the same again is no change.
        pending_result<> first, second;
        mine.proclaim(term, "1", first.handler());
        mine.proclaim(term, "2", second.handler());
        CHECK(!co_await finished(first));
        CHECK(!co_await finished(second));
        leader = co_await theirs.get_leader();
        CHECK(leader.identity == "2");
        pending_result<election_leader> next;
        theirs.next_leader(leader, next.handler());
        co_await mine.proclaim(term, "2");
        co_await settle(other);
        CHECK_FALSE(next.done());

        // A request to release stays.
        co_await theirs.request_release(term.path());
        co_await term.wait_release_requested();
        co_await mine.proclaim(term, "leaving");
        CHECK(observer().data(term.path()) == "leaving\nunlock");
        CHECK(!co_await finished(next));
        CHECK(next.value().identity == "leaving");
        auto [bad] = co_await mine.proclaim(term, "unlock", as_tuple());
        CHECK(bad == errc::bad_option);
        auto [not_mine] = co_await theirs.proclaim(term, "x", as_tuple());
        CHECK(not_mine == errc::bad_option);
        observer().erase(term.path());
        auto [lost] = co_await mine.proclaim(term, "x", as_tuple());
        CHECK(lost == errc::ownership_lost);
        ownership none;
        auto [nothing] = co_await mine.proclaim(none, "x", as_tuple());
        CHECK(nothing == errc::ownership_lost);
        co_await other.close();
    });
}

TEST_CASE("election: what a proclamation reports as written was written") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        election mine(zk, path, election_options("old"));
        ownership term = co_await mine.campaign();
        // The later call fails, or is cancelled before it has written anything.
        pending_result<> first, second;
        mine.proclaim(term, "1", first.handler());
        mine.proclaim(term, "unlock", second.handler());
        CHECK(co_await finished(second) == errc::bad_option);
        CHECK(!co_await finished(first));
        CHECK(observer().data(term.path()) == "1");
        pending_result<> third, large;
        mine.proclaim(term, "2", third.handler());
        mine.proclaim(term, std::string(2'000'000, 'x'), large.handler());
        CHECK(co_await finished(large) == errc::too_large);
        CHECK(!co_await finished(third));
        CHECK(observer().data(term.path()) == "2");
        pending_result<> fourth, cancelled;
        mine.proclaim(term, "3", fourth.handler());
        mine.proclaim(term, "4", cancelled.handler());
        cancelled.cancel();
        CHECK(co_await finished(cancelled) == boost::asio::error::operation_aborted);
        CHECK(!co_await finished(fourth));
        CHECK(observer().data(term.path()) == "3");
        // Total cancellation would promise that nothing is written.
        pending_result<> kept;
        mine.proclaim(term, "5", kept.handler());
        kept.cancel(boost::asio::cancellation_type::total);
        CHECK(!co_await finished(kept));
        CHECK(observer().data(term.path()) == "5");
    });
}

TEST_CASE("election: a proclamation that is repeated does not give way to one that fails") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        election mine(zk, path, election_options("0"));
        ownership term = co_await mine.campaign();
        rule_id rule = proxy.arm(at_op(testing::op_code::set_data), drop_request_and_cut());
        pending_result<> first, second;
        mine.proclaim(term, "1", first.handler());
        mine.proclaim(term, "2", second.handler());
        co_await eventually_async([&] { return proxy.fired(rule) == 1; });
        second.cancel();
        CHECK(co_await finished(second) == boost::asio::error::operation_aborted);
        CHECK(!co_await finished(first));
        CHECK(observer().data(term.path()) == "1");
    });
}

TEST_CASE("election: a proclamation whose response is lost is written, but not over a later one") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        election mine(zk, path, election_options("0"));
        ownership term = co_await mine.campaign();
        rule_id rule = proxy.arm(at_op(testing::op_code::set_data), swallow_reply_and_cut());
        co_await mine.proclaim(term, "1");
        CHECK(proxy.fired(rule) == 1);
        CHECK(observer().data(term.path()) == "1");
        rule = proxy.arm(at_op(testing::op_code::set_data), drop_request_and_cut());
        pending_result<> first, second;
        mine.proclaim(term, "2", first.handler());
        mine.proclaim(term, "3", second.handler());
        CHECK(!co_await finished(first));
        CHECK(!co_await finished(second));
        CHECK(proxy.fired(rule) == 1);
        CHECK(observer().data(term.path()) == "3");
        expire(proxy.session());
        auto [lost] = co_await mine.proclaim(term, "4", as_tuple());
        bool gone = lost == errc::ownership_lost || lost == zk_errc::session_expired;
        CHECK(gone);
    });
}

TEST_CASE("election: the names of Curator's LeaderSelector") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        election_options options("me");
        options.leader_selector = true;
        for (auto whose : {compatibility::native, compatibility::kazoo}) {
            options.compatibility = whose;
            election wrong(zk, path, options);
            auto [ec, none] = co_await wrong.campaign(as_tuple());
            CHECK(ec == errc::bad_option);
        }
        options.compatibility = compatibility::curator;
        election mine(zk, path, options);
        ownership term = co_await mine.campaign();
        CHECK(term.path().starts_with(path + "/_c_"));
        CHECK(term.path().find("-lock-") != std::string::npos);
        CHECK(observer().data(term.path()) == "me");
        // It is a mutex.
        lock_options as_mutex;
        as_mutex.compatibility = compatibility::curator;
        lock mutex(zk, path, as_mutex);
        auto [blocked, none] = co_await mutex.try_acquire(as_tuple());
        CHECK(blocked == errc::would_block);
        leader_latch latch(zk, path, options);
        latch.start();
        co_await eventually_async([&] { return observer().children(path).size() == 2; });
        CHECK_FALSE(latch.has_leadership());
        co_await term.release();
        co_await latch.wait_leadership();
        co_await latch.proclaim("the latch");
        election_leader leader = co_await mine.get_leader();
        CHECK(leader.identity == "the latch");
        co_await latch.close();
        co_await gone(path);
    });
}

}  // namespace corozk::testing::election_test
