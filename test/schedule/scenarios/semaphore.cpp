// SPDX-License-Identifier: Apache-2.0
#include "turns.hpp"
#include <corozk/recipe/semaphore.hpp>

namespace corozk::schedule {

namespace {

constexpr int permits = 2;

template <int Weight>
awaitable<void> contend(actor& a) {
    semaphore all(a.zk(), folder, permits);
    turn_rule rule;
    rule.weight = Weight;
    rule.limit = permits;
    rule.may_be_ahead = [](const std::string&) { return true; };
    auto acquire = [&all](auto token) { return all.acquire(Weight, token); };
    co_await have_a_turn(a, acquire, rule);
}

void two(stage& s) {
    s.play("both", 0, contend<2>);
    s.play("one", 1, contend<1>);
    s.leaves_nothing_in(folder);
}

void three(stage& s) {
    s.play("one", 0, contend<1>);
    s.play("both", 1, contend<2>);
    s.play("another", 2, contend<1>);
    s.leaves_nothing_in(folder);
}

scenario make(std::string name, int clients, void (*set_up)(stage&)) {
    scenario s;
    s.name = "semaphore." + std::move(name);
    s.clients = clients;
    s.set_up = set_up;
    return s;
}

const registered all[] = {
    registered(make("2", 2, two)),
    registered(make("3", 3, three)),
};

}  // namespace

}  // namespace corozk::schedule
