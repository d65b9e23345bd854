// SPDX-License-Identifier: Apache-2.0
#include "lagging_server.hpp"
#include "own_requests.hpp"
#include "pending_result.hpp"
#include <corozk/recipe/barrier.hpp>

#include <boost/asio/post.hpp>

#include <functional>
#include <iterator>

namespace corozk::testing::barrier_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

/// A `set` whose first response was lost, and that finds its node: made, so it seems, by an earlier
/// session of the client that the server has not ended.
struct replacement {
    fault_proxy& proxy;
    std::string path;
    pending_result<bool> setting{};
    bool cancelled = false;

    /// Whenever its request is on its way.
    std::function<void()> cancel{};

    // How it ended.
    std::uint64_t requests = 0;
    bool by_us = false;
    bool left = false;  ///< to the earlier session
};

/// `arm(r)` says what happens to the requests from then on. The barrier is never seen removed, if it
/// does not remove it.
template <class Arm, class Check>
void replace_after_doubt(Arm arm, Check check, bool stays = true) {
    with_proxy(
        [&](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            auto executor = co_await boost::asio::this_coro::executor;
            client other = co_await one_more_client();
            barrier_options options;
            options.mode = create_mode::ephemeral;
            barrier mine(zk, path, options);
            replacement r{.proxy = proxy, .path = path};
            proxy.arm(at_op(op_code::create2), swallow_reply_and_cut().then_refuse());
            mine.set(r.setting.handler());
            co_await eventually_async(
                [&] { return zk.state() == session_state::suspended && observer().exists(path); });
            raw_session earlier(shared_server().port());
            const std::string guid = observer().data(path);
            observer().erase(path);
            earlier.create(path, guid, node_kind::ephemeral);
            barrier theirs(other, path);
            pending_result<> waits;
            theirs.wait(waits.handler());
            co_await settle(other);

            r.cancel = [&] {
                boost::asio::post(executor, [&] {
                    r.cancelled = !r.setting.done();
                    r.setting.cancel();
                });
            };
            arm(r);
            const rule_id requests = count(proxy, at_own_request(path));
            co_await accept_again(proxy, zk);
            co_await finished(r.setting);
            r.requests = proxy.fired(requests);
            CHECK(r.setting.calls() == 1);
            co_await settle(zk);  // it comes to rest
            co_await settle(other);
            if (stays)
                CHECK_FALSE(waits.done());
            auto node = observer().stat(path);
            REQUIRE(node);
            r.by_us = node->ephemeral_owner == zk.session_id();
            r.left = node->ephemeral_owner == earlier.session_id();
            if (r.by_us)
                CHECK(observer().data(path) == guid);
            check(r);
            earlier.close();
            CHECK(observer().exists(path) != r.left);
            co_await mine.remove();
            CHECK(!co_await finished(waits));
            co_await other.close();
        },
        run_limit,
        steady_session);
}

void is_replaced(const replacement& r) {
    CHECK(!r.setting.error());
    CHECK(r.by_us);
}

}  // namespace

TEST_CASE("barrier: a removal whose answer was lost spares the next barrier") {
    boost::asio::io_context context;
    fault_proxy proxy(shared_server().port());
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connect_to(proxy.hosts());
        std::string node = fresh_path();
        observer().plant(node);
        barrier b(zk, node);
        proxy.arm(at_op(op_code::erase), swallow_reply_and_cut().then_refuse());
        pending_result<bool> removing;
        b.remove(removing.handler());
        co_await eventually_async(
            [&] { return proxy.statistics().replies_of(op_code::erase) > 0; });
        co_await eventually_async([&] { return !observer().exists(node); });
        observer().plant(node, "the next");
        co_await accept_again(proxy, zk);
        CHECK(!co_await finished(removing));
        CHECK(removing.value());
        CHECK(observer().data(node) == "the next");
        observer().erase(node);
        co_await zk.close(as_tuple());
    });
    run_to_idle(context);
}

TEST_CASE("barrier: bound to a session that the server ends later than the client") {
    server own(recipe_server_options());
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            fault_proxy proxy(own.port());
            client zk = co_await connect_to(proxy.hosts());
            const std::int64_t earlier = zk.session_id();
            barrier_options options;
            options.mode = create_mode::ephemeral;
            barrier b(zk, "/gate", options);
            proxy.arm(at_op(op_code::create2), swallow_reply_and_cut().then_refuse());
            pending_result<bool> setting;
            b.set(setting.handler());
            co_await eventually_async(
                [&] { return proxy.statistics().replies_of(op_code::create2) > 0; });
            own.kill();
            co_await eventually_async([&] { return zk.state() == session_state::lost; });
            own.restart();  // which gives earlier sessions their whole timeout again
            co_await accept_again(proxy, zk);
            CHECK(!co_await finished(setting));
            CHECK(setting.value());
            CHECK(zk.session_id() != earlier);
            auto node = admin(own.port()).stat("/gate");
            REQUIRE(node);
            CHECK(node->ephemeral_owner == zk.session_id());
            co_await zk.close(as_tuple());
        },
        90s);
    run_to_idle(context);
}

