// SPDX-License-Identifier: Apache-2.0
#include "old_server.hpp"
#include "pending_result.hpp"
#include <corozk/recipe/configuration.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>

#include <catch2/catch.hpp>

#include <set>

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

template <class Configuration>
awaitable<void> publish_and_read(client& zk, std::string path) {
    Configuration reader(zk, path + "/c");
    Configuration writer(zk, path + "/c");
    configuration_version v = co_await reader.next();
    CHECK(v.status == configuration_status::absent);
    co_await writer.publish(parts_of("one", 3));
    v = co_await reader.next(v);
    CHECK(v.status == configuration_status::published);
    CHECK(*v.parts == parts_of("one", 3));
    std::int64_t number = v.number;
    co_await writer.publish(parts_of("two", 2));
    v = co_await reader.next(v);
    CHECK(*v.parts == parts_of("two", 2));
    CHECK(v.number > number);
    co_await writer.publish(configuration_parts());
    v = co_await reader.next(v);
    CHECK(v.parts->empty());
    // More than one request can carry.
    configuration_parts large = parts_of(std::string(100'000, 'x'), 30);
    co_await writer.publish(large);
    v = co_await reader.next(v);
    CHECK(*v.parts == large);
    auto [ec] = co_await writer.publish(parts_of(std::string(2 << 20, 'x'), 1), as_tuple());
    CHECK(ec == errc::too_large);
    configuration_parts bad;
    bad["a/b"] = "x";
    auto [bad_ec] = co_await writer.publish(bad, as_tuple());
    CHECK(bad_ec == errc::bad_path);
    admin(shared_server().port()).erase_recursively(path + "/c");
    while (v.status == configuration_status::published)
        v = co_await reader.next(v);
    while (v.status != configuration_status::absent)
        v = co_await reader.next(v);
    co_await writer.publish(parts_of("again", 1));
    while (v.status != configuration_status::published)
        v = co_await reader.next(v);
    CHECK(*v.parts == parts_of("again", 1));
}

/// A writer in a loop: every version that a reader sees is whole.
template <class Configuration>
awaitable<void> never_mixed(client& zk, std::string path) {
    auto executor = co_await boost::asio::this_coro::executor;
    client other = co_await client::connect(executor, options_for(shared_server().hosts()));
    Configuration writer(other, path + "/c");
    co_await writer.publish(parts_of("start", 20));
    bool done = false;
    std::string last;
    auto write = [&]() -> awaitable<void> {
        for (int i = 0; i < 60; ++i) {
            co_await writer.publish(parts_of(std::to_string(i), 20));
            // Behind `ready`, a writer that never rests leaves no time to read.
            if (i % 10 == 9)
                co_await eventually_async([&] { return last == std::to_string(i); });
        }
        done = true;
    };
    boost::asio::co_spawn(executor, write(), boost::asio::detached);
    int versions = 0;
    bool mixed = false;
    {
        Configuration reader(zk, path + "/c");
        configuration_version v;
        while (last != "59") {
            v = co_await reader.next(v);
            if (v.status != configuration_status::published)
                continue;
            ++versions;
            std::set<std::string> values;
            for (const auto& [name, value] : *v.parts)
                values.insert(value);
            mixed = mixed || values.size() != 1 || v.parts->size() != 20;
            last = *values.begin();
        }
    }
    CHECK_FALSE(mixed);
    CHECK(versions > 1);
    co_await eventually_async([&] { return done; });
    co_await other.close();
}

template <class Configuration, class State>
awaitable<void> next_begins_too_late(client& zk, std::string path) {
    Configuration c(zk, path);
    co_await c.next();
    State seen;
    seen.revision = 7;
    auto ask = [&seen](Configuration& gone) { return gone.next(seen, boost::asio::deferred); };
    error_code ec = co_await begun_too_late<State>(zk, c, ask);
    CHECK(ec == boost::asio::error::operation_aborted);
}

template <class Configuration>
awaitable<void> publish_begins_too_late(client& zk, std::string path) {
    Configuration c(zk, path);
    auto ask = [](Configuration& gone) {
        return gone.publish(parts_of("late", 2), boost::asio::deferred);
    };
    error_code ec = co_await begun_too_late<std::monostate>(zk, c, ask);
    CHECK(ec == boost::asio::error::operation_aborted);
    CHECK_FALSE(observer().exists(path));
}

}  // namespace

TEST_CASE("configuration of one znode") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        configuration c(zk, path + "/deep/c");
        node_state state = co_await c.next();
        CHECK_FALSE(state.exists);
        co_await c.publish("one");
        state = co_await c.next(state);
        CHECK(state.data == "one");
        co_await c.publish("two");
        while (state.data != "two")
            state = co_await c.next(state);
        admin(shared_server().port()).erase(path + "/deep/c");
        while (state.exists)
            state = co_await c.next(state);
        auto [ec] = co_await c.publish(std::string(2 << 20, 'x'), as_tuple());
        CHECK(ec == errc::too_large);
    });
}

TEST_CASE("configuration behind ready: publish and read") {
    with_client(publish_and_read<ready_configuration>);
}

TEST_CASE("configuration in versions: publish and read") {
    with_client(publish_and_read<versioned_configuration>);
}

