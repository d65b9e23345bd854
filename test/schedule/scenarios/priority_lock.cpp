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
    contend_all(s, {{"low", contend<5>}, {"high", contend<1>}});
}

void three(stage& s) {
    contend_all(s, {{"low", contend<5>}, {"high", contend<1>}, {"higher", contend<0>}});
}

const registered all[] = {
    registered(scenario("priority_lock.2", 2, two)),
    registered(scenario("priority_lock.3", 3, three)),
};

}  // namespace

}  // namespace corozk::schedule
