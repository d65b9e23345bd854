// SPDX-License-Identifier: Apache-2.0
#include "engine/meter.hpp"
#include <corozk/recipe/membership.hpp>
#include <corozk/recipe/name_service.hpp>
#include <corozk/recipe/partitioner.hpp>
#include <corozk/recipe/persistent_node.hpp>
#include <corozk/recipe/rendezvous.hpp>
#include <corozk/recipe/service_discovery.hpp>
#include <corozk/recipe/service_provider.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace corozk::testing::groups_test {

using boost::asio::awaitable;

TEST_CASE("costs: membership") {
    costs_of("membership", 3, [](meter& m) {
        std::deque<membership> groups;
        for (std::size_t i = 0; i < 3; ++i)
            groups.emplace_back(m[i], m.path());
        m.count("the first joins",
                [&]() -> awaitable<void> { co_await groups[0].join("one", "data"); });
        m.count("members", [&]() -> awaitable<void> { co_await groups[2].list_members(); });
        m.count("following begins", [&]() -> awaitable<void> { co_await groups[2].next(); });
        m.count("another one joins, and is seen", [&]() -> awaitable<void> {
            co_await groups[1].join("two", "data");
            co_await groups[2].next();
        });
        m.count("a member's data change, and are seen", [&]() -> awaitable<void> {
            co_await groups[1].set_data("more");
            co_await groups[2].next();
        });
        m.count("one leaves, and is missed", [&]() -> awaitable<void> {
            co_await groups[1].leave();
            co_await groups[2].next();
        });
    });
}

TEST_CASE("costs: name_service") {
    costs_of("name_service", 2, [](meter& m) {
        name_service mine(m[0], m.path()), theirs(m[1], m.path());
        m.count("the first name is registered",
                [&]() -> awaitable<void> { co_await mine.register_name("mail/a", "value"); });
        m.count("register_name",
                [&]() -> awaitable<void> { co_await mine.register_name("mail/b", "value"); });
        m.count("register_name for the session", [&]() -> awaitable<void> {
            co_await mine.register_name("mail/c", "value", create_mode::ephemeral);
        });
        m.count("resolve", [&]() -> awaitable<void> { co_await theirs.resolve("mail/a"); });
        m.count("list of 3", [&]() -> awaitable<void> { co_await theirs.list("mail"); });
        name_watch following = theirs.follow("mail/b");
        m.count("following begins", [&]() -> awaitable<void> { co_await following.next(); });
        m.count("unregister, and it is seen", [&]() -> awaitable<void> {
            co_await mine.unregister("mail/b");
            co_await following.next();
        });
    });
}

TEST_CASE("costs: service_discovery") {
    costs_of("service_discovery", 2, [](meter& m) {
        service_discovery mine(m[0], m.path()), theirs(m[1], m.path());
        // Of the same size in each run.
        service_instance a("web", "10.0.0.5", 80), b = a, c = a;
        for (service_instance* one : {&a, &b, &c})
            one->registration_time = 1'700'000'000'000;
        a.id = "a";
        b.id = "b";
        c.id = "c";
        c.type = service_type::permanent;
        m.count("the first instance is registered",
                [&]() -> awaitable<void> { co_await mine.register_instance(a); });
        m.count("register_instance",
                [&]() -> awaitable<void> { co_await mine.register_instance(b); });
        m.count("register_instance, permanent",
                [&]() -> awaitable<void> { co_await mine.register_instance(c); });
        m.count("resolve, 3 instances",
                [&]() -> awaitable<void> { co_await theirs.resolve("web"); });
        service_provider provider(m[1], m.path(), "web");
        m.count("the first choice", [&]() -> awaitable<void> { co_await provider.choose(); });
        m.count("another choice", [&]() -> awaitable<void> { co_await provider.choose(); });
        service_cache cache(m[1], m.path(), "web");
        service_state seen;
        auto next = [&]() -> awaitable<void> { seen = co_await cache.next(seen); };
        m.count("following begins", next);
        m.count("update, and it is seen", [&]() -> awaitable<void> {
            co_await mine.update(a);
            co_await next();
        });
        m.count("unregister, and it is seen", [&]() -> awaitable<void> {
            co_await mine.unregister(a);
            co_await next();
        });
    });
}

TEST_CASE("costs: rendezvous") {
    costs_of("rendezvous", 2, [](meter& m) {
        rendezvous mine(m[0], m.path()), theirs(m[1], m.path());
        m.count_steps("waiting",
                      [&] { m.begin([&]() -> awaitable<void> { co_await theirs.await(); }); });
        m.count("publish, and it is seen",
                [&]() -> awaitable<void> { co_await mine.publish("address"); });
        m.count("set_data", [&]() -> awaitable<void> { co_await mine.set_data("elsewhere"); });
        m.count("withdraw", [&]() -> awaitable<void> { co_await mine.withdraw(); });
        m.count("publish again", [&]() -> awaitable<void> { co_await mine.publish("address"); });
    });
}

TEST_CASE("costs: partitioner") {
    costs_of("partitioner", 3, [](meter& m) {
        partitioner_options options;
        options.settle = std::chrono::milliseconds(0);
        const std::vector<std::string> shards{"a", "b", "c", "d", "e", "f"};
        std::deque<partitioner> members;
        std::map<std::string, ownership> held[3];
        for (std::size_t i = 0; i < 3; ++i)
            members.emplace_back(m[i], m.path(), shards, options);
        auto reach = [&](std::size_t i, std::size_t count) -> awaitable<void> {
            while (held[i].size() != count) {
                partition_change change = co_await members[i].next();
                for (const std::string& shard : change.to_release)
                    held[i].erase(shard);
                for (partition_grant& grant : change.gained)
                    held[i].emplace(grant.resource, std::move(grant.held));
            }
        };
        m.count("the first joins, and has six", [&]() -> awaitable<void> {
            co_await members[0].join("one");
            co_await reach(0, 6);
        });
        m.count("another one joins, and three move", [&]() -> awaitable<void> {
            co_await members[1].join("two");
            co_await reach(0, 3);
            co_await reach(1, 3);
        });
        m.count("a third one joins, and two move", [&]() -> awaitable<void> {
            co_await members[2].join("three");
            co_await reach(0, 2);
            co_await reach(1, 2);
            co_await reach(2, 2);
        });
        m.count("it leaves, and two move", [&]() -> awaitable<void> {
            co_await members[2].leave();
            co_await reach(2, 0);
            co_await reach(0, 3);
            co_await reach(1, 3);
        });
    });
}

TEST_CASE("costs: persistent node") {
    costs_of("persistent node", 1, [](meter& m) {
        persistent_node mine(m[0], m.path());
        m.count("keep", [&]() -> awaitable<void> { co_await mine.keep("data"); });
        m.count("set_data", [&]() -> awaitable<void> { co_await mine.set_data("other data"); });
        m.count("erase", [&]() -> awaitable<void> { co_await mine.erase(); });
    });
}

}  // namespace corozk::testing::groups_test
