// SPDX-License-Identifier: Apache-2.0
// Service discovery in a ServerSet whose other members are written, and read as Finagle reads them,
// with Kazoo. Finagle is in no package of Debian's.
#include "contest.hpp"
#include <corozk/recipe/service_discovery.hpp>
#include <corozk/recipe/service_provider.hpp>

namespace corozk::testing::server_set_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;

namespace {

constexpr service_format format = service_format::server_set;

service_instance instance() {
    service_instance one("set", "127.0.0.1", 80);
    one.id = "web-1";
    one.shard = 1;
    one.additional_endpoints.emplace("health", additional_endpoint("localhost", 81));
    return one;
}

constexpr const char* we_alone = "members 127.0.0.1:80,shard=1,health=localhost:81";
constexpr const char* they_alone = "members 127.0.0.1:8080,shard=7,http-admin=127.0.0.1:9990";
constexpr const char* both =
    "members 127.0.0.1:80,shard=1,health=localhost:81 "
    "127.0.0.1:8080,shard=7,http-admin=127.0.0.1:9990";

/// A member of theirs; our base path is the meeting's, and the service is "set".
std::vector<std::string> a_member(meeting& at) {
    std::vector<std::string> arguments =
        at.arguments({"task=server_set", "shard=7", short_session});
    for (std::string& argument : arguments) {
        if (argument == "path=" + at.path)
            argument += "/set";
    }
    return arguments;
}

service_discovery_options discovery_options() {
    service_discovery_options options;
    options.format = format;
    return options;
}

/// Waits until a cache shows so many.
awaitable<service_state> shown(service_cache& cache, std::size_t count) {
    service_state state = co_await cache.next();
    while (state.instances.size() != count)
        state = co_await cache.next(state);
    co_return state;
}

}  // namespace

TEST_CASE("members of a ServerSet find each other, and their ends") {
    meeting at;
    meet(at, [&](client& zk) -> awaitable<void> {
        mortal_client dying;
        co_await dying.connect();
        service_discovery ours(dying.zk, at.path, discovery_options());
        const service_instance mine = instance();
        co_await ours.register_instance(mine);
        const std::string node = at.path + "/set/" + mine.node_name(format);
        CHECK(at.hand.stat(node)->ephemeral_owner == dying.zk.session_id());
        // Of Finagle's weights: none of the members.
        at.hand.plant(at.path + "/set/vector_0000000000", "{}");

        party theirs(party_kind::kazoo, a_member(at));
        co_await theirs.says(both);
        service_cache cache(zk, at.path, "set", format);
        service_state state = co_await shown(cache, 2);
        CHECK(state.malformed.empty());
        // Numbered by the server: fewer digits, and before ours.
        service_instance found = state.instances[0];
        CHECK(found.node.starts_with("member_000000000"));
        CHECK(found.id == found.node);
        CHECK(found.session_id != 0);
        CHECK(found.registration_time > 1'700'000'000'000);
        service_instance expected("set", "127.0.0.1", 8080);
        expected.id = expected.node = found.node;
        expected.shard = 7;
        expected.additional_endpoints.emplace("http-admin", additional_endpoint("127.0.0.1", 9990));
        expected.session_id = found.session_id;
        expected.incarnation = found.incarnation;
        expected.registration_time = found.registration_time;
        CHECK(found == expected);

        service_provider_options options;
        options.format = format;
        service_provider provider(zk, at.path, "set", options);
        service_endpoints endpoints = co_await provider.get_endpoints();
        while (endpoints.size() != 2)
            endpoints = co_await provider.get_endpoints();
        options.endpoint = "http-admin";
        service_provider metrics(zk, at.path, "set", options);
        endpoints = co_await metrics.get_endpoints();
        REQUIRE(endpoints.size() == 1);
        CHECK(endpoints.begin()->port() == 9990);
        CHECK(endpoints.begin()->host_name() == "127.0.0.1");
        CHECK(endpoints.begin()->instance() == expected);

        // What is not alive is not theirs to find, nor ours to choose.
        service_instance disabled = mine;
        disabled.enabled = false;
        co_await ours.update(disabled);
        co_await theirs.says(they_alone);
        co_await ours.update(mine);

        dying.die();
        state = co_await shown(cache, 1);
        CHECK(state.instances[0] == expected);
        dying.come_back();
        state = co_await shown(cache, 2);
        CHECK(state.instances[1].node == mine.node_name(format));
        CHECK(state.instances[1].session_id == dying.zk.session_id());

        theirs.kill();
        state = co_await shown(cache, 1);
        CHECK(state.instances[0].shard == 1);
        party later(party_kind::kazoo, a_member(at));
        co_await later.says(both);
        co_await ours.unregister(mine);
        CHECK_FALSE(at.hand.exists(node));
        co_await later.says(they_alone);
        at.tell_to_leave();
        co_await later.end();
        state = co_await shown(cache, 0);
        CHECK(state.malformed.empty());
        auto all = co_await ours.resolve("set");
        CHECK(all.empty());
    });
}

TEST_CASE("what is no member of a ServerSet is skipped and told") {
    meeting at;
    meet(at, [&](client& zk) -> awaitable<void> {
        at.hand.plant(at.path + "/set/member_0000000000", "?");
        at.hand.plant(at.path + "/set/member_x", "?");
        service_cache cache(zk, at.path, "set", format);
        service_state state = co_await cache.next();
        CHECK(state.instances.empty());
        CHECK(state.malformed == std::vector<std::string>{"member_0000000000"});
        service_discovery ours(zk, at.path, discovery_options());
        service_instance mine = instance();
        mine.ssl_port = 443;
        auto [ec] = co_await ours.register_instance(mine, as_tuple());
        CHECK(ec == errc::bad_option);
        mine = instance();
        co_await ours.register_instance(mine);
        auto all = co_await ours.resolve("set");
        REQUIRE(all.size() == 1);
        CHECK(all[0].node == mine.node_name(format));
        // As it was found, by its id, and by its node's name.
        co_await ours.unregister(all[0]);
        co_await ours.register_instance(mine);
        co_await ours.unregister("set", "web-1");
        co_await ours.register_instance(mine);
        co_await ours.unregister("set", mine.node_name(format));
        CHECK_FALSE(at.hand.exists(at.path + "/set/" + mine.node_name(format)));
        std::tie(ec) = co_await ours.unregister("set", "web-1", as_tuple());
        CHECK(ec == zk_errc::no_node);
    });
}

TEST_CASE("a ServerSet is no container, which Finagle does not expect") {
    meeting at;
    meet(at, [&](client&) -> awaitable<void> {
        fault_proxy proxy(shared_server().port());
        client_options options = interop_options();
        options.hosts = proxy.hosts();
        auto executor = co_await boost::asio::this_coro::executor;
        client zk = co_await client::connect(executor, options);
        auto nothing = [](const frame_info&) {};
        rule_id container =
            proxy.arm(at_op(testing::op_code::create_container), call_at_request(nothing));
        service_discovery ours(zk, at.path, discovery_options());
        co_await ours.register_instance(instance());
        CHECK(proxy.fired(container) == 0);
        service_discovery of_curator(zk, at.path + "/others");
        service_instance other("web", "127.0.0.1", 80);
        co_await of_curator.register_instance(other);
        CHECK(proxy.fired(container) != 0);
        co_await zk.close();
    });
}

}  // namespace corozk::testing::server_set_test
