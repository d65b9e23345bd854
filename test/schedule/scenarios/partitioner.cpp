// SPDX-License-Identifier: Apache-2.0
// Members share one resource: each has it once, and nobody beside another one.
#include "patience.hpp"
#include "turns.hpp"
#include <corozk/recipe/partitioner.hpp>

#include <string>
#include <utility>
#include <vector>

namespace corozk::schedule {

namespace partitioner_scenarios {

constexpr const char* shards = "/f/p";

partitioner one_resource(actor& a) {
    partitioner_options options;
    options.settle = std::chrono::milliseconds(0);
    return partitioner(a.zk(), shards, std::vector<std::string>{"r"}, options);
}

/// Takes part until it has had the resource, and leaves.
awaitable<void> have_it_once(actor& a) {
    partitioner p = one_resource(a);
    auto token = a.token();
    auto [joined] = co_await p.join(a.name(), token);
    if (!a.may_see(joined, "join") || joined)
        co_return;
    ownership held;
    while (!held.valid()) {
        auto next = a.token();
        auto [ec, change] = co_await p.next(next);
        if (!a.may_see(ec, "next") || ec)
            co_return;
        a.on().check(!change.empty(), "a change without a difference");
        a.on().check(change.to_release.empty() || held, "what is to be released was had");
        if (!change.lost.empty() || !change.to_release.empty())
            held = ownership();
        for (partition_grant& grant : change.gained)
            held = std::move(grant.held);
    }
    {
        stage::tenure owner(a, held);
        co_await a.gate("holding");
    }
    auto firm = a.firm_token();
    auto [left] = co_await p.leave(firm);
    a.may_see(left, "leave");
    co_await give_back(a, held);
}

template <int Members>
void share(stage& s) {
    for (int i = 0; i < Members; ++i)
        s.play(std::string(1, static_cast<char>('a' + i)), i, have_it_once);
    for (const char* place : {"/members", "/decider", "/locks/r"})
        s.leaves_nothing_in(std::string(shards) + place);
}

const auto all_folders = {
    "/f", "/f/p", "/f/p/members", "/f/p/decider", "/f/p/locks", "/f/p/locks/r"};

const registered all[] = {
    registered(scenario("partitioner.1", 1, share<1>).with_child_stats()),
    registered(scenario("partitioner.2", 2, share<2>)
                   .of_equals()
                   .with_child_stats()
                   .in_a_folder(all_folders)),
    registered(scenario("partitioner.3", 3, share<3>)
                   .of_equals()
                   .with_child_stats()
                   .in_a_folder(all_folders)),
};

}  // namespace partitioner_scenarios

}  // namespace corozk::schedule
