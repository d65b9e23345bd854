// SPDX-License-Identifier: Apache-2.0
#include "lagging_server.hpp"
#include "pending_result.hpp"
#include <corozk/recipe/queue.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace corozk::testing::queue_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

/// The data of a queue's items, in the order of their names.
std::vector<std::string> items_at(const std::string& path) {
    std::vector<std::string> items;
    admin hand = observer();
    for (const std::string& name : hand.children(path))
        items.push_back(hand.data(path + "/" + name));
    return items;
}

/// For one whose closing ends when the test wants it to.
client_options doomed_options(const std::string& hosts) {
    client_options options = options_for(hosts);
    options.close_timeout = 10s;
    return options;
}

/// Waits until of the queue `q` in this folder no claim, no record and no watch is left.
boost::asio::awaitable<void> only_items_left(std::string folder) {
    co_await eventually_async([&] {
        for (const auto& [node, session] : ephemerals(shared_server().port())) {
            if (node.starts_with(folder + "/"))
                return false;
        }
        return observer().children(folder + "/q-control").empty() &&
               watch_count(shared_server().port()) == 0;
    });
}

}  // namespace

TEST_CASE("queue: a put whose answer is lost is not doubled though its item was taken meanwhile") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        queue mine(zk, path + "/q");
        queue theirs(other, path + "/q");
        co_await mine.put("a");
        proxy.arm(at_op(testing::op_code::multi), swallow_reply_and_cut().then_refuse());
        pending_result<> put;
        mine.put("b", put.handler());
        queue_item item = co_await theirs.take();
        item = co_await theirs.take();
        CHECK(item.data == "b");
        CHECK_FALSE(put.done());
        co_await accept_again(proxy, zk);
        CHECK(!co_await finished(put));
        CHECK(items_at(path + "/q").empty());
        co_await other.close();
    });
}

TEST_CASE("queue: a put that is refused once its first attempt was lost knows what came of it") {
    constexpr std::int32_t read_and_admin = 17;
    constexpr std::int32_t all_but_erase = 23;
    for (bool may_withdraw : {true, false}) {
        CAPTURE(may_withdraw);
        with_proxy([may_withdraw](
                       client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            admin hand = observer();
            queue q(zk, path + "/q");
            co_await q.put("a");
            proxy.arm(at_op(testing::op_code::multi), drop_request_and_cut().then_refuse());
            pending_result<> put;
            q.put("b", put.handler());
            co_await eventually_async([&] { return zk.state() == session_state::suspended; });
            hand.session().set_acl(path + "/q", {{read_and_admin, "world", "anyone"}});
            if (!may_withdraw)
                hand.session().set_acl(path + "/q-control", {{all_but_erase, "world", "anyone"}});
            co_await accept_again(proxy, zk);
            error_code ec = co_await finished(put);
            // The first attempt might still arrive, as long as the node of `exactly_once` is there.
            CHECK(ec == (may_withdraw ? zk_errc::no_auth : zk_errc::connection_loss));
            for (const char* folder : {"/q", "/q-control"})
                hand.session().set_acl(path + folder, testing::open_acl());
            co_await q.put("c");
            CHECK(items_at(path + "/q") == std::vector<std::string>{"a", "c"});
        });
    }
}

TEST_CASE("queue: a take in doubt is not repeated in a folder that was made anew") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        {
            queue mine(zk, path + "/q");
            queue theirs(other, path + "/q");
            co_await theirs.put("a");
            co_await theirs.put("b");
            queue_item item = co_await mine.take();
            CHECK(item.data == "a");
            proxy.arm(at_op(testing::op_code::multi), drop_request_and_cut().then_refuse());
            pending_result<queue_item> taken;
            mine.take(taken.handler());
            co_await eventually_async([&] { return zk.state() == session_state::suspended; });
            observer().erase_recursively(path + "/q");
            co_await theirs.put("c");
            co_await theirs.put("d");
            co_await accept_again(proxy, zk);
            CHECK(!co_await finished(taken));
            CHECK(taken.value().data == "c");
            CHECK(items_at(path + "/q") == std::vector<std::string>{"d"});
        }
        co_await only_items_left(path);
        co_await other.close();
    });
}

