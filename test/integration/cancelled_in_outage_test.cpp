// SPDX-License-Identifier: Apache-2.0
#include "own_requests.hpp"
#include "two_sites.hpp"
#include <corozk/recipe/barrier.hpp>
#include <corozk/recipe/configuration.hpp>
#include <corozk/recipe/counter.hpp>
#include <corozk/recipe/double_barrier.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/membership.hpp>
#include <corozk/recipe/partitioner.hpp>
#include <corozk/recipe/persistent_node.hpp>
#include <corozk/recipe/priority_lock.hpp>
#include <corozk/recipe/queue.hpp>
#include <corozk/recipe/rendezvous.hpp>
#include <corozk/recipe/semaphore.hpp>

#include <map>

namespace corozk::testing::cancelled_in_outage_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using boost::asio::cancellation_type;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

using tree = std::map<std::string, std::string>;

/// Without the nodes that queues have for their transactions.
void read_tree(const std::string& path, tree& nodes) {
    if (path.ends_with("-control"))
        return;
    nodes[path] = observer().data(path);
    for (const std::string& child : observer().children(path))
        read_tree(path + "/" + child, nodes);
}

tree tree_at(const std::string& path) {
    tree nodes;
    read_tree(path, nodes);
    return nodes;
}

}  // namespace

