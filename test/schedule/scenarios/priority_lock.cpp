// SPDX-License-Identifier: Apache-2.0
#include "turns.hpp"
#include <corozk/recipe/priority_lock.hpp>

namespace corozk::schedule {

namespace {

template <int Priority>
awaitable<void> contend(actor& a) {
    priority_lock l(a.zk(), folder);
    turn_rule rule;
    rule.may_be_ahead = [](const std::string&) { return true; };
    auto acquire = [&l](auto token) { return l.acquire(Priority, token); };
    co_await have_a_turn(a, acquire, rule);
}

void two(stage& s) {
    s.play("low", 0, contend<5>);
    s.play("high", 1, contend<1>);
    s.leaves_nothing_in(folder);
}

void three(stage& s) {
    s.play("low", 0, contend<5>);
    s.play("high", 1, contend<1>);
    s.play("higher", 2, contend<0>);
    s.leaves_nothing_in(folder);
}

scenario make(std::string name, int clients, void (*set_up)(stage&)) {
    scenario s;
    s.name = "priority_lock." + std::move(name);
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
