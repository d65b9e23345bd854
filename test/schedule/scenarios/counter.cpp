// SPDX-License-Identifier: Apache-2.0
// Every addition is done exactly once, and every result was the counter's value.
#include "patience.hpp"
#include "turns.hpp"
#include <corozk/recipe/counter.hpp>

#include <algorithm>

namespace corozk::schedule {

namespace counter_scenarios {

constexpr const char* path = "/f/c";

template <int Times>
awaitable<void> add(actor& a) {
    counter c(a.zk(), path);
    for (int i = 0; i < Times; ++i) {
        a.on().note_down("tried", a.name());
        auto token = a.token();
        auto [ec, value] = co_await c.add(1, token);
        if (ec) {
            // What was sent is found out about, in the next session if need be; what was not sent
            // for too long is given up.
            bool silent = ec == errc::not_connected && a.on().happened(move_kind::silence);
            a.on().check(a.cancelled() || silent, a.name() + " has failed with " + ec.message());
            co_return;
        }
        a.on().note_down("done", std::to_string(value));
    }
}

/// Adds what the others may not have added in between.
template <int Times>
awaitable<void> swap(actor& a) {
    counter c(a.zk(), path);
    for (int i = 0; i < Times;) {
        auto token = a.token();
        auto [read, value] = co_await c.get(token);
        if (read) {
            // A question that is asked once may remain unanswered.
            bool lost = is_recoverable(read) || read == errc::not_connected;
            if (a.cancelled() || (!lost && !a.may_see(read, "get")))
                co_return;
            co_await pause();
            continue;
        }
        a.on().note_down("tried", a.name());
        auto swap_token = a.token();
        auto [ec, now] = co_await c.compare_and_set(value, value + 1, swap_token);
        if (ec) {
            bool silent = ec == errc::not_connected && a.on().happened(move_kind::silence);
            a.on().check(a.cancelled() || silent, a.name() + " has failed with " + ec.message());
            co_return;
        }
        if (!now.exchanged)
            continue;
        a.on().check(now.value == value + 1, "another value than was wanted");
        a.on().note_down("done", std::to_string(now.value));
        ++i;
    }
}

void exact(stage& s) {
    std::string text = s.data(path);
    std::size_t value = text.empty() ? 0 : std::stoul(text);
    std::vector<std::string> done = s.notes("done");
    s.check(value >= done.size(), "an addition is lost: " + text);
    s.check(value <= s.notes("tried").size(), "an addition was done twice: " + text);
    std::sort(done.begin(), done.end());
    s.check(std::adjacent_find(done.begin(), done.end()) == done.end(),
            "two additions have one result");
}

/// In another library's format it may remain unknown whether an addition was done.
template <compatibility Format>
awaitable<void> add_in_a_format(actor& a) {
    counter_options options;
    options.compatibility = Format;
    counter c(a.zk(), path, options);
    for (int i = 0; i < 2; ++i) {
        a.on().note_down("tried", a.name());
        auto token = a.token();
        auto [ec, value] = co_await c.add(1, token);
        bool unknown = ec == zk_errc::connection_loss && a.on().any_fault();
        bool silent = ec == errc::not_connected && a.on().happened(move_kind::silence);
        if (ec) {
            a.on().check(a.cancelled() || unknown || silent,
                         a.name() + " has failed with " + ec.message());
            co_return;
        }
        a.on().note_down("done", std::to_string(value));
    }
}

void in_kazoos_format(stage& s) {
    for (int i = 0; i < 2; ++i)
        s.play(
            std::string(1, static_cast<char>('a' + i)), i, add_in_a_format<compatibility::kazoo>);
    s.finally(exact);
}

template <int Clients, int Times>
void together_by_swaps(stage& s) {
    for (int i = 0; i < Clients; ++i)
        s.play(std::string(1, static_cast<char>('a' + i)), i, swap<Times>);
    s.finally(exact);
}

template <int Clients, int Times>
void together(stage& s) {
    for (int i = 0; i < Clients; ++i)
        s.play(std::string(1, static_cast<char>('a' + i)), i, add<Times>);
    s.finally(exact);
}

void in_one_session(stage& s) {
    for (int i = 0; i < 3; ++i)
        s.play(std::string(1, static_cast<char>('a' + i)), i % 2, add<1>);
    s.finally(exact);
}

const registered all[] = {
    registered(scenario("counter.2", 2, together<2, 2>).of_equals()),
    registered(scenario("counter.3", 3, together<3, 1>).of_equals()),
    registered(scenario("counter.kazoo", 2, in_kazoos_format).of_equals()),
    registered(scenario("counter.swap", 2, together_by_swaps<2, 2>).of_equals()),
    registered(scenario("counter.3-in-2", 2, in_one_session)),
};

}  // namespace counter_scenarios

}  // namespace corozk::schedule
