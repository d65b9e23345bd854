// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/rendezvous.hpp>

namespace corozk::testing::rendezvous_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

using point_result = pending_result<rendezvous_point>;

/// Takes news until it is as wanted: empty data means nobody.
awaitable<void> follow_until(rendezvous& r, std::string wanted) {
    for (;;) {
        rendezvous_point p = co_await r.next();
        if (p.present ? p.data == wanted : wanted.empty())
            co_return;
    }
}

}  // namespace

TEST_CASE("rendezvous: a publisher with a cut at every frame") {
    cut_at_every_frame([](fault_run& r) -> awaitable<void> {
        rendezvous master(r.zk, r.path);
        co_await master.publish("1");
        CHECK(observer().data(r.path) == "1");
        CHECK(observer().stat(r.path)->ephemeral_owner == r.zk.session_id());
        co_await master.update("2");
        CHECK(observer().data(r.path) == "2");
        co_await master.withdraw();
        CHECK_FALSE(observer().exists(r.path));
        co_await eventually_async([&] { return watches_below(r.path) == 0; });
    });
}

TEST_CASE("rendezvous: a worker with a cut at every frame, and with its session lost") {
    auto scenario = [](fault_run& r) -> awaitable<void> {
        client other = co_await one_more_client();
        rendezvous worker(r.zk, r.path);
        rendezvous master(other, r.path);
        point_result awaiting;
        worker.await(awaiting.handler());
        co_await r.zk.sync("/", as_tuple());
        co_await master.publish("1");
        CHECK(!co_await finished(awaiting));
        CHECK(awaiting.value().data == "1");
        co_await follow_until(worker, "1");
        co_await master.update("2");
        co_await follow_until(worker, "2");
        co_await master.withdraw();
        co_await follow_until(worker, "");
        co_await master.publish("3");
        co_await follow_until(worker, "3");
        co_await other.close();
        co_await follow_until(worker, "");
    };
    cut_at_every_frame(scenario);
    expire_at_every_frame(scenario);
}

TEST_CASE("rendezvous: a publisher whose session is lost at every frame is back") {
    expire_at_every_frame([](fault_run& r) -> awaitable<void> {
        rendezvous master(r.zk, r.path);
        co_await master.publish("1");
        co_await master.update("2");
        co_await eventually_async([&] {
            auto s = observer().stat(r.path);
            return s && s->ephemeral_owner == r.zk.session_id() && observer().data(r.path) == "2";
        });
        co_await master.withdraw();
        CHECK_FALSE(observer().exists(r.path));
    });
}

TEST_CASE("rendezvous: publishing and awaiting cancelled at every frame") {
    cancel_at_every_frame([](fault_run& r, boost::asio::cancellation_slot slot) -> awaitable<void> {
        rendezvous master(r.zk, r.path);
        auto [ec] =
            co_await master.publish("1", boost::asio::bind_cancellation_slot(slot, as_tuple()));
        if (ec) {
            CHECK(ec == boost::asio::error::operation_aborted);
            co_await eventually_async([&] { return !observer().exists(r.path); });
        } else {
            co_await master.withdraw();
        }
        co_await eventually_async([&] { return watches_below(r.path) == 0; });
    });
    cancel_at_every_frame([](fault_run& r, boost::asio::cancellation_slot slot) -> awaitable<void> {
        rendezvous worker(r.zk, r.path);
        auto [ec, p] =
            co_await worker.await_for(50ms, boost::asio::bind_cancellation_slot(slot, as_tuple()));
        CHECK((ec == errc::deadline_exceeded || ec == boost::asio::error::operation_aborted));
        co_await eventually_async([&] { return watches_below(r.path) == 0; });
    });
}

}  // namespace corozk::testing::rendezvous_test