TEST_CASE("what is cancelled in an outage is not sent after it") {
    for (cancellation_type type :
         {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
        with_proxy([type](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            co_await zk.ensure_path(path);
            co_await zk.create(path + "/data", "before");
            lock l(zk, path + "/lock");
            ownership held = co_await l.acquire();
            counter numbers(zk, path + "/counter");
            co_await numbers.add(1);
            counter missing(zk, path + "/none/counter");
            const std::int64_t none = co_await missing.get();
            CHECK(none == 0);
            queue items(zk, path + "/queue");
            co_await items.put("first");
            co_await items.put("second");
            queue others(zk, path + "/queue");
            queue_claim claim = co_await others.consume();
            configuration settings(zk, path + "/settings");
            co_await settings.publish("before");
            two_sites begun(zk, zk, zk, path + "/begun", commit_form::all_sites);
            co_await begun.begin();
            two_sites decided(zk, zk, zk, path + "/decided", commit_form::all_sites);
            co_await decided.begin();
            co_await decided.coordinator->abort("for the test");
            co_await decided.mine.wait_outcome();
            co_await settle(zk);
            const tree before = tree_at(path);

            co_await lose_servers(zk, proxy);
            pending_result<std::vector<transaction_result>> committing;
            transaction write;
            write.set(path + "/data", "after");
            held.commit(write, committing.handler());
            pending_result<std::int64_t> adding;
            numbers.add(1, adding.handler());
            pending_result<std::int64_t> creating;
            missing.add(1, creating.handler());
            pending_result<> putting;
            items.put("third", putting.handler());
            pending_result<queue_item> taking;
            items.take(taking.handler());
            // Of a queue whose items are known.
            const rule_id claims =
                count(proxy, at_frame([path](const frame_info& frame) {
                          return is_create(frame.op) && frame.path.starts_with(path + "/queue/");
                      }));
            pending_result<queue_claim> consuming;
            others.consume(consuming.handler());
            pending_result<> acknowledging;
            claim.acknowledge(acknowledging.handler());
            pending_result<> publishing;
            settings.publish("after", publishing.handler());
            outcome_result aborting;
            begun.coordinator->abort("for nobody", aborting.handler());
            pending_result<> cleaning;
            decided.coordinator->clean_up(true, cleaning.handler());
            pending_result<> finishing;
            decided.mine.finish(finishing.handler());
            // At paths that are not there yet.
            pending_result<ownership> permitting;
            semaphore(zk, path + "/semaphore", 2).acquire(1, permitting.handler());
            pending_result<ownership> locking;
            priority_lock(zk, path + "/priority-lock").acquire(1, locking.handler());
            committing.cancel(type);
            adding.cancel(type);
            creating.cancel(type);
            putting.cancel(type);
            taking.cancel(type);
            consuming.cancel(type);
            acknowledging.cancel(type);
            publishing.cancel(type);
            aborting.cancel(type);
            cleaning.cancel(type);
            finishing.cancel(type);
            permitting.cancel(type);
            locking.cancel(type);
            const error_code aborted = boost::asio::error::operation_aborted;
            CHECK(co_await finished(committing) == aborted);
            CHECK(co_await finished(adding) == aborted);
            CHECK(co_await finished(creating) == aborted);
            CHECK(co_await finished(putting) == aborted);
            CHECK(co_await finished(taking) == aborted);
            CHECK(co_await finished(consuming) == aborted);
            CHECK(co_await finished(acknowledging) == aborted);
            CHECK(co_await finished(publishing) == aborted);
            CHECK(co_await finished(aborting) == aborted);
            CHECK(co_await finished(cleaning) == aborted);
            CHECK(co_await finished(finishing) == aborted);
            CHECK(co_await finished(permitting) == aborted);
            CHECK(co_await finished(locking) == aborted);
            co_await accept_again(proxy, zk);
            co_await settle(zk);
            for (const auto& [node, data] : tree_at(path)) {
                INFO(node);
                CHECK(before.count(node) == 1);
                if (before.count(node) == 1)
                    CHECK(data == before.at(node));
            }
            CHECK(tree_at(path).size() == before.size());
            CHECK(proxy.fired(claims) == 0);

            // Nothing is in the way of those that come later.
            const std::int64_t sum = co_await numbers.add(1);
            CHECK(sum == 2);
            co_await items.put("third");
            co_await claim.acknowledge();
            queue_item item = co_await items.take();
            CHECK(item.data == "second");
            co_await held.commit(write);
            co_await settings.publish("after");
            co_await begun.coordinator->abort("for somebody");
            co_await decided.mine.finish();
            co_await decided.coordinator->clean_up(true);
            co_await held.release();
        });
    }
}

TEST_CASE("what was lost on its way and is cancelled in the outage is not sent again after it") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        counter numbers(zk, path + "/counter");
        co_await numbers.add(1);
        queue items(zk, path + "/queue");
        co_await items.put("first");
        co_await items.put("second");
        const tree before = tree_at(path);
        queue_claim claim = co_await items.consume();
        auto lost_and_cancelled =
            [&](testing::op_code what, auto& pending, auto start) -> awaitable<error_code> {
            const rule_id lost = proxy.arm(at_op(what), drop_request_and_cut().then_refuse());
            start();
            co_await eventually_async([&] { return proxy.fired(lost) == 1; });
            co_await eventually_async([&] { return zk.state() == session_state::suspended; });
            pending.cancel();
            const error_code ec = co_await finished(pending);
            co_await accept_again(proxy, zk);
            co_await settle(zk);
            co_return ec;
        };
        const error_code aborted = boost::asio::error::operation_aborted;
        pending_result<> acknowledging;
        auto acknowledge = [&] {
            claim.acknowledge(acknowledging.handler());
            claim = queue_claim();
        };
        error_code ec =
            co_await lost_and_cancelled(testing::op_code::multi, acknowledging, acknowledge);
        CHECK(ec == aborted);
        co_await eventually_async([&] { return tree_at(path) == before; });
        pending_result<> putting;
        auto put = [&] { items.put("third", putting.handler()); };
        ec = co_await lost_and_cancelled(testing::op_code::multi, putting, put);
        CHECK(ec == aborted);
        CHECK(tree_at(path) == before);
        pending_result<std::int64_t> adding;
        auto add = [&] { numbers.add(1, adding.handler()); };
        ec = co_await lost_and_cancelled(testing::op_code::set_data, adding, add);
        CHECK(ec == aborted);
        CHECK(tree_at(path) == before);

        co_await items.put("third");
        for (const char* expected : {"first", "second", "third"}) {
            queue_item item = co_await items.take();
            CHECK(item.data == expected);
        }
        const std::int64_t sum = co_await numbers.add(1);
        CHECK(sum == 2);
    });
}

