// SPDX-License-Identifier: Apache-2.0
#include "engine/meter.hpp"
#include <corozk/recipe/membership.hpp>
#include <corozk/recipe/name_service.hpp>
#include <corozk/recipe/persistent_node.hpp>
#include <corozk/recipe/rendezvous.hpp>

#include <catch2/catch.hpp>

#include <deque>
#include <string>

namespace corozk::testing::groups_test {

using boost::asio::awaitable;

TEST_CASE("costs: membership") {
    costs_of("membership", 3, [](meter& m) {
        std::deque<membership> groups;
        for (std::size_t i = 0; i < 3; ++i)
            groups.emplace_back(m[i], m.path());
        m.count("the first joins",
                [&]() -> awaitable<void> { co_await groups[0].join("one", "data"); });
        m.count("members", [&]() -> awaitable<void> { co_await groups[2].members(); });
        m.count("following begins", [&]() -> awaitable<void> { co_await groups[2].next_change(); });
        m.count("another one joins, and is seen", [&]() -> awaitable<void> {
            co_await groups[1].join("two", "data");
            co_await groups[2].next_change();
        });
        m.count("a member's data change, and are seen", [&]() -> awaitable<void> {
            co_await groups[1].set_data("more");
            co_await groups[2].next_change();
        });
        m.count("one leaves, and is missed", [&]() -> awaitable<void> {
            co_await groups[1].leave();
            co_await groups[2].next_change();
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
            co_await mine.register_name("mail/c", "value", name_lifetime::session);
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

TEST_CASE("costs: rendezvous") {
    costs_of("rendezvous", 2, [](meter& m) {
        rendezvous mine(m[0], m.path()), theirs(m[1], m.path());
        m.count_steps("waiting",
                      [&] { m.begin([&]() -> awaitable<void> { co_await theirs.await(); }); });
        m.count("publish, and it is seen",
                [&]() -> awaitable<void> { co_await mine.publish("address"); });
        m.count("update", [&]() -> awaitable<void> { co_await mine.update("elsewhere"); });
        m.count("withdraw", [&]() -> awaitable<void> { co_await mine.withdraw(); });
        m.count("publish again", [&]() -> awaitable<void> { co_await mine.publish("address"); });
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
