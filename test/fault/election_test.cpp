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

TEST_CASE("election: an acknowledgement whose answer was lost goes with the term") {
    for (bool released : {true, false}) {
        with_proxy([&](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            election e(zk, path);
            ownership term = co_await e.campaign();
            std::string candidate = term.path();
            proxy.arm(at_op(op_code::multi), hold_reply());
            pending_result<> acknowledging, releasing;
            e.acknowledge(term, acknowledging.handler());
            co_await eventually_async([&] { return observer().children(path).size() == 2; });
            if (released)
                term.release(releasing.handler());
            else
                observer().erase(candidate);
            co_await eventually_async([&] { return !observer().exists(candidate); });
            CHECK(observer().children(path).size() == 1);
            proxy.cut();
            error_code ec = co_await finished(acknowledging);
            CHECK(ec == errc::ownership_lost);
            co_await nothing_left(path);
        });
    }
}

}  // namespace corozk::testing::election_test