TEST_CASE("what reaches its deadline in an outage is not sent after it") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path);
        barrier gate(zk, path + "/gate");
        co_await gate.set();
        counter numbers(zk, path + "/counter");
        co_await numbers.add(1);
        configuration value(zk, path + "/value");
        co_await value.publish("before");
        two_sites decided(zk, zk, zk, path + "/decided", commit_form::all_sites);
        co_await decided.begin();
        co_await decided.coordinator->abort("for the test");
        co_await decided.mine.wait_outcome();
        co_await settle(zk);
        const tree before = tree_at(path);

        co_await lose_servers(zk, proxy);
        pending_result<bool> removing;
        gate.remove_for(20ms, removing.handler());
        pending_result<std::int64_t> reading, adding, replacing;
        numbers.get_for(20ms, reading.handler());
        numbers.add_for(1, 20ms, adding.handler());
        numbers.exchange_until(7, steady_clock::now() + 20ms, replacing.handler());
        pending_result<counter_exchange> comparing;
        numbers.compare_and_set_for(1, 7, 20ms, comparing.handler());
        pending_result<> publishing, publishing_too;
        value.publish_for("after", 20ms, publishing.handler());
        value.publish_until("after", steady_clock::now() + 20ms, publishing_too.handler());
        pending_result<> cleaning;
        decided.coordinator->clean_up_for(true, 20ms, cleaning.handler());
        pending_result<> finishing, finishing_too;
        decided.mine.finish_for(20ms, finishing.handler());
        decided.mine.finish_until(steady_clock::now() + 20ms, finishing_too.handler());
        CHECK(co_await finished(removing) == errc::deadline_exceeded);
        CHECK(co_await finished(reading) == errc::deadline_exceeded);
        CHECK(co_await finished(adding) == errc::deadline_exceeded);
        CHECK(co_await finished(replacing) == errc::deadline_exceeded);
        CHECK(co_await finished(comparing) == errc::deadline_exceeded);
        CHECK(co_await finished(publishing) == errc::deadline_exceeded);
        CHECK(co_await finished(publishing_too) == errc::deadline_exceeded);
        CHECK(co_await finished(cleaning) == errc::deadline_exceeded);
        CHECK(co_await finished(finishing) == errc::deadline_exceeded);
        CHECK(co_await finished(finishing_too) == errc::deadline_exceeded);
        co_await accept_again(proxy, zk);
        co_await settle(zk);
        CHECK(tree_at(path) == before);
        const std::int64_t sum = co_await numbers.add(1);
        CHECK(sum == 2);
        co_await decided.mine.finish();
        co_await decided.coordinator->clean_up(true);
    });
}

TEST_CASE("the deadline of a change holds while its response does not come") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        counter numbers(zk, path + "/counter");
        co_await numbers.add(1);
        configuration value(zk, path + "/value");
        co_await value.publish("before");
        versioned_configuration parts(zk, path + "/parts");
        // On a slow machine the deadline may come before the request; then it is not sent.
        auto late = [&](testing::op_code what, auto start) -> awaitable<void> {
            const rule_id silent = proxy.arm(at_op(what), hold_reply());
            for (auto limit = 20ms; proxy.fired(silent) == 0; limit *= 2) {
                const error_code ec = co_await start(limit);
                CHECK(ec == errc::deadline_exceeded);
            }
            proxy.release(silent);
        };
        auto add = [&](time_limit limit) -> awaitable<error_code> {
            auto [ec, sum] = co_await numbers.add_for(1, limit, as_tuple());
            co_return ec;
        };
        co_await late(testing::op_code::set_data, add);
        const std::int64_t sum = co_await numbers.add(1);
        CHECK(sum == 3);
        auto publish = [&](time_limit limit) -> awaitable<error_code> {
            auto [ec] = co_await value.publish_for("after", limit, as_tuple());
            co_return ec;
        };
        co_await late(testing::op_code::set_data, publish);
        co_await eventually_async([&] { return observer().data(path + "/value") == "after"; });
        // What has begun is published as a whole.
        const configuration_parts both = {{"a", "1"}, {"b", "2"}};
        auto publish_parts = [&](time_limit limit) -> awaitable<error_code> {
            auto [ec] = co_await parts.publish_for(both, limit, as_tuple());
            co_return ec;
        };
        co_await late(testing::op_code::multi, publish_parts);
        configuration_version read;
        while (read.status != configuration_status::published)
            read = co_await parts.next(read);
        CHECK(read.parts->size() == 2);
    });
}

