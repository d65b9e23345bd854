// SPDX-License-Identifier: Apache-2.0
#include "lagging_server.hpp"
#include "pending_result.hpp"
#include <corozk/recipe/service_discovery.hpp>
#include <corozk/recipe/service_provider.hpp>

#include <cstdint>

namespace corozk::testing::service_discovery_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

service_instance instance(std::string id, std::uint16_t port = 80) {
    service_instance one("web", "127.0.0.1", port);
    one.id = std::move(id);
    return one;
}

}  // namespace

TEST_CASE("service discovery: registered again after session loss, with the latest data") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        service_discovery discovery(zk, path);
        service_instance a = instance("a");
        co_await discovery.register_instance(a);
        service_cache cache(other, path, "web");
        service_state state = co_await cache.next();
        while (state.instances.empty())
            state = co_await cache.next(state);
        const service_instance before = state.instances[0];
        CHECK(before.session_id == zk.session_id());

        proxy.set_acceptance(acceptance::close_at_once);
        session_record session = proxy.session();
        proxy.cut();
        co_await eventually_async([&] { return zk.state() != session_state::connected; });
        a.port = 81;
        pending_result<> updating;
        discovery.update(a, updating.handler());
        expire(session);
        while (!state.instances.empty())
            state = co_await cache.next(state);
        proxy.set_acceptance(acceptance::normal);
        CHECK(!co_await finished(updating));
        while (state.instances.empty() || state.instances[0].port != 81)
            state = co_await cache.next(state);
        REQUIRE(state.instances.size() == 1);
        const service_instance& after = state.instances[0];
        CHECK(after.session_id == zk.session_id());
        CHECK(after.session_id != before.session_id);
        CHECK(after.incarnation > before.incarnation);
        CHECK(after.registration_time == before.registration_time);
        co_await other.close();
    });
}

TEST_CASE("service discovery: unregistered in an outage, it stays away") {
    for (bool expired : {false, true}) {
        with_proxy([&](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            service_discovery discovery(zk, path);
            service_instance a = instance("a");
            co_await discovery.register_instance(a);
            session_record session = proxy.session();
            proxy.set_acceptance(acceptance::close_at_once);
            proxy.cut();
            co_await eventually_async([&] { return zk.state() != session_state::connected; });
            pending_result<> leaving;
            discovery.unregister(a, leaving.handler());
            if (expired)
                expire(session);
            proxy.set_acceptance(acceptance::normal);
            CHECK(!co_await finished(leaving));
            co_await eventually_async([&] { return zk.state() == session_state::connected; });
            co_await settle(zk);
            CHECK(observer().children(path + "/web").empty());
        });
    }
}

TEST_CASE("service discovery: a pending unregister ends with its object") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        service_discovery discovery(zk, path);
        service_instance a = instance("a");
        co_await discovery.register_instance(a);
        proxy.set_acceptance(acceptance::close_at_once);
        proxy.cut();
        co_await eventually_async([&] { return zk.state() != session_state::connected; });
        pending_result<> leaving, joining;
        discovery.unregister(a, leaving.handler());
        discovery.register_instance(instance("b"), joining.handler());
        discovery = service_discovery();
        CHECK(co_await finished(leaving) == boost::asio::error::operation_aborted);
        CHECK(co_await finished(joining) == boost::asio::error::operation_aborted);
        proxy.set_acceptance(acceptance::normal);
        co_await eventually_async([&] { return observer().children(path + "/web").empty(); });
    });
}

TEST_CASE("service discovery: an instance that becomes readable is one") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client owner = co_await one_more_client();
        co_await owner.add_auth("digest", "ann:secret");
        service_discovery theirs(owner, path);
        service_instance a = instance("a");
        a.type = service_type::permanent;
        co_await theirs.register_instance(a);
        co_await owner.set_acl(path + "/web/a", creator_acl());
        service_cache cache(zk, path, "web");
        service_state state = co_await cache.next();
        CHECK(state.instances.empty());
        CHECK(state.malformed.size() == 1);
        co_await zk.add_auth("digest", "ann:secret");
        // What the cache may not read it reads again after a reconnect.
        proxy.cut();
        while (state.instances.empty())
            state = co_await cache.next(state);
        CHECK(state.malformed.empty());
        co_await owner.close();
    });
}

TEST_CASE("service discovery: the server of a new session lags behind: nothing seems to be gone") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        service_discovery discovery(zk, path);
        service_instance a = instance("a");
        a.type = service_type::permanent;
        co_await discovery.register_instance(a);
        service_cache cache(zk, path, "web");
        service_provider provider(zk, path, "web");
        service_state state = co_await cache.next();
        CHECK(state.instances.size() == 1);
        service_instance chosen = co_await provider.choose();
        CHECK(chosen.id == "a");
        co_await next_session_lags(zk, proxy, path);
        auto names = co_await discovery.list_names();
        CHECK(names.size() == 1);
        auto all = co_await discovery.resolve("web");
        CHECK(all.size() == 1);
        // Updated, not created again.
        a.port = 81;
        co_await discovery.update(a);
        while (state.instances.at(0).port != 81) {
            state = co_await cache.next(state);
            REQUIRE(state.instances.size() == 1);
        }
        chosen = co_await provider.choose();
        CHECK(chosen.port == 81);
    });
}

TEST_CASE("service discovery: without a connection, what was known last is chosen") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        service_discovery theirs(other, path);
        co_await theirs.register_instance(instance("a"));
        service_provider provider(zk, path, "web");
        service_instance chosen = co_await provider.choose();
        proxy.set_acceptance(acceptance::close_at_once);
        session_record session = proxy.session();
        proxy.cut();
        co_await eventually_async([&] { return zk.state() != session_state::connected; });
        chosen = co_await provider.choose();
        CHECK(chosen.id == "a");
        service_endpoints endpoints = co_await provider.get_endpoints();
        CHECK(endpoints.size() == 1);
        co_await theirs.unregister(chosen);
        expire(session);
        proxy.set_acceptance(acceptance::normal);
        // What has changed meanwhile is seen.
        co_await theirs.register_instance(instance("b"));
        while (chosen.id != "b")
            chosen = co_await provider.choose();
        co_await other.close();
    });
}

}  // namespace corozk::testing::service_discovery_test
