// SPDX-License-Identifier: Apache-2.0
// What the schedules are worth: failures on purpose, which they find, and find again; and three clients
// that do the same, of whose orders one is enough.
#include "turns.hpp"
#include <corozk/recipe/lock.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include <cstdlib>
#include <stdexcept>

namespace corozk::schedule {

namespace planted_scenarios {

awaitable<void> contend(actor& a) {
    lock l(a.zk(), folder);
    auto acquire = [&l](auto token) { return l.acquire(token); };
    co_await have_a_turn(a, acquire);
    a.on().note_down("turns", a.name());
}

/// What is never to be.
bool other_was_first_in_spite_of_a_fault(stage& s) {
    const auto& turns = s.notes("turns");
    return !turns.empty() && turns.front() == "b" && s.any_fault();
}

/// Two in two sessions.
void two_of_them(stage& s, awaitable<void> (*plays)(actor&)) {
    for (int i = 0; i < 2; ++i)
        s.play(std::string(1, static_cast<char>('a' + i)), i, plays);
}

void failure(stage& s) {
    two_of_them(s, contend);
    s.finally([](stage& end) {
        end.check(!other_was_first_in_spite_of_a_fault(end), "planted: b was the first");
    });
}

void check_that_throws(stage& s) {
    two_of_them(s, contend);
    s.finally([](stage& end) {
        if (other_was_first_in_spite_of_a_fault(end))
            throw std::runtime_error("planted by a check");
    });
}

/// Does what must not be done, in a handler of the loop, right after its turn.
template <void (*What)()>
awaitable<void> contend_and_break(actor& a) {
    co_await contend(a);
    bool found = a.name() == "b" && other_was_first_in_spite_of_a_fault(a.on());
    auto executor = co_await boost::asio::this_coro::executor;
    if (found)
        boost::asio::post(executor, What);
}

template <void (*What)()>
void breaks(stage& s) {
    two_of_them(s, contend_and_break<What>);
}

void throw_it() {
    throw std::runtime_error("planted by a handler");
}

void abort_it() {
    std::abort();
}

void hang() {
    for (volatile bool still = true; still;) {
    }
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
    registered(hidden(scenario("planted.failure", 2, failure))),
    registered(hidden(scenario("planted.check", 2, check_that_throws))),
    registered(hidden(scenario("planted.handler", 2, breaks<throw_it>))),
    registered(hidden(scenario("planted.crash", 2, breaks<abort_it>))),
    registered(hidden(scenario("planted.hang", 2, breaks<hang>))),
    registered(hidden(scenario("planted.equals", 3, one_request_each).of_equals())),
    registered(hidden(scenario("planted.others", 3, one_request_each))),
};

}  // namespace planted_scenarios

}  // namespace corozk::schedule
