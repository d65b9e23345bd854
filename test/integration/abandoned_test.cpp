// SPDX-License-Identifier: Apache-2.0
// A program that ends its io_context in the middle of everything: coroutines own the objects that own
// the operations that own the coroutines, and all of it goes.
#include "pending_result.hpp"
#include <corozk.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace corozk::testing::abandoned_test {

using namespace corozk;
using namespace corozk::testing;
using namespace boost::asio::experimental::awaitable_operators;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

using work = awaitable<void> (*)(client&, std::string);

/// How far a coroutine has come.
struct progress {
    bool connected = false;
    bool ended = false;
};

/// `alive` for as long as the coroutine's frame.
awaitable<void> whole(std::shared_ptr<progress> alive, std::string path, work what) {
    client_options options = options_for(shared_server().hosts());
    auto executor = co_await boost::asio::this_coro::executor;
    client zk = co_await client::connect(executor, options);
    alive->connected = true;
    co_await what(zk, path);
    alive->ended = true;
}

/// Turns of the loop until nothing happens any more once it is connected; at most so many.
std::size_t turns(boost::asio::io_context& context,
                  const std::weak_ptr<progress>& seen,
                  std::size_t most) {
    auto patience = [&seen]() -> std::chrono::milliseconds {
        auto here = seen.lock();
        return here && !here->connected ? 20'000ms : 60ms;
    };
    std::size_t count = 0;
    while (count < most && context.run_one_for(patience()) > 0)
        ++count;
    return count;
}

void abandon_at_every_stage(const char* name, work what) {
    INFO(name);
    constexpr std::size_t stages = 6;
    std::size_t all = 0;
    for (std::size_t stage = stages; stage > 0; --stage) {
        std::weak_ptr<progress> seen;
        {
            boost::asio::io_context context;
            auto alive = std::make_shared<progress>();
            seen = alive;
            boost::asio::co_spawn(
                context, whole(std::move(alive), fresh_path(), what), boost::asio::detached);
            std::size_t most = stage == stages ? 100'000 : all * stage / stages;
            std::size_t count = turns(context, seen, most);
            if (stage == stages) {
                all = count;
                auto here = seen.lock();
                REQUIRE(here);  // it waits
                REQUIRE(here->connected);
                REQUIRE_FALSE(here->ended);
            }
        }
        INFO("stage " << stage);
        CHECK(seen.expired());
    }
}

}  // namespace

TEST_CASE("abandoned: who waits in a line") {
    abandon_at_every_stage("lock", [](client& zk, std::string path) -> awaitable<void> {
        lock l(zk, path);
        ownership held = co_await l.acquire();
        ownership second = co_await l.acquire();
    });
    abandon_at_every_stage("ownership", [](client& zk, std::string path) -> awaitable<void> {
        lock l(zk, path);
        ownership held = co_await l.acquire();
        co_await (held.wait_lost() && held.wait_release_requested());
    });
    abandon_at_every_stage("shared lock", [](client& zk, std::string path) -> awaitable<void> {
        shared_lock l(zk, path);
        ownership held = co_await l.acquire_read();
        ownership second = co_await l.acquire_write();
    });
    abandon_at_every_stage("semaphore", [](client& zk, std::string path) -> awaitable<void> {
        semaphore s(zk, path, 1);
        ownership held = co_await s.acquire();
        ownership second = co_await s.acquire();
    });
    abandon_at_every_stage("priority lock", [](client& zk, std::string path) -> awaitable<void> {
        priority_lock l(zk, path);
        ownership held = co_await l.acquire(1);
        ownership second = co_await l.acquire(0);
    });
    abandon_at_every_stage("multi-lock", [](client& zk, std::string path) -> awaitable<void> {
        lock l(zk, path + "/b");
        ownership held = co_await l.acquire();
        lock other(zk, path + "/a");
        multi_lock both(zk);
        both.add(other).add(l);
        multi_ownership all = co_await both.acquire();
    });
    abandon_at_every_stage("election", [](client& zk, std::string path) -> awaitable<void> {
        election e(zk, path);
        ownership leads = co_await e.campaign();
        ownership next = co_await e.campaign();
    });
    abandon_at_every_stage("leader latch", [](client& zk, std::string path) -> awaitable<void> {
        election e(zk, path);
        ownership leads = co_await e.campaign();
        leader_latch latch(zk, path);
        latch.start();
        co_await latch.wait_leadership();
    });
}

