// SPDX-License-Identifier: Apache-2.0
// A failure on purpose: what the schedules are worth if they find it, and find it again.
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

/// Two in two sessions, of which the other is never to be the first where a connection breaks.
void planted(stage& s) {
    for (int i = 0; i < 2; ++i)
        s.play(std::string(1, static_cast<char>('a' + i)), i, contend);
    s.finally([](stage& where) {
        const auto& turns = where.notes("turns");
        bool found = !turns.empty() && turns.front() == "b" && where.happened(move_kind::cut);
        where.check(!found, "planted: b was the first");
    });
}

const registered all = [] {
    scenario s("planted.failure", 2, planted);
    s.hidden = true;
    return registered(std::move(s));
}();

}  // namespace

}  // namespace corozk::schedule