TEST_CASE("barrier: set again while the server still has the session in which it was set") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        barrier_options options;
        options.mode = create_mode::ephemeral;
        barrier b(zk, path, options);
        bool set = co_await b.set();
        CHECK(set);
        // As if an earlier session had set it.
        const std::string guid = observer().data(path);
        raw_session earlier(shared_server().port());
        observer().erase(path);
        earlier.create(path, guid, node_kind::ephemeral);
        set = co_await b.set();
        CHECK(set);
        CHECK(observer().stat(path)->ephemeral_owner == zk.session_id());
        set = co_await b.set();
        CHECK_FALSE(set);
        earlier.close();
        CHECK(observer().exists(path));
    });
}

TEST_CASE("barrier: a node that another object has set stays, even if it cannot be read") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        barrier_options options;
        options.mode = create_mode::ephemeral;
        barrier b(zk, path, options);
        barrier theirs(other, path, options);
        bool set = co_await theirs.set();
        CHECK(set);
        set = co_await b.set();
        CHECK_FALSE(set);
        CHECK(observer().stat(path)->ephemeral_owner == other.session_id());
        co_await other.close();
        std::vector<acl_entry> unreadable(1);
        unreadable.front().permissions = 30;
        observer().plant(path, "theirs", node_kind::persistent, unreadable);
        set = co_await b.set();
        CHECK_FALSE(set);
    });
}

TEST_CASE("barrier: its node of an earlier session is replaced, whatever happens to the requests") {
    std::uint64_t requests = 0;
    replace_after_doubt([](replacement&) {},
                        [&](const replacement& r) {
                            is_replaced(r);
                            requests = r.requests;
                        });
    CHECK(requests == 3);  // create, get, and a transaction
    for (std::uint64_t k = 1; k <= requests; ++k) {
        for (auto fault : {drop_request_and_cut, swallow_reply_and_cut, cut_after_reply}) {
            CAPTURE(k, fault().what());
            rule_id rule{};
            replace_after_doubt(
                [&](replacement& r) { rule = r.proxy.arm(at_own_request(r.path, k), fault()); },
                [&](replacement& r) {
                    is_replaced(r);
                    CHECK(r.setting.value());
                    CHECK(r.proxy.fired(rule) == 1);
                });
        }
    }
}

TEST_CASE("barrier: cancelled while it replaces its node of an earlier session") {
    std::size_t cancelled = 0;
    for (std::uint64_t k = 1; k <= 3; ++k) {
        for (auto moment : {call_at_request, call_at_reply}) {
            CAPTURE(k, moment(nullptr).what());
            replace_after_doubt(
                [&](replacement& r) {
                    r.proxy.arm(at_own_request(r.path, k),
                                moment([&r](const frame_info&) { r.cancel(); }));
                },
                [&](replacement& r) {
                    cancelled += r.cancelled ? 1 : 0;
                    CHECK(r.setting.error() ==
                          (r.cancelled ? boost::asio::error::operation_aborted : error_code()));
                    // As it was, or as it shall be.
                    CHECK(r.by_us != r.left);
                    CHECK((r.by_us || k < 3));
                });
        }
    }
    CHECK(cancelled > 3);
}

TEST_CASE("barrier: whatever happens to its second look, after the replacement was in doubt") {
    const std::function<action(replacement&)> faults[] = {
        [](replacement&) { return drop_request_and_cut(); },
        [](replacement&) { return swallow_reply_and_cut(); },
        [](replacement&) { return cut_after_reply(); },
        [](replacement& r) { return call_at_request([&r](auto&) { r.cancel(); }); },
        [](replacement& r) { return call_at_reply([&r](auto&) { r.cancel(); }); },
        [](replacement& r) { return call_at_request([&r](auto&) { expire(r.proxy.session()); }); },
    };
    std::size_t cancelled = 0;
    for (auto doubt : {drop_request_and_cut, swallow_reply_and_cut}) {
        for (std::size_t i = 0; i < std::size(faults); ++i) {
            CAPTURE(doubt().what(), i);
            const bool expires = i + 1 == std::size(faults);
            rule_id rule{};
            replace_after_doubt(
                [&](replacement& r) {
                    r.proxy.arm(at_request(3), doubt());
                    rule = r.proxy.arm(at_op(op_code::get_data, 2), faults[i](r));
                },
                [&](replacement& r) {
                    CHECK(r.proxy.fired(rule) == 1);
                    if (r.cancelled) {
                        ++cancelled;
                        CHECK(r.setting.error() == boost::asio::error::operation_aborted);
                        CHECK(r.by_us != r.left);
                    } else {
                        is_replaced(r);
                        CHECK(r.setting.value());
                    }
                },
                !expires);
        }
    }
    CHECK(cancelled > 2);
}

