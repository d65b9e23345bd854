// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/call.hpp"
#include "matrix/engine/stays_away.hpp"
#include <corozk/recipe/persistent_node.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace corozk::matrix {

namespace persistent_node_scenarios {

std::string place_of(const stage& s) {
    return s.folder() + "/kept";
}

template <create_mode mode>
persistent_node_options options_with(const stage& s) {
    persistent_node_options options = options_of<persistent_node_options>(s);
    options.mode = mode;
    if (mode == create_mode::persistent_with_ttl)
        options.ttl = std::chrono::minutes(10);  // no fault lasts as long
    return options;
}

template <create_mode mode>
awaitable<void> probe(client& c, stage& s) {
    persistent_node next(c, place_of(s), options_with<mode>(s));
    co_await next.keep_for("last", s.patience());
    s.check(s.data(place_of(s)) == "last", "the next one has its data there");
    co_await next.erase();
}

template <create_mode mode>
awaitable<void> keep(stage& s) {
    object<persistent_node> mine(s, s.ours(), place_of(s), options_with<mode>(s));
    call<> keeping(s, "keep");
    mine->keep_for("1", keeping.limit(), keeping.token());
    co_await keeping.result();
    co_await s.state("kept");
    call<> changing(s, "set_data");
    mine->set_data_for("2", changing.limit(), changing.token());
    co_await changing.result();
    // Whatever has happened to the session or the node: it is there again.
    co_await testing::eventually_async(
        [&] {
            if (s.disturbed())
                return true;
            auto record = s.stat(place_of(s));
            const std::int64_t owner = mode == create_mode::ephemeral ? s.ours().session_id() : 0;
            return record && record->ephemeral_owner == owner && s.data(place_of(s)) == "2";
        },
        s.patience(),
        "the node is there with its last data");
    co_await s.state("changed");
    call<> erasing(s, "erase");
    mine->erase_for(erasing.limit(), erasing.token());
    co_await erasing.result();
    co_await stays_away(s, place_of(s), "erased");
}

/// What its owner is told: that it is there, and after each loss that it is there again.
template <create_mode mode>
awaitable<void> follow(stage& s) {
    object<persistent_node> mine(s, s.ours(), place_of(s), options_with<mode>(s));
    persistent_node_status seen = mine->status();
    s.check(!seen.held && !mine->valid(), "it is not there before it is kept");
    call<> keeping(s, "keep");
    mine->keep_for("1", keeping.limit(), keeping.token());
    co_await keeping.result();
    co_await s.state("kept");
    do {
        const std::uint64_t revision = seen.revision;
        call<persistent_node_status> next(s, "next_status");
        mine->next_status(seen, next.token());
        seen = co_await next.result();
        s.check(seen.revision > revision, "each change has a revision of its own");
    } while (!seen.held);
    call<persistent_node_status> next(s, "next_status");
    mine->next_status(seen, next.token());
    co_await s.state("followed");
    call<> erasing(s, "erase");
    mine->erase_for(erasing.limit(), erasing.token());
    co_await erasing.result();
    const persistent_node_status last = co_await next.result();
    s.check(last.revision > seen.revision, "a change is told");
    s.check(!mine->status().held && !mine->valid(), "what was erased is not there");
    co_await stays_away(s, place_of(s), "erased");
}

template <create_mode mode, awaitable<void> (*play)(stage&)>
scenario make(std::string name) {
    scenario s;
    s.recipe = "persistent_node";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe<mode>;
    s.outlives_session = true;
    s.without[fault::second_object] = "it keeps the node once this one does not";
    // Nobody deletes it for a process that has died.
    if (mode != create_mode::ephemeral)
        s.may_stay = [](stage&, const std::string& below) { return below == "kept"; };
    return s;
}

const registered all[] = {
    registered(make<create_mode::ephemeral, keep<create_mode::ephemeral>>("ephemeral")),
    registered(
        make<create_mode::persistent_with_ttl, follow<create_mode::persistent_with_ttl>>("lease")),
    registered(make<create_mode::persistent, keep<create_mode::persistent>>("persistent")),
    registered(make<create_mode::ephemeral, follow<create_mode::ephemeral>>("status")),
};

}  // namespace persistent_node_scenarios

}  // namespace corozk::matrix
