// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/rendezvous.hpp>

namespace corozk::testing::rendezvous_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

using point_result = pending_result<rendezvous_point>;

TEST_CASE("rendezvous: in any order of start") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        std::string node = path + "/deep/master";
        client other = co_await one_more_client();
        rendezvous worker(zk, node);
        point_result early;
        worker.await(early.handler());
        co_await settle(zk);
        CHECK_FALSE(early.done());
        CHECK_FALSE(observer().exists(path));
        rendezvous master(other, node);
        co_await master.publish("here:1");
        CHECK(master.published());
        CHECK(!co_await finished(early));
        CHECK(early.value().data == "here:1");
        CHECK(early.value().session_id == other.session_id());
        rendezvous_point late = co_await worker.await();
        CHECK(late.data == "here:1");
        co_await master.set_data("here:2");
        late = co_await worker.await();
        CHECK(late.data == "here:2");
        co_await master.withdraw();
        CHECK_FALSE(observer().exists(node));
        auto [ec] = co_await master.withdraw(as_tuple());
        CHECK(ec == errc::not_a_member);
        auto [ec2, none] = co_await worker.await_for(20ms, as_tuple());
        CHECK(ec2 == errc::deadline_exceeded);
        point_result cancelled;
        worker.await(cancelled.handler());
        co_await settle(zk);
        cancelled.cancel();
        CHECK(co_await finished(cancelled) == boost::asio::error::operation_aborted);
        co_await eventually_async([&] { return watches_below(path) == 0; });
        co_await other.close();
    });
}

TEST_CASE("rendezvous: a worker follows a master that restarts elsewhere") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client first = co_await one_more_client();
        client second = co_await one_more_client();
        rendezvous worker(zk, path);
        rendezvous_point p = co_await worker.next();
        CHECK_FALSE(p.present);
        point_result next;
        worker.next(next.handler());
        co_await settle(zk);
        CHECK_FALSE(next.done());
        auto [ec, none] = co_await worker.next(as_tuple());
        CHECK(ec == errc::busy);
        rendezvous old(first, path);
        co_await old.publish("first");
        CHECK(!co_await finished(next));
        CHECK(next.value().data == "first");
        rendezvous fresh(second, path);
        pending_result<> publishing;
        fresh.publish("second", publishing.handler());
        co_await settle(second);
        CHECK_FALSE(publishing.done());  // never over a living one
        co_await first.close();
        CHECK(!co_await finished(publishing));
        do
            p = co_await worker.next();
        while (!p.present);
        CHECK(p.data == "second");
        CHECK(p.incarnation > next.value().incarnation);
        rendezvous_options options;
        options.wait_for_predecessor = false;
        rendezvous impatient(zk, path, options);
        auto [ec2] = co_await impatient.publish("third", as_tuple());
        CHECK(ec2 == errc::already_exists);
        observer().erase(path);  // it is published again by itself
        do
            p = co_await worker.next();
        while (!p.present);
        CHECK(p.data == "second");
        fresh = rendezvous();
        p = co_await worker.next();
        CHECK_FALSE(p.present);
        worker = rendezvous();
        co_await eventually_async([&] { return watches_below(path) == 0; });
        rendezvous empty;
        std::tie(ec, none) = co_await empty.next(as_tuple());
        CHECK(ec == errc::closed);
        co_await second.close();
    });
}

}  // namespace corozk::testing::rendezvous_test