TEST_CASE("barrier: others remove or write its node of an earlier session before it is replaced") {
    replace_after_doubt(
        [](replacement& r) {
            r.proxy.arm(at_op(op_code::multi),
                        call_at_request([&r](const frame_info&) { observer().erase(r.path); }));
        },
        [](replacement& r) {
            is_replaced(r);
            CHECK(r.setting.value());
        },
        false);
    replace_after_doubt(
        [](replacement& r) {
            r.proxy.arm(at_op(op_code::multi), call_at_request([&r](const frame_info&) {
                            observer().set(r.path, "theirs");
                        }));
        },
        [](replacement& r) {
            CHECK(!r.setting.error());
            CHECK_FALSE(r.setting.value());
            CHECK(r.left);
        });
}

TEST_CASE("barrier: set in doubt, and the server of the next session lags behind") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        const std::int64_t earlier = zk.session_id();
        barrier b(zk, path);
        proxy.arm(at_op(op_code::create2), swallow_reply_and_cut().then_refuse());
        pending_result<bool> setting;
        b.set(setting.handler());
        co_await eventually_async(
            [&] { return zk.state() == session_state::suspended && observer().exists(path); });
        lag_behind(proxy, path);
        expire(proxy.session());
        co_await accept_again(proxy, zk);
        CHECK(!co_await finished(setting));
        CHECK(setting.value());
        CHECK(zk.session_id() != earlier);
    });
}

TEST_CASE("barrier: set in doubt, and the next server has no quorum") {
    with_proxy(
        [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            barrier b(zk, path);
            // The first create has been applied; to the next one there is another answer.
            proxy.arm(at_op(op_code::create2), swallow_reply_and_cut());
            bool refused = false;
            proxy.edit(direction::to_client, [&](const frame_info& frame, std::string bytes) {
                if (refused || frame.kind != frame_kind::reply || frame.op != op_code::create2 ||
                    frame.error == 0)
                    return bytes;
                refused = true;
                const std::string not_read_only("\xff\xff\xff\x89", 4);
                return bytes.replace(16, 4, not_read_only);
            });
            bool ours = co_await b.set();
            CHECK(ours);
            CHECK(refused);
            proxy.edit(direction::to_client, nullptr);
        },
        run_limit,
        steady_session);
}

TEST_CASE("barrier: a waiter goes on waiting if the server of its next session lags behind") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        observer().plant(path);
        barrier b(zk, path);
        pending_result<> waits;
        b.wait(waits.handler());
        co_await settle(zk);
        co_await next_session_lags(zk, proxy, path);
        co_await settle(zk);
        CHECK_FALSE(waits.done());
        observer().erase(path);
        CHECK(!co_await finished(waits));
    });
}

TEST_CASE("barrier: removed while the server was down") {
    server own(recipe_server_options());
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        fault_proxy proxy(own.port());
        client zk = co_await connect_to(proxy.hosts());
        barrier b(zk, "/gate");
        co_await b.set();
        pending_result<> waits;
        b.wait(waits.handler());
        co_await settle(zk);
        proxy.set_acceptance(acceptance::close_at_once);
        proxy.cut();
        own.kill();
        own.restart();
        admin(own.port()).erase("/gate");
        proxy.set_acceptance(acceptance::normal);
        CHECK(!co_await finished(waits));
        co_await zk.close(as_tuple());
    });
    run_to_idle(context);
}

TEST_CASE("barrier: a deadline holds without a connection, too") {
    boost::asio::io_context context;
    fault_proxy proxy(shared_server().port());
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connect_to(proxy.hosts(), steady_session);
        std::string node = fresh_path();
        observer().plant(node);
        barrier b(zk, node);
        proxy.set_acceptance(acceptance::close_at_once);
        proxy.cut();
        auto started = std::chrono::steady_clock::now();
        auto [ec] = co_await b.wait_for(30ms, as_tuple());
        CHECK(ec == errc::deadline_exceeded);
        CHECK(std::chrono::steady_clock::now() - started < 10s);
        proxy.set_acceptance(acceptance::normal);
        observer().erase(node);
        co_await zk.close(as_tuple());
    });
    run_to_idle(context);
}

}  // namespace corozk::testing::barrier_test