namespace {

template <class Configuration>
awaitable<void> read_together(client& zk, fault_proxy& proxy, std::string path, bool old) {
    Configuration writer(zk, path);
    const configuration_parts parts = parts_of("value", 5);
    co_await writer.publish(parts);
    const auto before = proxy.statistics();
    Configuration reader(zk, path);
    configuration_version v = co_await reader.next();
    CHECK(*v.parts == parts);
    const auto after = proxy.statistics();
    auto count = [&](op_code op) { return after.requests_of(op) - before.requests_of(op); };
    if (old) {
        CHECK(count(op_code::get_data) >= parts.size());
        // A server that is asked for what it does not know hangs up: it is not asked again.
        const auto asked = after.requests_of(op_code::multi_read);
        co_await writer.publish(parts_of("other", 5));
        while (v.parts->begin()->second != "other")
            v = co_await reader.next(v);
        CHECK(proxy.statistics().requests_of(op_code::multi_read) == asked);
    } else {
        CHECK(count(op_code::multi_read) == 1);
        CHECK(count(op_code::get_data) <= 1);  // `current` of the versions
    }
}

}  // namespace

TEST_CASE("configuration: the parts are read together") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        co_await read_together<ready_configuration>(zk, proxy, path + "/new/ready", false);
        co_await read_together<versioned_configuration>(zk, proxy, path + "/new/versions", false);
        forget_operations(proxy, {op_code::multi_read});
        co_await read_together<ready_configuration>(zk, proxy, path + "/old/ready", true);
        co_await read_together<versioned_configuration>(zk, proxy, path + "/old/versions", true);
    });
}

TEST_CASE("configuration: more parts than one request can read") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        const configuration_parts parts = parts_of("value", 150);
        ready_configuration ready(zk, path + "/ready");
        co_await ready.publish(parts);
        configuration_version v = co_await ready.next();
        CHECK(*v.parts == parts);
        versioned_configuration versions(zk, path + "/versions");
        co_await versions.publish(parts);
        v = co_await versions.next();
        CHECK(*v.parts == parts);
    });
}

TEST_CASE("configuration behind ready: no reader sees a mixture") {
    with_client(never_mixed<ready_configuration>);
}

TEST_CASE("configuration in versions: no reader sees a mixture") {
    with_client(never_mixed<versioned_configuration>);
}

TEST_CASE("configuration behind ready: a second writer is refused, a dead one taken over") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        ready_configuration c(zk, path + "/c");
        co_await c.publish(parts_of("one", 2));
        configuration_version v = co_await c.next();
        {
            // A writer that has taken `ready` away and then dies.
            admin dying(shared_server().port());
            dying.plant(path + "/c/writer", "other", node_kind::ephemeral);
            dying.erase(path + "/c/ready");
            dying.set(path + "/c/part-0", "half");
            auto [ec] = co_await c.publish(parts_of("two", 2), as_tuple());
            CHECK(ec == errc::busy);
            CHECK(c.current().status == configuration_status::published);
        }
        v = co_await c.next(v);
        CHECK(v.status == configuration_status::broken);
        CHECK_FALSE(v.parts);
        co_await c.publish(parts_of("three", 1));
        while (v.status != configuration_status::published)
            v = co_await c.next(v);
        CHECK(*v.parts == parts_of("three", 1));
    });
}

TEST_CASE("configuration in versions: old ones and a dead writer's are removed") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        admin hand(shared_server().port());
        versioned_configuration c(zk, path + "/c");
        hand.plant(path + "/c/versions/0000000000-dead/part-0", "half");
        hand.plant(path + "/c/versions/0000000001-alive/.writer", "", node_kind::ephemeral);
        for (int i = 0; i < 4; ++i)
            co_await c.publish(parts_of(std::to_string(i), 2));
        auto versions = hand.children(path + "/c/versions");
        CHECK(versions.size() == 3);  // current, the one before, and the one being written
        CHECK_FALSE(hand.exists(path + "/c/versions/0000000000-dead"));
        CHECK(hand.exists(path + "/c/versions/0000000001-alive"));
        hand.set(path + "/c/current", "garbage");
        versioned_configuration other(zk, path + "/c");
        auto [ec, v] = co_await other.next(as_tuple());
        CHECK(ec == errc::foreign_data);
    });
}

TEST_CASE("configuration: what begins after it was destroyed is aborted") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await next_begins_too_late<configuration, node_state>(zk, path);
        co_await next_begins_too_late<ready_configuration, configuration_version>(zk, path);
        co_await next_begins_too_late<versioned_configuration, configuration_version>(zk, path);
        co_await publish_begins_too_late<ready_configuration>(zk, path);
        co_await publish_begins_too_late<versioned_configuration>(zk, path);
    });
}

TEST_CASE("configuration in versions: a part that was erased later is missed") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        versioned_configuration c(zk, path);
        co_await c.publish(parts_of("one", 3));
        admin hand = observer();
        std::string folder = path + "/versions/" + hand.children(path + "/versions").front();
        hand.erase(folder + "/part-1");
        configuration_version v = co_await c.next();
        CHECK(v.status == configuration_status::broken);
        co_await c.publish(parts_of("two", 3));
        while (v.status != configuration_status::published)
            v = co_await c.next(v);
        CHECK(*v.parts == parts_of("two", 3));
    });
}

TEST_CASE("configuration: destroyed and closed") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        int completed = 0;
        error_code result;
        {
            ready_configuration c(zk, path + "/c");
            configuration_version v = co_await c.next();
            c.next(v, [&](error_code ec, configuration_version) {
                result = ec;
                ++completed;
            });
        }
        co_await eventually_async([&] { return completed == 1; });
        CHECK(result == boost::asio::error::operation_aborted);
        co_await eventually_async([&] { return watch_count(shared_server().port()) == 0; });
        client empty;
        versioned_configuration none(empty, path);
        auto [ec, v] = co_await none.next(as_tuple());
        CHECK(ec == errc::closed);
        versioned_configuration c(zk, path + "/d");
        configuration_version seen = co_await c.next();
        c.next(seen, [&](error_code e, configuration_version) {
            result = e;
            ++completed;
        });
        co_await zk.close();
        co_await eventually_async([&] { return completed == 2; });
        CHECK(result == errc::closed);
    });
}

}  // namespace corozk::testing::configuration_test