TEST_CASE("abandoned: who waits for others") {
    abandon_at_every_stage("barrier", [](client& zk, std::string path) -> awaitable<void> {
        barrier b(zk, path);
        co_await b.set();
        co_await b.wait();
    });
    abandon_at_every_stage("double barrier", [](client& zk, std::string path) -> awaitable<void> {
        double_barrier b(zk, path, 2);
        co_await b.enter();
    });
    abandon_at_every_stage("double barrier as Curator",
                           [](client& zk, std::string path) -> awaitable<void> {
                               double_barrier_options options;
                               options.compatibility = compatibility::curator;
                               double_barrier b(zk, path, 2, options);
                               co_await b.enter();
                           });
    abandon_at_every_stage("persistent node", [](client& zk, std::string path) -> awaitable<void> {
        persistent_node first(zk, path);
        co_await first.keep("x");
        persistent_node second(zk, path);
        co_await second.keep("y");
    });
    abandon_at_every_stage("persistent node: status",
                           [](client& zk, std::string path) -> awaitable<void> {
                               persistent_node node(zk, path);
                               co_await node.keep("x");
                               for (persistent_node_status seen = node.status();;)
                                   seen = co_await node.next_status(seen);
                           });
    abandon_at_every_stage("counter: next", [](client& zk, std::string path) -> awaitable<void> {
        counter c(zk, path);
        for (;;)
            co_await c.next();
    });
    abandon_at_every_stage("rendezvous", [](client& zk, std::string path) -> awaitable<void> {
        rendezvous r(zk, path);
        co_await r.await();
    });
    abandon_at_every_stage("name service: await",
                           [](client& zk, std::string path) -> awaitable<void> {
                               name_service names(zk, path);
                               co_await names.await_for("service", 1h);
                           });
    abandon_at_every_stage("membership", [](client& zk, std::string path) -> awaitable<void> {
        membership group(zk, path);
        co_await group.join("me");
        for (;;)
            co_await group.next();
    });
    abandon_at_every_stage("partitioner", [](client& zk, std::string path) -> awaitable<void> {
        const std::vector<std::string> shards{"one", "two"};
        partitioner_options options;
        options.settle = 0ms;
        partitioner p(zk, path, shards, options);
        co_await p.join("me");
        std::vector<partition_grant> held;
        for (;;) {
            partition_change change = co_await p.next();
            for (partition_grant& grant : change.gained)
                held.push_back(std::move(grant));
        }
    });
    abandon_at_every_stage("two-phase commit", [](client& zk, std::string path) -> awaitable<void> {
        std::vector<std::string> sites{"one", "two"};
        commit_coordinator coordinator(zk, path);
        commit_site site(zk, path, "one");
        co_await coordinator.begin(sites, "text");
        co_await site.join();
        co_await (coordinator.decide() && site.vote(commit_vote::commit));
    });
}

TEST_CASE("abandoned: queues and counters") {
    abandon_at_every_stage("queue: take", [](client& zk, std::string path) -> awaitable<void> {
        queue q(zk, path);
        co_await q.take();
    });
    abandon_at_every_stage("queue: consume", [](client& zk, std::string path) -> awaitable<void> {
        queue q(zk, path);
        co_await q.put("item");
        queue_claim claim = co_await q.consume();
        co_await (claim.wait_lost() && q.consume());
    });
    abandon_at_every_stage("queue: put", [](client& zk, std::string path) -> awaitable<void> {
        queue_options bounded;
        bounded.bound = 1;
        queue q(zk, path, bounded);
        co_await q.put("item");
        co_await q.put("another");
    });
    abandon_at_every_stage("delay queue", [](client& zk, std::string path) -> awaitable<void> {
        delay_queue q(zk, path);
        co_await q.put("item", 1h);
        co_await q.take();
    });
    // Nothing to wait for: each of these is on its way again and again.
    abandon_at_every_stage("counter", [](client& zk, std::string path) -> awaitable<void> {
        counter c(zk, path);
        for (int i = 0; i < 20; ++i)
            co_await (c.add(1) && c.add(2));
        barrier b(zk, path + "-gate");
        co_await b.set();
        co_await b.wait();
    });
}

