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
    s.play("writer", 0, write);
    s.play("reader", 1, read);
    s.leaves_nothing_in(folder);
}

void all_three(stage& s) {
    s.play("reader", 0, read);
    s.play("writer", 1, write);
    s.play("other reader", 2, read);
    s.leaves_nothing_in(folder);
}

scenario make(std::string name, int clients, void (*set_up)(stage&)) {
    scenario s;
    s.name = "shared_lock." + std::move(name);
    s.clients = clients;
    s.set_up = set_up;
    return s;
}

const registered all[] = {
    registered(make("2", 2, write_and_read)),
    registered(make("3", 3, all_three)),
};

}  // namespace

}  // namespace corozk::schedule