TEST_CASE("what is kept changes and ends after an outage, although the deadline was in it") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        membership group(zk, path + "/group");
        co_await group.join("me", "1");
        rendezvous point(zk, path + "/point");
        co_await point.publish("1");
        persistent_node kept(zk, path + "/kept");
        co_await kept.keep("1");
        partitioner shards(zk, path + "/shards", {"a"});
        co_await shards.join("me");
        const std::string nodes[] = {path + "/group/me", path + "/point", path + "/kept"};
        const std::string member = path + "/shards/members/me";
        auto until_soon = [] { return steady_clock::now() + 20ms; };

        for (bool until : {false, true}) {
            const std::string value = until ? "3" : "2";
            co_await lose_servers(zk, proxy);
            pending_result<> changes[3];
            if (until) {
                group.set_data_until(value, until_soon(), changes[0].handler());
                point.set_data_until(value, until_soon(), changes[1].handler());
                kept.set_data_until(value, until_soon(), changes[2].handler());
            } else {
                group.set_data_for(value, 20ms, changes[0].handler());
                point.set_data_for(value, 20ms, changes[1].handler());
                kept.set_data_for(value, 20ms, changes[2].handler());
            }
            for (auto& change : changes)
                CHECK(co_await finished(change) == errc::deadline_exceeded);
            co_await accept_again(proxy, zk);
            for (const std::string& node : nodes)
                co_await eventually_async([&] { return observer().data(node) == value; });
        }

        co_await lose_servers(zk, proxy);
        pending_result<> ends[4];
        group.leave_for(20ms, ends[0].handler());
        point.withdraw_for(20ms, ends[1].handler());
        kept.erase_for(20ms, ends[2].handler());
        shards.leave_until(until_soon(), ends[3].handler());
        for (auto& end : ends)
            CHECK(co_await finished(end) == errc::deadline_exceeded);
        // Another call waits for the same.
        pending_result<> late[3];
        group.leave_until(until_soon(), late[0].handler());
        point.withdraw_until(until_soon(), late[1].handler());
        kept.erase_until(until_soon(), late[2].handler());
        for (auto& end : late)
            CHECK(co_await finished(end) == errc::deadline_exceeded);
        co_await accept_again(proxy, zk);
        for (const std::string& node : nodes)
            co_await eventually_async([&] { return !observer().exists(node); });
        co_await eventually_async([&] { return !observer().exists(member); });
    });
}

TEST_CASE("a parent is not created for calls that are over") {
    enum class kind { lock, membership, double_barrier };
    for (kind what : {kind::lock, kind::membership, kind::double_barrier}) {
        with_proxy([=](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            co_await zk.ensure_path(path);
            const std::string missing = path + "/none";
            rule_id held =
                proxy.arm(at_op(op_code::create_container).under(missing), hold_request());
            lock l(zk, missing + "/lock");
            membership group(zk, missing + "/group");
            double_barrier round(zk, missing + "/round", 2);
            pending_result<ownership> acquiring;
            pending_result<> joining;
            switch (what) {
                case kind::lock: l.acquire(acquiring.handler()); break;
                case kind::membership: group.join("member", "", joining.handler()); break;
                case kind::double_barrier: round.enter(joining.handler()); break;
            }
            co_await eventually_async([&] { return proxy.fired(held) == 1; });
            co_await lose_servers(zk, proxy);
            const error_code aborted = boost::asio::error::operation_aborted;
            if (what == kind::lock) {
                acquiring.cancel();
                CHECK(co_await finished(acquiring) == aborted);
            } else {
                joining.cancel();
                CHECK(co_await finished(joining) == aborted);
            }
            proxy.disarm(held);
            co_await accept_again(proxy, zk);
            co_await settle(zk);
            CHECK_FALSE(observer().exists(missing));
        });
    }
}

TEST_CASE(
    "of those that share a request, the ones that were cancelled in an outage are not in it") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        counter numbers(zk, path + "/counter");
        co_await numbers.add(1);
        queue items(zk, path + "/queue");
        co_await items.put("1");
        co_await lose_servers(zk, proxy);
        pending_result<std::int64_t> small, large, largest;
        numbers.add(10, small.handler());
        numbers.add(100, large.handler());
        numbers.add(1000, largest.handler());
        pending_result<> second, third, fourth;
        items.put("2", second.handler());
        items.put("3", third.handler());
        items.put("4", fourth.handler());
        large.cancel();
        third.cancel();
        co_await accept_again(proxy, zk);
        CHECK(!co_await finished(small));
        CHECK(small.value() == 11);
        CHECK(!co_await finished(largest));
        CHECK(largest.value() == 1011);
        CHECK(!co_await finished(second));
        CHECK(!co_await finished(fourth));
        for (const char* expected : {"1", "2", "4"}) {
            queue_item item = co_await items.take();
            CHECK(item.data == expected);
        }
    });
}

}  // namespace corozk::testing::cancelled_in_outage_test