TEST_CASE("queue: closing the client waits until what nobody takes any more is back") {
    for (bool destroyed : {false, true}) {
        CAPTURE(destroyed);
        with_proxy([&](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            std::string folder = path + "/q";
            auto executor = co_await boost::asio::this_coro::executor;
            client_options options = doomed_options(proxy.hosts());
            client doomed = co_await client::connect(executor, options);
            std::optional<queue> mine(std::in_place, doomed, folder);
            co_await mine->put("a");
            co_await mine->put("b");
            proxy.arm(at_op(testing::op_code::multi), hold_reply());
            pending_result<queue_item> first;
            pending_result<queue_item> second;
            mine->take(first.handler());
            mine->take(second.handler());
            co_await eventually_async([&] { return items_at(folder).empty(); });
            first.cancel();
            second.cancel();
            CHECK(co_await finished(first) == boost::asio::error::operation_aborted);
            CHECK(co_await finished(second) == boost::asio::error::operation_aborted);
            if (destroyed)
                mine.reset();
            pending_result<> closed;
            doomed.close(closed.handler());
            pending_result<> refused;
            doomed.sync("/", refused.handler());
            CHECK(co_await finished(refused) == errc::closed);
            CHECK_FALSE(closed.done());
            proxy.disarm_all();
            CHECK(!co_await finished(closed));
            CHECK(items_at(folder) == std::vector<std::string>{"a", "b"});
            queue_item again = co_await queue(zk, folder).take();
            CHECK(again.data == "a");
        });
    }
}

TEST_CASE("queue: closing the client waits until what was put too late is gone") {
    with_proxy([](client&, fault_proxy& proxy, std::string path) -> awaitable<void> {
        const std::string folder = path + "/q";
        auto executor = co_await boost::asio::this_coro::executor;
        client_options options = doomed_options(proxy.hosts());
        client doomed = co_await client::connect(executor, options);
        queue mine(doomed, folder);
        co_await mine.put("a");
        const rule_id held = proxy.arm(at_op(testing::op_code::multi), hold_reply());
        auto [late] = co_await mine.put_for("b", 50ms, as_tuple());
        CHECK(late == errc::deadline_exceeded);
        co_await eventually_async([&] { return proxy.fired(held) == 1; });
        pending_result<> closed;
        doomed.close(closed.handler());
        pending_result<> refused;
        doomed.sync("/", refused.handler());
        CHECK(co_await finished(refused) == errc::closed);
        proxy.release(held);
        CHECK(!co_await finished(closed));
        CHECK(items_at(folder) == std::vector<std::string>{"a"});
    });
}

TEST_CASE("queue: an ephemeral item of another session that is put back outlives both sessions") {
    for (bool own : {true, false}) {
        CAPTURE(own);
        with_proxy([&](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            const std::string folder = path + "/q";
            queue_options fleeting;
            fleeting.mode = create_mode::ephemeral;
            client doomed = co_await connect_to(proxy.hosts());
            queue mine(doomed, folder, fleeting);
            queue theirs(zk, folder, fleeting);
            queue& producer = own ? mine : theirs;
            co_await producer.put("a");
            const rule_id held = proxy.arm(at_op(testing::op_code::multi), hold_reply());
            pending_result<queue_item> taking;
            mine.take(taking.handler());
            co_await eventually_async([&] { return items_at(folder).empty(); });
            taking.cancel();
            CHECK(co_await finished(taking) == boost::asio::error::operation_aborted);
            proxy.release(held);
            co_await eventually_async(
                [&] { return items_at(folder) == std::vector<std::string>{"a"}; });
            const auto name = observer().children(folder).at(0);
            auto item = observer().stat(folder + "/" + name);
            REQUIRE(item);
            CHECK(item->ephemeral_owner == (own ? doomed.session_id() : 0));
            co_await doomed.close();
            CHECK(items_at(folder).empty() == own);
        });
    }
}

