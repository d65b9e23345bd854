// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/configuration.hpp>
#include <corozk/testing/raw_session.hpp>

#include <boost/asio/post.hpp>

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

namespace corozk::testing::configuration_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;

namespace {

configuration_parts parts_of(const std::string& value, int count) {
    configuration_parts parts;
    for (int i = 0; i < count; ++i)
        parts["part-" + std::to_string(i)] = value;
    return parts;
}

}  // namespace

TEST_CASE("configuration in versions: a version that could not be filled is taken away again") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        std::string versions = path + "/c/versions";
        versioned_configuration c(zk, path + "/c");
        co_await c.publish(parts_of("one", 3));
        std::vector<std::string> published = observer().children(versions);
        CHECK(published.size() == 1);
        // Its folder is there; before its parts come somebody takes the right to create them away.
        rule_id rule = proxy.arm(at_op(op_code::multi, 2), hold_request());
        pending_result<> asked;
        c.publish(parts_of("two", 3), asked.handler());
        co_await eventually_async([&] { return proxy.fired(rule) == 1; });
        raw_session somebody(shared_server().port());
        std::vector<testing::acl_entry> nothing_new(1);
        nothing_new.front().permissions = 1 + 2 + 8 + 16;
        for (const std::string& name : observer().children(versions)) {
            if (name != published.front())
                somebody.set_acl(versions + "/" + name, nothing_new);
        }
        proxy.release(rule);
        error_code ec = co_await finished(asked);
        CHECK(ec == zk_errc::no_auth);
        CHECK(observer().children(versions) == published);
        co_await c.publish(parts_of("two", 3));
        configuration_version v = co_await c.next();
        CHECK(*v.parts == parts_of("two", 3));
    });
}

TEST_CASE("configuration in versions: cleaning up spares what became current meanwhile") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        const std::string folder = path + "/c";
        const std::string versions = folder + "/versions";
        configuration_options options;
        options.keep = 0;
        versioned_configuration first(zk, folder, options);
        rule_id listing = proxy.arm(at_op(op_code::get_children2).where([=](const frame_info& f) {
            return f.path == versions;
        }),
                                    hold_request());
        rule_id look = proxy.arm(at_op(op_code::exists).under(versions), hold_request());
        pending_result<> publishing;
        first.publish(parts_of("one", 3), publishing.handler());
        co_await eventually_async([&] { return proxy.fired(listing) == 1; });
        // The first version is current, and its writer looks what is old.
        fault_proxy second_proxy(shared_server().port());
        client other = co_await connect_to(second_proxy.hosts());
        versioned_configuration second(other, folder, options);
        rule_id filling = second_proxy.arm(at_op(op_code::multi, 2), hold_request());
        pending_result<> overtaking;
        second.publish(parts_of("two", 3), overtaking.handler());
        co_await eventually_async([&] { return second_proxy.fired(filling) == 1; });
        proxy.release(listing);
        co_await eventually_async([&] { return proxy.fired(look) == 1; });
        second_proxy.release(filling);
        CHECK(!co_await finished(overtaking));
        proxy.release(look);
        CHECK(!co_await finished(publishing));
        versioned_configuration reader(other, folder);
        configuration_version v = co_await reader.next();
        REQUIRE(v.status == configuration_status::published);
        CHECK(*v.parts == parts_of("two", 3));
        CHECK(observer().children(versions).size() == 1);
        co_await other.close();
    });
}

TEST_CASE(
    "configuration behind ready: a writer that gives up unlocks, and puts back what was there") {
    boost::asio::io_context context;
    fault_proxy proxy(shared_server().port());
    run(context, [&]() -> awaitable<void> {
        client_options impatient = options_for(proxy.hosts());
        impatient.queue_timeout = std::chrono::milliseconds(200);
        auto executor = co_await boost::asio::this_coro::executor;
        client zk = co_await client::connect(executor, impatient);
        std::string folder = fresh_path() + "/c";
        ready_configuration c(zk, folder);
        co_await c.publish(parts_of("one", 3));
        // The first step is applied, its answer and the connection are gone.
        proxy.arm(at_op(op_code::multi), swallow_reply_and_cut().then_refuse());
        pending_result<> publishing;
        c.publish(parts_of("two", 3), publishing.handler());
        co_await eventually_async([&] { return zk.state() == session_state::suspended; });
        // What was asked for later has waited too long, so the writer has, too.
        auto [ec, none] = co_await zk.get("/", as_tuple());
        CHECK(ec == errc::not_connected);
        proxy.set_acceptance(acceptance::normal);
        ec = co_await finished(publishing);
        CHECK(ec == errc::not_connected);
        co_await eventually_async([&] { return zk.state() == session_state::connected; });
        CHECK(observer().exists(folder + "/ready"));
        CHECK_FALSE(observer().exists(folder + "/writer"));
        configuration_version v = co_await c.next();
        REQUIRE(v.status == configuration_status::published);
        CHECK(*v.parts == parts_of("one", 3));
        co_await c.publish(parts_of("three", 2));
        co_await zk.close();
    });
    run_to_idle(context);
}

TEST_CASE("configuration: what is being published ends with its object") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        auto c = std::make_unique<configuration>(zk, path);
        co_await c->publish("one");
        rule_id rule = proxy.arm(at_op(op_code::set_data), hold_request());
        pending_result<> asked;
        c->publish("two", asked.handler());
        co_await eventually_async([&] { return proxy.fired(rule) == 1; });
        c.reset();
        CHECK(co_await finished(asked) == boost::asio::error::operation_aborted);
        CHECK(observer().data(path) == "one");
        proxy.release(rule);
        co_await settle(zk);
        CHECK(observer().data(path) == "two");
    });
}

TEST_CASE("configuration behind ready: published before the first connection, and refused") {
    with_proxy([](client&, fault_proxy& proxy, std::string path) -> awaitable<void> {
        observer().plant(path + "/c/old/child");
        observer().plant(path + "/c/ready");
        client early(co_await boost::asio::this_coro::executor, options_for(proxy.hosts()));
        ready_configuration c(early, path + "/c");
        pending_result<> connecting, asked;
        early.connect(connecting.handler());
        c.publish(parts_of("new", 2), asked.handler());
        CHECK(!co_await finished(connecting));
        CHECK(co_await finished(asked) == zk_errc::not_empty);  // a part that is to go has a child
        co_await eventually_async([&] { return !observer().exists(path + "/c/writer"); });
        co_await early.close();
    });
}

TEST_CASE("configuration behind ready: parts that the server refuses do not break it") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        const std::string folder = path + "/c";
        ready_configuration c(zk, folder);
        co_await c.publish(parts_of("one", 2));
        configuration_version v = co_await c.next();
        raw_session somebody(shared_server().port());
        std::vector<testing::acl_entry> read_only(1);
        read_only.front().permissions = 1;
        somebody.set_acl(folder + "/part-0", read_only);
        auto [ec] = co_await c.publish(parts_of("two", 2), as_tuple());
        CHECK(ec == zk_errc::no_auth);
        CHECK(observer().exists(folder + "/ready"));
        CHECK_FALSE(observer().exists(folder + "/writer"));
        v = co_await c.next(v);
        REQUIRE(v.status == configuration_status::published);
        CHECK(*v.parts == parts_of("one", 2));
    });
}

}  // namespace corozk::testing::configuration_test
