// SPDX-License-Identifier: Apache-2.0
#include "patience.hpp"
#include "turns.hpp"
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/multi_lock.hpp>

#include <chrono>
#include <string>

namespace corozk::schedule {

namespace multi_lock_scenarios {

/// Two locks, of which a deadlock could come if they were taken in the order in which they are named.
template <char First, char Second>
awaitable<void> contend(actor& a) {
    lock first(a.zk(), std::string("/f/") + First);
    lock second(a.zk(), std::string("/f/") + Second);
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
        co_await give_back(a, held);
        co_return;
    }
}

awaitable<void> hold_the_second(actor& a) {
    lock second(a.zk(), "/f/b");
    auto acquire = [&second](auto token) { return second.acquire(token); };
    co_await hold_for_a_while(a, acquire);
}

/// Has the first while it waits for the second, no longer than that is held.
awaitable<void> try_both_for_a_while(actor& a) {
    lock first(a.zk(), "/f/a");
    lock second(a.zk(), "/f/b");
    multi_lock both(a.zk());
    both.add(first).add(second);
    auto token = a.token();
    auto [ec, held] = co_await both.acquire_for(std::chrono::seconds(3), token);
    if (ec != errc::deadline_exceeded)
        a.may_see(ec, "acquire_for");
    if (ec)
        co_return;
    stage::tenure one(a, held.parts()[0].held);
    stage::tenure other(a, held.parts()[1].held);
    co_await a.gate("holding");
}

/// Waits for the first.
awaitable<void> contend_for_the_first(actor& a) {
    lock first(a.zk(), "/f/a");
    auto acquire = [&first](auto token) { return first.acquire(token); };
    co_await have_a_turn(a, acquire);
}

void patience_ends(stage& s) {
    play_all(s,
             {{"holder", hold_the_second},
              {"impatient", try_both_for_a_while},
              {"waiter", contend_for_the_first}});
    s.leaves_nothing_in("/f/a");
    s.leaves_nothing_in("/f/b");
}

void two(stage& s) {
    s.play("a and b", 0, contend<'a', 'b'>);
    s.play("b and a", 1, contend<'b', 'a'>);
    s.leaves_nothing_in("/f/a");
    s.leaves_nothing_in("/f/b");
}

/// Each wants its own and the next one's.
template <int Sessions>
void three(stage& s) {
    play_all(s,
             {{"a and b", contend<'a', 'b'>},
              {"b and c", contend<'b', 'c'>},
              {"c and a", contend<'c', 'a'>}},
             Sessions);
    for (const char* one : {"/f/a", "/f/b", "/f/c"})
        s.leaves_nothing_in(one);
}

const registered all[] = {
    registered(scenario("multi_lock.2", 2, two)),
    registered(scenario("multi_lock.2", 2, two).in_a_folder({"/f", "/f/a", "/f/b"})),
    registered(scenario("multi_lock.3", 3, three<3>).in_a_folder({"/f", "/f/a", "/f/b", "/f/c"})),
    registered(scenario("multi_lock.3-in-1", 1, three<1>)),
    registered::in_halves(
        scenario("multi_lock.3", 3, three<3>).in_a_folder({"/f", "/f/a", "/f/b", "/f/c"})),
    registered(scenario("multi_lock.deadline", 3, patience_ends)),
};

}  // namespace multi_lock_scenarios

}  // namespace corozk::schedule
