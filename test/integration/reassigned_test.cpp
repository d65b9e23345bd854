// SPDX-License-Identifier: Apache-2.0
// An object that is assigned over goes as if it were destroyed, although the other one lives on under its
// name: what was asked of it ends, and nothing of it is left at the server.
#include "pending_result.hpp"
#include <corozk.hpp>

#include <memory>
#include <string>
#include <utility>

namespace corozk::testing::reassigned_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;

namespace {

awaitable<void> nothing_left(std::string path) {
    admin there = observer();
    co_await eventually_async(
        [&] { return there.children(path).empty() && watches_below(path) == 0; },
        eventually_limit,
        "no node and no watch is left");
}

/// Assigns over it while an operation is under way, and keeps what it was assigned from.
template <class Object, class Value>
awaitable<void> assign_over(Object& object, Object other, pending_result<Value>& waiting) {
    CHECK_FALSE(waiting.done());
    object = std::move(other);
    error_code ec = co_await finished(waiting);
    CHECK(ec == boost::asio::error::operation_aborted);
}

}  // namespace

TEST_CASE("assigned over: who waits is told so") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        std::string elsewhere = path + "/elsewhere";

        queue items(zk, path + "/queue");
        pending_result<queue_item> taken;
        items.take(taken.handler());
        co_await settle(zk);
        co_await assign_over(items, queue(zk, elsewhere), taken);
        CHECK(items.path() == elsewhere);

        double_barrier pair(zk, path + "/pair", 2);
        pending_result<> entered;
        pair.enter(entered.handler());
        co_await settle(zk);
        co_await assign_over(pair, double_barrier(zk, elsewhere, 2), entered);
        co_await nothing_left(path + "/pair");

        node_cache cache(zk, path + "/cached");
        pending_result<node_state> next;
        auto [none, first] = co_await cache.next(as_tuple());
        REQUIRE_FALSE(none);
        cache.next(first, next.handler());
        co_await settle(zk);
        co_await assign_over(cache, node_cache(zk, elsewhere), next);
        co_await nothing_left(path + "/cached");

        versioned_configuration settings(zk, path + "/settings");
        pending_result<configuration_version> version;
        auto [missing, absent] = co_await settings.next(as_tuple());
        REQUIRE_FALSE(missing);
        settings.next(absent, version.handler());
        co_await settle(zk);
        co_await assign_over(settings, versioned_configuration(zk, elsewhere), version);
        co_await nothing_left(path + "/settings");
    });
}

TEST_CASE("assigned over: what stood for it goes") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        std::string elsewhere = path + "/elsewhere";

        membership member(zk, path + "/group");
        membership other_group(zk, elsewhere);
        co_await member.join("m", "");
        member = std::move(other_group);
        co_await nothing_left(path + "/group");
        CHECK(member.path() == elsewhere);

        rendezvous point(zk, path + "/point");
        rendezvous other_point(zk, elsewhere);
        co_await point.publish("here");
        point = std::move(other_point);
        admin there = observer();
        co_await eventually_async([&] { return !there.exists(path + "/point"); });

        persistent_node kept(zk, path + "/kept");
        co_await kept.keep("here");
        kept = persistent_node(zk, elsewhere);
        co_await eventually_async([&] { return !there.exists(path + "/kept"); });

        name_service names(zk, path + "/names");
        name_service other_names(zk, elsewhere);
        co_await names.register_name("n", "1", create_mode::ephemeral);
        names = std::move(other_names);
        co_await nothing_left(path + "/names");

        service_discovery services(zk, path + "/services");
        service_discovery other_services(zk, elsewhere);
        service_instance instance("web", "127.0.0.1", 80);
        co_await services.register_instance(instance);
        services = std::move(other_services);
        co_await nothing_left(path + "/services/web");
    });
}

TEST_CASE("assigned over: a leader leads no more") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        leader_latch first(zk, path);
        leader_latch elsewhere(zk, path + "-elsewhere");
        leader_latch second(zk, path);
        first.start();
        co_await first.wait_leadership();
        second.start();
        first = std::move(elsewhere);
        co_await second.wait_leadership();
        CHECK(second.has_leadership());
        CHECK_FALSE(first.has_leadership());
        co_await second.close();
        co_await nothing_left(path);
    });
}

TEST_CASE("assigned over: by itself nothing happens to it") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        counter number(zk, path + "/number");
        counter& same = number;
        number = std::move(same);
        std::int64_t sum = co_await number.add(2);
        CHECK(sum == 2);
        CHECK(number.path() == path + "/number");
    });
}

}  // namespace corozk::testing::reassigned_test
