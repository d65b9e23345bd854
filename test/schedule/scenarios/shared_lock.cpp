// SPDX-License-Identifier: Apache-2.0
#include "turns.hpp"
#include <corozk/recipe/shared_lock.hpp>

namespace corozk::schedule {

namespace {

constexpr int all_of_it = 100;

awaitable<void> read(actor& a) {
    shared_lock l(a.zk(), folder);
    turn_rule rule;
    rule.limit = all_of_it;
    rule.may_be_ahead = [](const std::string& name) { return name.find("-read-") != name.npos; };
    auto acquire = [&l](auto token) { return l.acquire_read(token); };
    co_await have_a_turn(a, acquire, rule);
}

awaitable<void> write(actor& a) {
    shared_lock l(a.zk(), folder);
    turn_rule rule;
    rule.weight = rule.limit = all_of_it;
    auto acquire = [&l](auto token) { return l.acquire_write(token); };
    co_await have_a_turn(a, acquire, rule);
}

void write_and_read(stage& s) {
    contend_all(s, {{"writer", write}, {"reader", read}});
}

void all_three(stage& s) {
    contend_all(s, {{"reader", read}, {"writer", write}, {"other reader", read}});
}

const registered all[] = {
    registered(scenario("shared_lock.2", 2, write_and_read)),
    registered(scenario("shared_lock.3", 3, all_three)),
};

}  // namespace

}  // namespace corozk::schedule
