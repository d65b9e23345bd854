// SPDX-License-Identifier: Apache-2.0
#include "lagging_server.hpp"
#include "own_requests.hpp"
#include "pending_result.hpp"
#include <corozk/recipe/counter.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <catch2/catch.hpp>

#include <memory>

namespace corozk::testing::counter_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

std::int64_t value_at(const std::string& path) {
    return std::stoll(observer().data(path));
}

}  // namespace

TEST_CASE("counter: a new session's server is asked to catch up with our last update, once") {
    with_proxy(
        [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            counter c(zk, path + "/c");
            co_await c.add(1);
            co_await c.get();
            std::uint64_t generation = zk.status().generation;
            expire(proxy.session());
            proxy.cut();
            co_await eventually_async([&] {
                return zk.state() == session_state::connected &&
                       zk.status().generation > generation;
            });
            rule_id syncs = count(proxy, at_op(testing::op_code::sync).under(path));
            auto value = co_await c.get();
            CHECK(value == 1);
            CHECK(proxy.fired(syncs) == 1);
            value = co_await c.get();
            CHECK(value == 1);
            CHECK(proxy.fired(syncs) == 1);
        },
        run_limit,
        steady_session);
}

TEST_CASE(
    "counter: an object that was not used before sees what another one of this client wrote") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        counter a(zk, path + "/c");
        co_await a.add(3);
        co_await next_session_lags(zk, proxy, path);
        counter b(zk, path + "/c");
        auto value = co_await b.get();
        CHECK(value == 3);
    });
}

TEST_CASE("counter: a comparison fails only against what a server that has caught up says") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        counter mine(zk, path + "/c");
        counter theirs(other, path + "/c");
        co_await theirs.add(7);
        lag_behind(proxy, path);
        auto result = co_await mine.compare_and_set(7, 8);
        CHECK(result.exchanged);
        CHECK(value_at(path + "/c") == 8);
        co_await other.close();
    });
}

TEST_CASE("counter: a lost answer is decided although others wrote in between") {
    for (bool delivered : {false, true}) {
        with_proxy([&](client& zk, fault_proxy& proxy, std::string folder) -> awaitable<void> {
            client other = co_await one_more_client();
            std::string path = folder + "/c";
            counter mine(zk, path);
            counter theirs(other, path);
            co_await mine.add(1);
            proxy.arm(at_op(testing::op_code::set_data),
                      delivered ? swallow_reply_and_cut().then_refuse()
                                : drop_request_and_cut().then_refuse());
            pending_result<std::int64_t> added;
            mine.add(100, added.handler());
            co_await eventually_async([&] { return zk.state() == session_state::suspended; });
            for (int i = 0; i < 10; ++i)
                co_await theirs.add(1);
            CHECK_FALSE(added.done());
            proxy.set_acceptance(acceptance::normal);
            CHECK(!co_await finished(added));
            CHECK(added.value() == (delivered ? 101 : 111));
            CHECK(value_at(path) == 111);
            co_await other.close();
        });
    }
}

TEST_CASE("counter: a lost request that one of its calls still waits for is sent again as it was") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        path += "/c";
        counter c(zk, path);
        co_await c.add(1);
        const rule_id first = proxy.arm(at_op(testing::op_code::set_data), hold_reply());
        pending_result<std::int64_t> alone, left, gone;
        c.add(10, alone.handler());
        co_await eventually_async([&] { return proxy.fired(first) == 1; });
        c.add(100, left.handler());
        c.add(1000, gone.handler());
        const rule_id lost =
            proxy.arm(at_op(testing::op_code::set_data), drop_request_and_cut().then_refuse());
        proxy.release(first);
        CHECK(!co_await finished(alone));
        co_await eventually_async([&] { return proxy.fired(lost) == 1; });
        co_await eventually_async([&] { return zk.state() == session_state::suspended; });
        gone.cancel();
        CHECK(co_await finished(gone) == boost::asio::error::operation_aborted);
        co_await accept_again(proxy, zk);
        CHECK(!co_await finished(left));
        CHECK(left.value() == 111);
        CHECK(value_at(path) == 1111);
    });
}

