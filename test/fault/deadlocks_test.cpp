// SPDX-License-Identifier: Apache-2.0
#include "fault_engine.hpp"
#include <corozk/recipe/deadlocks.hpp>
#include <corozk/recipe/lock.hpp>

namespace corozk::testing::deadlocks_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

/// Two healthy sessions in a circle.
struct circle {
    circle(client& one, client& two, const std::string& path)
        : a(one, path + "/a"),
          b(two, path + "/b"),
          a_too(two, path + "/a"),
          b_too(one, path + "/b") {
        paths = {path + "/a", path + "/b"};
    }

    awaitable<void> close_up() {
        first = co_await a.acquire();
        second = co_await b.acquire();
        a_too.acquire(third.handler());
        b_too.acquire(fourth.handler());
        co_await eventually_async([&] {
            return observer().children(paths[0]).size() == 2 &&
                   observer().children(paths[1]).size() == 2;
        });
    }

    lock a, b, a_too, b_too;
    std::vector<std::string> paths;
    ownership first, second;
    pending_result<ownership> third, fourth;
};

}  // namespace

TEST_CASE("deadlocks: asked with a cut at every frame: an answer that is right, or an error") {
    cut_at_every_frame([](fault_run& r) -> awaitable<void> {
        client one = co_await one_more_client();
        client two = co_await one_more_client();
        circle c(one, two, r.path);
        co_await c.close_up();
        r.proxy.reset_numbering();
        auto [ec, graph] = co_await find_deadlocks(r.zk, c.paths, as_tuple());
        if (ec) {
            CHECK(r.fault != "none");
            CHECK((is_recoverable(ec) || ec == errc::not_connected));
            auto again = co_await find_deadlocks(r.zk, c.paths);
            CHECK(again.deadlocks.size() == 1);
        } else {
            CHECK(graph.deadlocks.size() == 1);
            CHECK(graph.edges.size() == 2);
        }
        co_await one.close();
        co_await two.close();
        CHECK(c.third.calls() == 1);
        CHECK(c.fourth.calls() == 1);
    });
}

TEST_CASE("deadlocks: the session lost at every frame, and cancelled at every frame") {
    expire_at_every_frame([](fault_run& r) -> awaitable<void> {
        std::vector<std::string> paths{r.path + "/a", r.path + "/b"};
        pending_result<wait_graph> asked;
        find_deadlocks(r.zk, paths, asked.handler());
        error_code ec = co_await finished(asked);
        CHECK(asked.calls() == 1);
        CHECK((!ec || is_recoverable(ec) || is_session_lost(ec) || ec == errc::not_connected));
    });
    cancel_at_every_frame([](fault_run& r, boost::asio::cancellation_slot slot) -> awaitable<void> {
        client one = co_await one_more_client();
        client two = co_await one_more_client();
        circle c(one, two, r.path);
        co_await c.close_up();
        auto token = boost::asio::bind_cancellation_slot(slot, as_tuple());
        auto [ec, graph] = co_await find_deadlocks(r.zk, c.paths, token);
        CHECK((!ec || ec == boost::asio::error::operation_aborted));
        co_await one.close();
        co_await two.close();
    });
}

}  // namespace corozk::testing::deadlocks_test
