// SPDX-License-Identifier: Apache-2.0
// A name that was registered is found, a follower is told of the last value, and no name is left.
#include "patience.hpp"
#include "turns.hpp"
#include <corozk/recipe/name_service.hpp>

namespace corozk::schedule {

namespace name_service_scenarios {

constexpr const char* root = "/f";

/// For a session first; then for good, until all readers have seen it.
template <std::size_t Readers>
awaitable<void> give(actor& a) {
    name_service names(a.zk(), root);
    auto firm = a.firm_token();
    auto [first] = co_await names.register_name("n", "1", create_mode::ephemeral, firm);
    if (!a.may_see(first, "register_name"))
        co_return;
    auto [gone] = co_await names.unregister("n", firm);
    if (!a.may_see(gone, "unregister"))
        co_return;
    for (;;) {
        auto [second] = co_await names.register_name("n", "2", create_mode::persistent, firm);
        if (!second)
            break;
        // A client that has heard of no server gives its session up before the server ends it.
        bool own_earlier = second == errc::already_exists && a.on().happened(move_kind::silence);
        if (!own_earlier && !a.may_see(second, "register_name"))
            co_return;
        co_await pause();
    }
    co_await until_noted(a, "over", Readers);
    for (;;) {
        auto [last] = co_await names.unregister("n", firm);
        if (!last || !a.may_see(last, "unregister"))
            co_return;
        co_await pause();
    }
}

awaitable<void> look_up(actor& a) {
    noted_at_the_end over(a, "over");
    name_service names(a.zk(), root);
    auto token = a.token();
    auto [ec, entry] = co_await names.await_for("n", std::chrono::nanoseconds::max(), token);
    if (!a.may_see(ec, "await_for") || ec)
        co_return;
    a.on().check(entry.present, "a name that was awaited is not there");
    name_watch watched = names.follow("n");
    std::string last = entry.value;
    while (last != "2") {
        auto [problem, next] = co_await watched.next(token);
        if (!a.may_see(problem, "next") || problem)
            co_return;
        a.on().check(!next.present || next.value >= last, "an earlier value comes later");
        if (next.present)
            last = next.value;
    }
    auto [missed, found] = co_await names.resolve("n", token);
    if (!a.may_see(missed, "resolve") || missed)
        co_return;
    a.on().check(found.present && found.value == "2", "the last value is not found");
}

/// Wants a name that another one wants, too.
awaitable<void> want(actor& a) {
    name_service names(a.zk(), root);
    auto firm = a.firm_token();
    auto [given] = co_await names.register_name("n", a.name(), create_mode::ephemeral, firm);
    if (given == errc::already_exists || !a.may_see(given, "register_name") || given)
        co_return;
    {
        // Of a session that was ended, the node may be another one's before we hear of it.
        auto still = [&a] { return !a.on().session_ended(a.client_index()); };
        stage::tenure owner(a, "/f/n", still);
        co_await a.gate("named");
    }
    auto [gone] = co_await names.unregister("n", firm);
    a.may_see(gone, "unregister");
}

void one_name(stage& s) {
    contend_all(s, {{"a", want}, {"b", want}});
}

void three_want_it(stage& s) {
    contend_all(s, {{"a", want}, {"b", want}, {"c", want}});
}

void two(stage& s) {
    contend_all(s, {{"giver", give<1>}, {"reader", look_up}});
}

void three(stage& s) {
    contend_all(s, {{"giver", give<2>}, {"reader", look_up}, {"other", look_up}});
}

const registered all[] = {
    registered(scenario("name_service.2", 2, two)),
    registered(scenario("name_service.one-name", 2, one_name)),
    registered(scenario("name_service.3", 3, three).in_a_folder()),
    registered(scenario("name_service.one-name-3", 3, three_want_it).of_equals().in_a_folder()),
};

}  // namespace name_service_scenarios

}  // namespace corozk::schedule