TEST_CASE("counter: the server is killed and restarted under load") {
    server victim(recipe_server_options());
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            auto executor = co_await boost::asio::this_coro::executor;
            client zk = co_await connect_to(victim.hosts(), 20s);
            co_await zk.ensure_path("/folder");
            counter c(zk, "/folder/c");
            std::int64_t last = 0;
            bool ordered = true;
            bool stop = false;
            bool stopped = false;
            std::int64_t count = 0;
            auto work = [&]() -> awaitable<void> {
                while (!stop) {
                    std::int64_t value = co_await c.add(1);
                    ordered = ordered && value == last + 1;
                    last = value;
                    ++count;
                }
                stopped = true;
            };
            boost::asio::co_spawn(executor, work(), boost::asio::detached);
            for (int i = 0; i < 3; ++i) {
                std::int64_t before = count;
                co_await eventually_async([&] { return count > before + 100; });
                victim.kill();
                victim.restart();
            }
            std::int64_t before = count;
            co_await eventually_async([&] { return count > before + 100; });
            stop = true;
            co_await eventually_async([&] { return stopped; });
            CHECK(ordered);
            CHECK(count == last);
            CHECK(std::stoll(admin(victim.port()).data("/folder/c")) == count);
            co_await zk.close();
        },
        90s);
}

TEST_CASE("counter: object or client goes first, with an update on its way") {
    for (bool client_first : {false, true}) {
        boost::asio::io_context context;
        fault_proxy proxy(shared_server().port());
        pending_result<std::int64_t> added;
        run(context, [&]() -> awaitable<void> {
            client zk = co_await connect_to(proxy.hosts());
            std::string path = fresh_path();
            co_await zk.ensure_path(path);
            auto c = std::make_unique<counter>(zk, path + "/c");
            co_await c->add(1);
            auto hold = proxy.arm(at_op(testing::op_code::set_data), hold_reply());
            c->add(1, added.handler());
            co_await eventually_async([&] { return proxy.fired(hold) == 1; });
            if (client_first) {
                zk = client();
                co_await finished(added);
                c.reset();
            } else {
                c.reset();
                co_await finished(added);
                proxy.release(hold);
                co_await zk.close(as_tuple());
            }
            proxy.disarm_all();
        });
        run_to_idle(context);
        CHECK(added.calls() == 1);
        if (client_first) {
            CHECK((is_outcome_unknown(added.error()) || added.error() == errc::closed));
        } else {
            CHECK(added.error() == boost::asio::error::operation_aborted);
        }
    }
}

TEST_CASE("counter: the object goes while the create of its node is cut") {
    // Of the node below a missing parent, of the parent, and of the node again.
    for (std::uint64_t k = 1; k <= 3; ++k) {
        for (auto fault :
             {drop_request_and_cut, swallow_reply_and_cut, cut_after_reply, hold_reply}) {
            CAPTURE(k, fault().what());
            with_proxy([&](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
                path += "/c";
                counter theirs(zk, path);
                auto c = std::make_unique<counter>(zk, path);
                const bool goes_first = fault == hold_reply;
                auto create = at_frame([](const frame_info& f) { return is_create(f.op); }, k);
                const rule_id rule =
                    proxy.arm(std::move(create), goes_first ? fault() : fault().then_refuse());
                pending_result<std::int64_t> added;
                c->add(5, added.handler());
                co_await eventually_async([&] { return proxy.fired(rule) == 1; });
                if (!goes_first) {
                    co_await eventually_async(
                        [&] { return zk.state() == session_state::suspended; });
                }
                c.reset();
                if (goes_first)
                    proxy.cut();
                else
                    proxy.set_acceptance(acceptance::normal);
                CHECK(co_await finished(added) == boost::asio::error::operation_aborted);
                CHECK(added.calls() == 1);
                // It may have made the node, and has added nothing.
                co_await settle(zk);
                if (observer().exists(path))
                    CHECK(value_at(path) == 0);
                auto sum = co_await theirs.add(1);
                CHECK(sum == 1);
                CHECK(value_at(path) == 1);
            });
        }
    }
}

}  // namespace corozk::testing::counter_test
