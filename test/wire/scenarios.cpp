// SPDX-License-Identifier: Apache-2.0
#include "scenarios.hpp"

#include <corozk/recipe/cache.hpp>
#include <corozk/recipe/configuration.hpp>
#include <corozk/recipe/counter.hpp>
#include <corozk/recipe/delay_queue.hpp>
#include <corozk/recipe/double_barrier.hpp>
#include <corozk/recipe/election.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/membership.hpp>
#include <corozk/recipe/priority_lock.hpp>
#include <corozk/recipe/queue.hpp>
#include <corozk/recipe/semaphore.hpp>
#include <corozk/recipe/shared_lock.hpp>
#include <corozk/recipe/two_phase_commit.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>

namespace corozk::wire {

namespace {

using boost::asio::awaitable;
using namespace std::chrono_literals;

auto as_tuple() {
    return boost::asio::as_tuple(boost::asio::use_awaitable);
}

/// As by somebody who does not wait for ever. Whom a lie has told of a node that is not there, or not of
/// one that is, may wait for its end, or for news of it.
template <class Value>
awaitable<void> for_a_second(awaitable<Value> operation) {
    using namespace boost::asio::experimental::awaitable_operators;
    boost::asio::steady_timer limit(co_await boost::asio::this_coro::executor, 1s);
    co_await (std::move(operation) || limit.async_wait(boost::asio::use_awaitable));
}

awaitable<void> operations(client& c, std::string folder) {
    std::string node = folder + "/node";
    co_await c.ensure_path(folder);
    co_await c.create(node, "1");
    watched_data seen = co_await c.watch_data(node);
    co_await c.set(node, "2");
    co_await seen.changed.next();
    co_await c.get(node);
    co_await c.exists(node);
    watched_children listed = co_await c.watch_children(folder);
    co_await c.get_acl(node);
    transaction steps;
    steps.create(folder + "/other", "x").set(node, "3").check(node).erase(folder + "/other");
    co_await c.commit(steps);
    co_await listed.changed.next();
    co_await c.sync(node);
    co_await c.erase(node);
    co_await c.children(folder);
}

awaitable<void> locks(client& c, std::string folder) {
    lock l(c, folder);
    ownership first = co_await l.acquire_for(2s);
    lock other(c, folder);
    auto [ec, second] = co_await other.try_acquire(as_tuple());
    co_await l.contenders();
    co_await first.release();
    ownership third = co_await other.acquire_for(2s);
    co_await third.release();
}

awaitable<void> shared_locks(client& c, std::string folder) {
    shared_lock l(c, folder);
    ownership reader = co_await l.acquire_read_for(2s);
    ownership other = co_await l.acquire_read_for(2s);
    co_await reader.release();
    co_await other.release();
    ownership writer = co_await l.acquire_write_for(2s);
    co_await l.contenders();
    co_await writer.release();
}

awaitable<void> priority_locks(client& c, std::string folder) {
    priority_lock l(c, folder);
    ownership held = co_await l.acquire_for(5, 2s);
    auto [ec, none] = co_await l.try_acquire(1, as_tuple());
    co_await l.contenders();
    co_await held.release();
}

awaitable<void> semaphores(client& c, std::string folder) {
    semaphore s(c, folder, 3);
    ownership two = co_await s.acquire_for(2s, 2);
    co_await s.available();
    ownership one = co_await s.acquire_for(2s, 1);
    co_await two.release();
    co_await one.release();
}

awaitable<void> elections(client& c, std::string folder) {
    election e(c, folder);
    ownership term = co_await e.campaign_for(2s);
    co_await e.acknowledge(term);
    co_await e.leader();
    co_await term.release();
}

awaitable<void> caches(client& c, std::string folder) {
    co_await c.ensure_path(folder + "/a/b");
    tree_cache cache(c, folder);
    co_await for_a_second(cache.next());
    auto [ec, made] = co_await c.create(folder + "/a/c", "1", create_options(), as_tuple());
    co_await for_a_second(cache.next(cache.current().revision));
}

awaitable<void> queues(client& c, std::string folder) {
    queue q(c, folder);
    auto deadline = std::chrono::steady_clock::now() + 2s;
    co_await q.put_until("a", deadline);
    co_await q.put_until("b", deadline);
    co_await q.size();
    co_await q.take_until(deadline);
    queue_claim claim = co_await q.consume_until(deadline);
    co_await claim.acknowledge();
}

awaitable<void> delay_queues(client& c, std::string folder) {
    delay_queue q(c, folder);
    auto deadline = std::chrono::steady_clock::now() + 2s;
    co_await q.put_until("b", 20ms, deadline);
    co_await q.put_until("a", 10ms, deadline);
    co_await q.take_until(deadline);
    queue_claim claim = co_await q.consume_until(deadline);
    co_await claim.acknowledge();
}

template <class Layout>
awaitable<void> configurations(client& c, std::string folder) {
    Layout mine(c, folder + "/c");
    configuration_parts parts{{"one", "1"}, {"two", "2"}};
    co_await mine.publish(parts);
    configuration_version v = co_await mine.next();
    parts["one"] = "3";
    co_await mine.publish(parts);
    co_await mine.next(v.revision);
}

awaitable<void> two_phase_commits(client& c, std::string folder) {
    std::string path = folder + "/tx";
    std::vector<std::string> sites{"a"};
    commit_coordinator coordinator(c, path);
    co_await coordinator.begin(sites, "payload");
    commit_site site(c, path, "a");
    co_await site.join_for(2s);
    co_await site.vote_for(2s, commit_vote::commit);
    co_await coordinator.decide_for(2s);
    co_await site.finish();
    co_await coordinator.clean_up();
}

awaitable<void> counters(client& c, std::string folder) {
    counter mine(c, folder + "/c");
    co_await mine.add(1);
    co_await mine.get();
    co_await mine.compare_and_set(1, 5);
    co_await mine.add(1);
}

awaitable<void> members(client& c, std::string folder) {
    membership group(c, folder);
    co_await group.join_for(2s, "a", "1");
    co_await group.members();
    co_await for_a_second(group.set_data("2"));
    co_await group.leave();
}

awaitable<void> double_barriers(client& c, std::string folder) {
    double_barrier gate(c, folder, 1);
    co_await gate.enter_for(2s);
    co_await gate.leave_for(2s);
}

}  // namespace

const std::vector<scenario>& all_scenarios() {
    static const std::vector<scenario> all = {
        {"operations", operations},
        {"lock", locks},
        {"shared_lock", shared_locks},
        {"priority_lock", priority_locks},
        {"semaphore", semaphores},
        {"election", elections},
        {"cache", caches},
        {"queue", queues},
        {"delay_queue", delay_queues},
        {"configuration", configurations<versioned_configuration>},
        {"ready_configuration", configurations<ready_configuration>},
        {"two_phase_commit", two_phase_commits},
        {"counter", counters},
        {"membership", members},
        {"double_barrier", double_barriers},
    };
    return all;
}

}  // namespace corozk::wire
