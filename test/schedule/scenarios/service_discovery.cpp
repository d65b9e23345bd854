// SPDX-License-Identifier: Apache-2.0
// An instance that was registered is found, a follower is told of the last state and of none that is
// older than one before, and no instance is left. Nobody takes an id that another one has.
#include "patience.hpp"
#include "turns.hpp"
#include <corozk/recipe/service_discovery.hpp>

namespace corozk::schedule {

namespace service_discovery_scenarios {

constexpr const char* base = "/f";

/// Every run has the same data.
service_instance instance(service_type type, std::uint16_t port) {
    service_instance one;
    one.name = "web";
    one.id = "n";
    one.port = port;
    one.type = type;
    return one;
}

/// For the session first; then for good, until it was seen.
awaitable<void> give(actor& a) {
    service_discovery services(a.zk(), base);
    auto firm = a.firm_token();
    service_instance mine = instance(service_type::dynamic, 1);
    auto [first] = co_await services.register_instance(mine, firm);
    if (!a.may_see(first, "register_instance"))
        co_return;
    mine.port = 2;
    auto [updated] = co_await services.update(mine, firm);
    if (!a.may_see(updated, "update"))
        co_return;
    auto [gone] = co_await services.unregister("web", "n", firm);
    if (!a.may_see(gone, "unregister"))
        co_return;
    mine = instance(service_type::permanent, 3);
    for (;;) {
        auto [second] = co_await services.register_instance(mine, firm);
        if (!second)
            break;
        // A client that has heard of no server gives its session up before the server ends it.
        bool own_earlier = second == errc::already_exists && a.on().happened(move_kind::silence);
        if (!own_earlier && !a.may_see(second, "register_instance"))
            co_return;
        co_await pause();
    }
    co_await until_noted(a, "over");
    for (;;) {
        auto [last] = co_await services.unregister("web", "n", firm);
        if (!last || !a.may_see(last, "unregister"))
            co_return;
        co_await pause();
    }
}

awaitable<void> follow(actor& a) {
    noted_at_the_end over(a, "over");
    service_cache cache(a.zk(), base, "web");
    auto token = a.token();
    service_state state;
    std::uint16_t last = 0;
    while (last != 3) {
        auto [ec, next] = co_await cache.next(state, token);
        if (!a.may_see(ec, "next") || ec)
            co_return;
        state = next;
        a.on().check(state.malformed.empty(), "something that is no instance");
        if (state.instances.empty())
            continue;
        const std::uint16_t port = state.instances[0].port.value_or(0);
        // In a later session it may be registered once more, but not with earlier data.
        a.on().check(port >= last, "an earlier state comes later");
        last = port;
    }
    service_discovery services(a.zk(), base);
    auto [missed, found] = co_await services.resolve("web", token);
    if (!a.may_see(missed, "resolve") || missed)
        co_return;
    a.on().check(found.size() == 1 && found[0].port == 3, "the last state is not found");
}

/// Wants an id that another one wants, too.
awaitable<void> want(actor& a) {
    service_discovery services(a.zk(), base);
    auto firm = a.firm_token();
    service_instance mine = instance(service_type::dynamic, 1);
    auto [given] = co_await services.register_instance(mine, firm);
    if (!a.may_see(given, "register_instance") || given)
        co_return;
    {
        // Of a session that was ended, the node may be another one's before we hear of it.
        auto still = [&a] { return !a.on().session_ended(a.client_index()); };
        stage::tenure owner(a, "/f/web/n", still);
        co_await a.gate("registered");
    }
    auto [gone] = co_await services.unregister("web", "n", firm);
    a.may_see(gone, "unregister");
}

void two(stage& s) {
    play_all(s, {{"giver", give}, {"reader", follow}});
    s.leaves_nothing_in("/f/web");
}

void one_id(stage& s) {
    play_all(s, {{"a", want}, {"b", want}});
    s.leaves_nothing_in("/f/web");
}

const registered all[] = {
    registered(scenario("service_discovery.2", 2, two).with_child_stats()),
    registered(scenario("service_discovery.one-id", 2, one_id)),
};

}  // namespace service_discovery_scenarios

}  // namespace corozk::schedule
