// SPDX-License-Identifier: Apache-2.0
#include "turns.hpp"
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/multi_lock.hpp>

namespace corozk::schedule {

namespace {

/// Both locks, named in one order or the other.
template <bool Reversed>
awaitable<void> contend(actor& a) {
    lock first(a.zk(), Reversed ? "/f/b" : "/f/a");
    lock second(a.zk(), Reversed ? "/f/a" : "/f/b");
    multi_lock both(a.zk());
    both.add(first).add(second);
    for (;;) {
        auto token = a.token();
        auto [ec, held] = co_await both.acquire(token);
        if (ec) {
            if (!a.may_see(ec, "acquire") || a.cancelled())
                co_return;
            continue;
        }
        a.on().check(held.parts().size() == 2, "all or nothing");
        {
            stage::tenure one(a, held.parts()[0].held);
            stage::tenure other(a, held.parts()[1].held);
            co_await a.gate("holding");
        }
        auto firm = a.firm_token();
        auto [released] = co_await held.release(firm);
        a.may_see(released, "release");
        co_return;
    }
}

void two(stage& s) {
    s.play("a and b", 0, contend<false>);
    s.play("b and a", 1, contend<true>);
    s.leaves_nothing_in("/f/a");
    s.leaves_nothing_in("/f/b");
}

const registered all(scenario("multi_lock.2", 2, two));

}  // namespace

}  // namespace corozk::schedule