TEST_CASE("queue: what happens to the requests that put an item back while the client is closed") {
    /// An item that is taken for nobody, while the client is closed.
    struct closing {
        fault_proxy& proxy;
        rule_id taking;  ///< held: the response to the delete, or its request
        pending_result<> closed{};
        std::function<void()> cancel{};  ///< the closing
    };
    enum class end { back, lost };
    auto delete_held = [] { return hold_reply(); };
    auto play = [&](auto hold, auto arm, end expected, bool is_said) {
        with_proxy([&](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            auto executor = co_await boost::asio::this_coro::executor;
            const std::string folder = path + "/q";
            std::string log;
            client_options options = doomed_options(proxy.hosts());
            options.logger =
                logger(log_level::error, [&](log_level, std::string_view text) { log += text; });
            client doomed = co_await client::connect(executor, options);
            queue mine(doomed, folder);
            co_await mine.put("a");
            const std::string name = observer().children(folder).at(0);
            closing c{.proxy = proxy, .taking = proxy.arm(at_op(testing::op_code::multi), hold())};
            c.cancel = [&] { boost::asio::post(executor, [&] { c.closed.cancel(); }); };
            pending_result<queue_item> taking;
            mine.take(taking.handler());
            co_await eventually_async([&] { return proxy.fired(c.taking) == 1; });
            taking.cancel();
            CHECK(co_await finished(taking) == boost::asio::error::operation_aborted);
            // Behind the response to the delete.
            const rule_id rule = arm(c);
            doomed.close(c.closed.handler());
            proxy.release(c.taking);
            error_code ec = co_await finished(c.closed);
            CHECK((!ec || ec == errc::session_left_to_expire ||
                   ec == boost::asio::error::operation_aborted));
            CHECK(c.closed.calls() == 1);
            if (rule != rule_id{})
                CHECK(proxy.fired(rule) == 1);
            co_await eventually_async(
                [&] { return (items_at(folder).empty() ? end::lost : end::back) == expected; });
            if (is_said)
                co_await eventually_async([&] { return !log.empty(); });
            if (expected == end::back) {
                queue_item again = co_await queue(zk, folder).take();
                CHECK(again.data == "a");
                CHECK(again.name == name);
            }
            CHECK(items_at(folder).empty());
            CHECK(log.empty() != is_said);
        });
    };
    auto at = [](trigger when, action what) {
        return [when, what](closing& c) { return c.proxy.arm(when, what); };
    };
    auto put_back = [] { return at_op(testing::op_code::multi); };
    auto goodbye = [] { return at_op(testing::op_code::close_session); };
    SECTION("none: it is back") {
        play(
            delete_held, [](closing&) { return rule_id{}; }, end::back, false);
    }
    SECTION("the connection is lost") {
        play(delete_held, at(put_back(), drop_request_and_cut()), end::lost, true);
        play(delete_held, at(put_back(), swallow_reply_and_cut()), end::back, true);
        play(delete_held, at(put_back(), cut_after_reply()), end::back, false);
        play(delete_held, at(goodbye(), drop_request_and_cut()), end::back, false);
        play(delete_held, at(goodbye(), swallow_reply_and_cut()), end::back, false);
    }
    SECTION("the connection is lost with the delete, or with its response") {
        auto cut_there = [](closing& c) {
            c.proxy.disarm(c.taking);
            c.proxy.cut();
            return rule_id{};
        };
        play([] { return hold_request(); }, cut_there, end::back, true);
        play(delete_held, cut_there, end::lost, true);
    }
    SECTION("nobody waits for it any more") {
        auto cancelled = [&](auto moment, trigger when) {
            play(
                delete_held,
                [&, moment](closing& c) {
                    return c.proxy.arm(when, moment([&c](const frame_info&) { c.cancel(); }));
                },
                end::back,
                false);
        };
        for (auto moment : {call_at_request, call_at_reply})
            cancelled(moment, put_back());
        cancelled(call_at_request, goodbye());
    }
}

TEST_CASE(
    "queue: what this client has put is there for it, whichever server its next session has") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        queue before(zk, path + "/q");
        co_await before.put("a");
        co_await next_session_lags(zk, proxy, path);
        queue after(zk, path + "/q");
        queue_item item = co_await after.try_take();
        CHECK(item.data == "a");
    });
}