TEST_CASE("abandoned: optimistic transactions") {
    abandon_at_every_stage("optimistic", [](client& zk, std::string path) -> awaitable<void> {
        optimistic_transaction t(zk, path);
        barrier b(zk, path + "-gate");
        co_await b.set();
        auto body = [&](transaction_attempt& attempt) -> awaitable<void> {
            std::vector<std::string> paths{path + "-a", path + "-b"};
            auto found = co_await attempt.get_all(paths);
            if (found[0])
                attempt.erase(paths[0]);
            else
                attempt.create(paths[0]);
            const bool there = (co_await attempt.get(path + "-c")).has_value();
            if (there)
                co_await b.wait();
            else
                attempt.create(path + "-c");
        };
        for (int i = 0; i < 2; ++i)
            co_await (t.run_for(1h, body) && t.run_for(1h, body));
    });
}

namespace {

/// One transaction, or two: the second waits for the first.
awaitable<void> transact(std::shared_ptr<int> alive, std::string hosts, bool two) {
    auto executor = co_await boost::asio::this_coro::executor;
    client zk = co_await client::connect(executor, options_for(hosts));
    const std::string path = fresh_path();
    optimistic_transaction t(zk, path);
    auto body = [&](transaction_attempt& attempt) -> awaitable<void> {
        attempt.create(path + "-a");
        co_return;
    };
    if (two)
        co_await (t.run(body) && t.run(body));
    else
        co_await t.run(body);
    ++*alive;
}

}  // namespace

TEST_CASE("abandoned: an optimistic transaction that awaits its response") {
    const bool two = GENERATE(false, true);
    fault_proxy proxy(shared_server().port());
    auto rule = proxy.arm(at_op(corozk::testing::op_code::multi), hold_reply());
    std::weak_ptr<int> seen;
    {
        boost::asio::io_context context;
        auto alive = std::make_shared<int>(0);
        seen = alive;
        boost::asio::co_spawn(
            context, transact(std::move(alive), proxy.hosts(), two), boost::asio::detached);
        for (int i = 0; i < 100'000 && proxy.fired(rule) == 0; ++i)
            context.run_one_for(60ms);
        REQUIRE(proxy.fired(rule) == 1);
        REQUIRE(seen.lock());
    }
    CHECK(seen.expired());
}

TEST_CASE("abandoned: in a part of the tree") {
    abandon_at_every_stage("below", [](client& zk, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path);
        client view = zk.below(path);
        lock l(view, "/l");
        tree_cache cache(view, "/");
        persistent_watch watch = co_await view.add_watch("/", watch_mode::persistent);
        ownership held = co_await l.acquire();
        tree_state seen;
        seen.revision = 1'000;
        co_await (l.acquire() && cache.next(seen) && watch.next() && held.wait_lost());
    });
}

TEST_CASE("abandoned: those who follow nodes") {
    abandon_at_every_stage("configuration", [](client& zk, std::string path) -> awaitable<void> {
        configuration c(zk, path);
        for (;;)
            co_await c.next();
    });
    abandon_at_every_stage("ready configuration",
                           [](client& zk, std::string path) -> awaitable<void> {
                               ready_configuration c(zk, path);
                               for (;;)
                                   co_await c.next();
                           });
    abandon_at_every_stage("versioned configuration",
                           [](client& zk, std::string path) -> awaitable<void> {
                               versioned_configuration c(zk, path);
                               for (;;)
                                   co_await c.next();
                           });
    abandon_at_every_stage("node cache", [](client& zk, std::string path) -> awaitable<void> {
        node_cache c(zk, path);
        for (;;)
            co_await c.next();
    });
    abandon_at_every_stage("children cache", [](client& zk, std::string path) -> awaitable<void> {
        co_await zk.create(path, "");
        children_cache c(zk, path);
        for (;;)
            co_await c.next();
    });
    abandon_at_every_stage("tree cache", [](client& zk, std::string path) -> awaitable<void> {
        tree_cache c(zk, path);
        for (;;)
            co_await c.next();
    });
    abandon_at_every_stage("name service: follow",
                           [](client& zk, std::string path) -> awaitable<void> {
                               name_service names(zk, path);
                               name_watch watch = names.follow("service");
                               for (;;)
                                   co_await watch.next();
                           });
    abandon_at_every_stage("service discovery",
                           [](client& zk, std::string path) -> awaitable<void> {
                               service_discovery services(zk, path);
                               service_instance instance("web", "127.0.0.1", 80);
                               co_await services.register_instance(instance);
                               service_cache cache(zk, path, "web");
                               service_state state = co_await cache.next();
                               co_await cache.next(state);
                           });
    abandon_at_every_stage("service provider", [](client& zk, std::string path) -> awaitable<void> {
        service_provider provider(zk, path, "nobody");
        co_await provider.get_endpoints_for(1h);
    });
}

}  // namespace corozk::testing::abandoned_test
