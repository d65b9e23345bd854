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
    contend_all(s, {{"both", contend<2>}, {"one", contend<1>}});
}

void three(stage& s) {
    contend_all(s, {{"one", contend<1>}, {"both", contend<2>}, {"another", contend<1>}});
}

const registered all[] = {
    registered(scenario("semaphore.2", 2, two)),
    registered(scenario("semaphore.3", 3, three)),
};

}  // namespace

}  // namespace corozk::schedule
