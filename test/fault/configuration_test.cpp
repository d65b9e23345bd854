// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/configuration.hpp>
#include <corozk/testing/raw_session.hpp>

#include <boost/asio/post.hpp>

#include <catch2/catch.hpp>

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

awaitable<void> no_ephemerals(std::string path) {
    co_await eventually_async([&] {
        for (const auto& [node, session] : ephemerals(shared_server().port())) {
            if (node.starts_with(path + "/"))
                return false;
        }
        return true;
    });
}

template <class Configuration>
awaitable<void> publish_under_cuts(fault_run& run) {
    {
        Configuration c(run.zk, run.path + "/c");
        co_await c.publish(parts_of("one", 3));
        co_await c.publish(parts_of("two", 2));
        configuration_version v = co_await c.next();
        CHECK(v.status == configuration_status::published);
        CHECK(*v.parts == parts_of("two", 2));
    }
    co_await no_ephemerals(run.path);
}

/// A writer whose session ends may give up; then the next publication takes over.
template <class Configuration>
awaitable<void> publish_under_expiry(fault_run& run) {
    {
        Configuration c(run.zk, run.path + "/c");
        for (int i = 0; i < 2; ++i) {
            for (;;) {
                auto [ec] = co_await c.publish(parts_of(std::to_string(i), 3), as_tuple());
                if (!ec)
                    break;
                CHECK((ec == zk_errc::session_expired || is_outcome_unknown(ec) ||
                       ec == errc::ownership_lost || ec == errc::busy));
            }
            configuration_version v = co_await c.next();
            while (v.status != configuration_status::published ||
                   *v.parts != parts_of(std::to_string(i), 3)) {
                CHECK((!v.parts || *v.parts == parts_of(std::to_string(i - 1), 3)));
                v = co_await c.next(v.revision);
            }
        }
    }
    co_await no_ephemerals(run.path);
}

template <class Configuration>
awaitable<void> publish_cancelled(fault_run& run, boost::asio::cancellation_slot slot) {
    {
        Configuration c(run.zk, run.path + "/c");
        int completed = 0;
        c.publish(parts_of("one", 3), boost::asio::bind_cancellation_slot(slot, [&](error_code ec) {
                      CHECK((!ec || ec == boost::asio::error::operation_aborted));
                      ++completed;
                  }));
        co_await eventually_async([&] { return completed == 1; });
        // It is finished all the same.
        configuration_version v;
        while (v.status != configuration_status::published)
            v = co_await c.next(v.revision);
        CHECK(*v.parts == parts_of("one", 3));
        co_await no_ephemerals(run.path);
        co_await c.publish(parts_of("two", 1));
    }
}

}  // namespace

TEST_CASE("configuration behind ready: a connection cut at any frame") {
    cut_at_every_frame(publish_under_cuts<ready_configuration>);
}

TEST_CASE("configuration in versions: a connection cut at any frame") {
    cut_at_every_frame(publish_under_cuts<versioned_configuration>);
}

TEST_CASE("configuration behind ready: the writer's session expires at any frame") {
    expire_at_every_frame(publish_under_expiry<ready_configuration>);
}

TEST_CASE("configuration in versions: the writer's session expires at any frame") {
    expire_at_every_frame(publish_under_expiry<versioned_configuration>);
}

TEST_CASE("configuration behind ready: cancelled at any frame") {
    cancel_at_every_frame(publish_cancelled<ready_configuration>);
}

TEST_CASE("configuration in versions: cancelled at any frame") {
    cancel_at_every_frame(publish_cancelled<versioned_configuration>);
}

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
        v = co_await c.next(v.revision);
        REQUIRE(v.status == configuration_status::published);
        CHECK(*v.parts == parts_of("one", 2));
    });
}

TEST_CASE("configuration of one znode: a connection cut at any frame") {
    cut_at_every_frame([](fault_run& run) -> awaitable<void> {
        configuration c(run.zk, run.path + "/c");
        co_await c.publish("one");
        co_await c.publish("two");
        node_state state = co_await c.next();
        while (state.data != "two")
            state = co_await c.next(state.revision);
        co_await c.publish("three");
        while (state.data != "three")
            state = co_await c.next(state.revision);
        CHECK(state.stat.version == 2);
    });
}

}  // namespace corozk::testing::configuration_test
