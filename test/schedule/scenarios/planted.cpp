// SPDX-License-Identifier: Apache-2.0
// What the schedules are worth: a failure on purpose, which they find, and find again; and three clients
// that do the same, of whose orders one is enough.
#include "turns.hpp"
#include <corozk/recipe/lock.hpp>

namespace corozk::schedule {

namespace {

awaitable<void> contend(actor& a) {
    lock l(a.zk(), folder);
    auto acquire = [&l](auto token) { return l.acquire(token); };
    co_await have_a_turn(a, acquire);
    a.on().note_down("turns", a.name());
}

/// Two in two sessions, of which the other is never to be the first where something goes wrong.
void planted(stage& s) {
    for (int i = 0; i < 2; ++i)
        s.play(std::string(1, static_cast<char>('a' + i)), i, contend);
    s.finally([](stage& where) {
        const auto& turns = where.notes("turns");
        bool found = !turns.empty() && turns.front() == "b" && where.any_fault();
        where.check(!found, "planted: b was the first");
    });
}

awaitable<void> create_the_same(actor& a) {
    auto firm = a.firm_token();
    create_options plain;
    co_await a.zk().create("/same", "", plain, firm);
    a.on().note_down("order", a.name());
}

void one_request_each(stage& s) {
    for (int i = 0; i < 3; ++i)
        s.play(std::string(1, static_cast<char>('a' + i)), i, create_the_same);
}

scenario hidden(scenario s) {
    s.hidden = true;
    return s;
}

const registered all[] = {
    registered(hidden(scenario("planted.failure", 2, planted))),
    registered(hidden(scenario("planted.equals", 3, one_request_each).of_equals())),
    registered(hidden(scenario("planted.others", 3, one_request_each))),
};

}  // namespace

}  // namespace corozk::schedule
