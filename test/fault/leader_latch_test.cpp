// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include "read_only_server.hpp"
#include <corozk/recipe/leader_latch.hpp>

namespace corozk::testing::leader_latch_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

TEST_CASE("leader_latch: connections that bounce move nobody in the line (curator 645)") {
    boost::asio::io_context context;
    fault_proxy proxy(shared_server().port());
    run(context, [&]() -> awaitable<void> {
        client a = co_await connect_to(proxy.hosts());
        client b = co_await connect_to(proxy.hosts());
        std::string path = fresh_path();
        leader_latch first(a, path);
        leader_latch second(b, path);
        first.start();
        std::int64_t token = co_await first.wait_leadership();
        second.start();
        co_await eventually_async([&] { return observer().children(path).size() == 2; });
        auto names = observer().children(path);
        latch_status seen = first.status();
        for (int i = 0; i < 15; ++i) {
            proxy.cut();
            co_await settle(a);
            co_await settle(b);
            CHECK_FALSE(second.has_leadership());
        }
        CHECK(first.has_leadership());
        CHECK(first.status().revision == seen.revision);
        CHECK(first.status().fencing_token == token);
        auto still = observer().children(path);
        std::sort(names.begin(), names.end());
        std::sort(still.begin(), still.end());
        CHECK(names == still);
        co_await first.close();
        co_await second.wait_leadership();
        co_await second.close();
        co_await nothing_left(path);
        // A session may just be beginning: then there is no server to part from.
        co_await a.close(as_tuple());
        co_await b.close(as_tuple());
    });
    run_to_idle(context);
}

TEST_CASE("leader_latch: a candidate has closed when its node is gone") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        leader_latch leads(other, path);
        leader_latch waits(zk, path);
        leads.start();
        co_await leads.wait_leadership();
        waits.start();
        co_await eventually_async([&] { return observer().children(path).size() == 2; });
        co_await settle(zk);
        rule_id held = proxy.arm(at_op(op_code::erase), hold_request());
        pending_result<> closed;
        waits.close(closed.handler());
        co_await eventually_async([&] { return proxy.statistics().held > 0; });
        co_await settle(other);
        CHECK_FALSE(closed.done());
        CHECK(observer().children(path).size() == 2);
        proxy.release(held);
        error_code ec = co_await finished(closed);
        CHECK_FALSE(ec);
        CHECK(observer().children(path).size() == 1);
        // Once more, and this time the session ends first.
        waits.start();
        co_await eventually_async([&] { return observer().children(path).size() == 2; });
        co_await settle(zk);
        held = proxy.arm(at_op(op_code::erase), hold_request());
        pending_result<> closed_again;
        waits.close(closed_again.handler());
        co_await eventually_async([&] { return proxy.statistics().held > 0; });
        expire(proxy.session());
        proxy.cut();
        ec = co_await finished(closed_again);
        CHECK_FALSE(ec);
        CHECK(observer().children(path).size() == 1);
        co_await leads.close();
        co_await nothing_left(path);
        co_await other.close();
    });
}

TEST_CASE("leader_latch: started again before it has closed") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        leader_latch latch(zk, path);
        latch.start();
        std::int64_t first = co_await latch.wait_leadership();
        // Nothing has been done yet: it still leads.
        pending_result<> closing;
        latch.close(closing.handler());
        latch.start();
        error_code ec = co_await finished(closing);
        CHECK(ec == boost::asio::error::operation_aborted);
        CHECK(latch.status().fencing_token == first);
        // It has resigned: a new candidacy.
        rule_id held = proxy.arm(at_op(op_code::erase), hold_request());
        pending_result<> closing_again;
        latch.close(closing_again.handler());
        co_await eventually_async([&] { return proxy.statistics().held > 0; });
        latch.start();
        ec = co_await finished(closing_again);
        CHECK(ec == boost::asio::error::operation_aborted);
        proxy.release(held);
        std::int64_t second = co_await latch.wait_leadership();
        CHECK(second > first);
        co_await latch.close();
        co_await nothing_left(path);
    });
}

TEST_CASE("leader_latch: a candidate that closes is started again, however soon") {
    with_proxy([](client& zk, fault_proxy&, std::string path) -> awaitable<void> {
        leader_latch leads(zk, path);
        leads.start();
        co_await leads.wait_leadership();
        leader_latch waits(zk, path);
        for (int handlers = 0; handlers < 12; ++handlers) {
            CAPTURE(handlers);
            waits.start();
            co_await eventually_async([&] { return observer().children(path).size() == 2; });
            pending_result<> closing;
            waits.close(closing.handler());
            for (int i = 0; i < handlers; ++i)
                co_await boost::asio::post(zk.get_executor(), boost::asio::use_awaitable);
            waits.start();
            pending_result<std::int64_t> next;
            waits.wait_leadership(next.handler());
            co_await settle(zk);
            co_await eventually_async([&] { return observer().children(path).size() == 2; });
            CHECK(waits.status().state == latch_state::candidate);
            CHECK_FALSE(next.done());
            next.cancel();
            co_await waits.close();
        }
        co_await leads.close();
        co_await nothing_left(path);
    });
}

TEST_CASE("leader_latch: nothing is asked of a server without a quorum") {
    with_read_only_server([](client& zk, auto& regain_quorum, std::string path) -> awaitable<void> {
        leader_latch latch(zk, path);
        latch.start();
        pending_result<std::int64_t> leads;
        latch.wait_leadership(leads.handler());
        co_await settle(zk);
        CHECK_FALSE(leads.done());
        CHECK(observer().children(path).empty());
        regain_quorum();
        error_code ec = co_await finished(leads);
        CHECK_FALSE(ec);
        co_await latch.close();
        co_await nothing_left(path);
    });
}

TEST_CASE("leader_latch: sessions that end again and again: never two leaders, always a next one") {
    boost::asio::io_context context;
    fault_proxy proxy_a(shared_server().port());
    fault_proxy proxy_b(shared_server().port());
    run(context, [&]() -> awaitable<void> {
        client a = co_await connect_to(proxy_a.hosts());
        client b = co_await connect_to(proxy_b.hosts());
        std::string path = fresh_path();
        leader_latch first(a, path);
        leader_latch second(b, path);
        first.start();
        second.start();
        std::int64_t last = 0;
        for (int i = 0; i < 10; ++i) {
            co_await eventually_async(
                [&] { return first.has_leadership() || second.has_leadership(); }, 15s);
            leader_latch& leads = first.has_leadership() ? first : second;
            CHECK_FALSE((first.has_leadership() && second.has_leadership()));
            latch_status seen = leads.status();
            CHECK(seen.fencing_token > last);
            last = seen.fencing_token;
            fault_proxy& proxy = &leads == &first ? proxy_a : proxy_b;
            expire(proxy.session());
            proxy.cut();
            latch_status now = co_await leads.next_status(seen);
            CHECK(now.revision > seen.revision);
        }
        co_await first.close();
        co_await second.close();
        co_await nothing_left(path);
        co_await a.close(as_tuple());
        co_await b.close(as_tuple());
    });
    run_to_idle(context);
}

}  // namespace corozk::testing::leader_latch_test
