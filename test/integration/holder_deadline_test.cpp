// SPDX-License-Identifier: Apache-2.0
// Deadlines of what holders do: it would otherwise last as long as an outage.
#include "pending_result.hpp"
#include <corozk/recipe/election.hpp>
#include <corozk/recipe/leader_latch.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/multi_lock.hpp>
#include <corozk/recipe/priority_lock.hpp>
#include <corozk/recipe/queue.hpp>
#include <corozk/recipe/semaphore.hpp>
#include <corozk/recipe/shared_lock.hpp>

#include <list>
#include <vector>

namespace corozk::testing::holder_deadline_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

/// Operations that are expected to reach their deadlines.
class late_calls {
public:
    auto handler() { return calls_.emplace_back().handler(); }

    awaitable<void> all_late() {
        for (auto& call : calls_)
            CHECK(co_await finished(call) == errc::deadline_exceeded);
        calls_.clear();
    }

private:
    std::list<pending_result<>> calls_;
};

steady_clock::time_point soon() {
    return steady_clock::now() + 20ms;
}

bool none_left(const std::string& path) {
    return observer().children(path).empty();
}

}  // namespace

TEST_CASE("the deadline of a release holds in an outage; it is released after it") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        lock plain(zk, path + "/plain");
        semaphore permits(zk, path + "/permits", 3);
        priority_lock urgent(zk, path + "/urgent");
        lock first(zk, path + "/first"), second(zk, path + "/second");
        multi_lock both(zk);
        both.add(first).add(second);
        queue items(zk, path + "/queue");
        leader_latch latch(zk, path + "/latch");
        const std::string parents[] = {plain.path(),
                                       permits.path(),
                                       urgent.path() + "/contenders",
                                       first.path(),
                                       second.path()};
        for (bool until : {false, true}) {
            std::vector<ownership> held;
            held.push_back(co_await plain.acquire());
            held.push_back(co_await permits.acquire(2));
            held.push_back(co_await urgent.acquire(1));
            multi_ownership held_both = co_await both.acquire();
            co_await items.put("x");
            queue_claim claim = co_await items.consume();
            latch.start();
            const std::int64_t term = co_await latch.wait_leadership();

            co_await lose_servers(zk, proxy);
            late_calls calls;
            for (ownership& one : held) {
                if (until)
                    one.release_until(soon(), calls.handler());
                else
                    one.release_for(20ms, calls.handler());
                CHECK_FALSE(one);
            }
            if (until) {
                held_both.release_until(soon(), calls.handler());
                claim.release_until(soon(), calls.handler());
                latch.resign_until(soon(), calls.handler());
            } else {
                held_both.release_for(20ms, calls.handler());
                claim.release_for(20ms, calls.handler());
                latch.resign_for(20ms, calls.handler());
            }
            co_await calls.all_late();
            CHECK_FALSE(latch.has_leadership());

            co_await accept_again(proxy, zk);
            for (const std::string& parent : parents)
                co_await eventually_async([&] { return none_left(parent); });
            const queue_item again = co_await items.take();
            CHECK(again.data == "x");
            const std::int64_t next_term = co_await latch.wait_leadership();
            CHECK(next_term > term);
            co_await lose_servers(zk, proxy);
            if (until)
                latch.close_until(soon(), calls.handler());
            else
                latch.close_for(20ms, calls.handler());
            co_await calls.all_late();
            co_await accept_again(proxy, zk);
            co_await eventually_async([&] { return none_left(latch.path()); });
            co_await latch.close();
        }
    });
}

TEST_CASE("the deadline of what a holder writes holds in an outage") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        election terms(zk, path + "/election", election_options("before"));
        leader_latch latch(zk, path + "/latch", election_options("before"));
        shared_lock shared(zk, path + "/shared");
        queue items(zk, path + "/queue");
        ownership term = co_await terms.campaign();
        latch.start();
        co_await latch.wait_leadership();
        for (bool until : {false, true}) {
            ownership writer = co_await shared.acquire_write();
            pending_result<ownership> reading;
            shared.acquire_read(reading.handler());
            co_await items.put("x");
            queue_claim claim = co_await items.consume();
            queue_claim none;

            co_await lose_servers(zk, proxy);
            late_calls calls;
            if (until) {
                terms.acknowledge_until(term, soon(), calls.handler());
                terms.proclaim_until(term, "after", soon(), calls.handler());
                latch.acknowledge_until(soon(), calls.handler());
                latch.proclaim_until("after", soon(), calls.handler());
                shared.downgrade_until(writer, soon(), calls.handler());
                claim.acknowledge_until(soon(), calls.handler());
            } else {
                terms.acknowledge_for(term, 20ms, calls.handler());
                terms.proclaim_for(term, "after", 20ms, calls.handler());
                latch.acknowledge_for(20ms, calls.handler());
                latch.proclaim_for("after", 20ms, calls.handler());
                shared.downgrade_for(writer, 20ms, calls.handler());
                claim.acknowledge_for(transaction(), 20ms, calls.handler());
            }
            co_await calls.all_late();
            co_await accept_again(proxy, zk);

            // It is a reader now.
            CHECK(!co_await finished(reading));
            co_await reading.value().release();
            co_await writer.release();
            // The leader is acknowledged, and says what it said before.
            const std::string acknowledged[] = {term.path(), latch.term_path()};
            for (const std::string& node : acknowledged) {
                co_await eventually_async(
                    [&] { return observer().exists(node + "-acknowledged"); });
                CHECK(observer().data(node) == "before");
            }
            // The item was not acknowledged, and is still claimed.
            CHECK(claim.valid());
            co_await claim.acknowledge_for(20s);
        }
    });
}

TEST_CASE("semaphore: the deadline of a new limit holds while its outcome is not known") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        semaphore permits(zk, path, 2);
        ownership one = co_await permits.acquire();
        for (bool until : {false, true}) {
            const rule_id lost = proxy.arm(at_op(op_code::set_data), hold_reply());
            // On a slow machine the deadline may come before the request; then it is not sent.
            for (auto limit = 20ms; proxy.fired(lost) == 0; limit *= 2) {
                late_calls calls;
                if (until)
                    permits.set_limit_until(5, steady_clock::now() + limit, calls.handler());
                else
                    permits.set_limit_for(4, limit, calls.handler());
                co_await calls.all_late();
            }
            proxy.release(lost);
            co_await settle(zk);
            CHECK(observer().data(path) == (until ? "5" : "4"));
        }
    });
}

}  // namespace corozk::testing::holder_deadline_test