TEST_CASE("queue: a late acknowledgement fails") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        queue mine(zk, path + "/q");
        queue theirs(other, path + "/q");
        co_await mine.put("a");
        queue_claim claim = co_await mine.consume();
        pending_result<error_code> lost;
        claim.wait_lost(lost.handler());
        // The server ends the session; our client hears of it later than the other consumer.
        proxy.black_hole(true);
        expire(proxy.session());
        queue_claim second = co_await theirs.consume();
        CHECK(second.data() == "a");
        proxy.black_hole(false);
        auto [ec] = co_await claim.acknowledge(transaction(), as_tuple());
        CHECK(ec == errc::ownership_lost);
        CHECK(!co_await finished(lost));
        CHECK(lost.value() == zk_errc::session_expired);
        co_await second.acknowledge();
        CHECK(items_at(path + "/q").empty());
        co_await other.close();
    });
}

TEST_CASE("priority queue: what was removed for somebody who left overtakes nothing") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        {
            priority_queue q(zk, path + "/q");
            priority_queue producer(other, path + "/q");
            co_await producer.put("low", 9);
            rule_id held = proxy.arm(at_op(testing::op_code::multi), hold_reply());
            pending_result<queue_item> gone;
            q.take(gone.handler());
            co_await eventually_async([&] { return items_at(path + "/q").empty(); });
            gone.cancel();
            error_code ec = co_await finished(gone);
            CHECK(ec == boost::asio::error::operation_aborted);
            co_await producer.put("urgent", 1);
            // Who asks now waits when the answer comes.
            pending_result<queue_item> next;
            q.take(next.handler());
            proxy.release(held);
            CHECK(!co_await finished(next));
            CHECK(next.value().data == "urgent");
            queue_item item = co_await q.take();
            CHECK(item.data == "low");
        }
        co_await only_items_left(path);
        co_await other.close();
    });
}

TEST_CASE("queue: consumed + remaining = produced while the server is killed") {
    server victim(recipe_server_options());
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            auto executor = co_await boost::asio::this_coro::executor;
            client producing = co_await connect_to(victim.hosts(), 20s);
            client consuming = co_await connect_to(victim.hosts(), 20s);
            queue in(producing, "/folder/q");
            queue out(consuming, "/folder/q");
            bool stop = false;
            int running = 3;
            int produced = 0;
            std::vector<int> consumed;
            auto produce = [&]() -> awaitable<void> {
                while (!stop) {
                    co_await in.put(std::to_string(produced));
                    ++produced;
                }
                --running;
            };
            auto take = [&]() -> awaitable<void> {
                while (!stop) {
                    auto [ec, item] = co_await out.try_take(as_tuple());
                    if (!ec)
                        consumed.push_back(std::stoi(item.data));
                }
                --running;
            };
            auto consume = [&]() -> awaitable<void> {
                while (!stop) {
                    auto [ec, claim] = co_await out.try_consume(as_tuple());
                    if (ec)
                        continue;
                    std::string data = claim.data();
                    auto [ack] = co_await claim.acknowledge(transaction(), as_tuple());
                    if (!ack)
                        consumed.push_back(std::stoi(data));
                }
                --running;
            };
            boost::asio::co_spawn(executor, produce(), boost::asio::detached);
            boost::asio::co_spawn(executor, take(), boost::asio::detached);
            boost::asio::co_spawn(executor, consume(), boost::asio::detached);
            for (int i = 0; i < 3; ++i) {
                int before = produced;
                co_await eventually_async([&] { return produced > before + 100; });
                victim.kill();
                victim.restart();
            }
            stop = true;
            co_await eventually_async([&] { return running == 0; });
            admin hand(victim.port());
            std::multiset<int> all(consumed.begin(), consumed.end());
            for (const std::string& name : hand.children("/folder/q")) {
                all.insert(std::stoi(hand.data("/folder/q/" + name)));
            }
            std::multiset<int> expected;
            for (int i = 0; i < produced; ++i)
                expected.insert(i);
            CHECK(all == expected);
            // Whoever took nothing after the last restart may not be connected again yet.
            co_await eventually_async([&] {
                return producing.state() == session_state::connected &&
                       consuming.state() == session_state::connected;
            });
            co_await producing.close();
            co_await consuming.close();
        },
        std::chrono::seconds(60));
}

}  // namespace corozk::testing::queue_test
