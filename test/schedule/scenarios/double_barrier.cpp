// SPDX-License-Identifier: Apache-2.0
// Nobody is let in before all have come, nobody leaves before all who live want to.
#include "turns.hpp"
#include <corozk/recipe/double_barrier.hpp>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

namespace corozk::schedule {

namespace double_barrier_scenarios {

template <int Size, int LeavesAfterSeconds = 0>
awaitable<void> member(actor& a) {
    double_barrier b(a.zk(), folder, Size);
    stage& s = a.on();
    s.note_down("came", a.name());
    auto firm = a.firm_token();
    for (;;) {
        auto [ec] = co_await b.enter_for(std::chrono::seconds(100), firm);
        if (!ec)
            break;
        // Who has died when the round began belongs to the next one, which needs as many.
        bool late = ec == errc::deadline_exceeded && !s.notes("inside").empty() && s.any_fault();
        s.remember(a.client_index(), late);
        if (late)
            co_return;
        if (!a.may_see(ec, "enter"))
            co_return;
    }
    s.check(s.notes("came").size() == static_cast<std::size_t>(Size),
            a.name() + " was let in before all had come");
    s.note_down("inside", a.name());
    co_await a.gate("inside");
    if (LeavesAfterSeconds > 0) {
        boost::asio::steady_timer later(co_await boost::asio::this_coro::executor,
                                        std::chrono::seconds(LeavesAfterSeconds));
        co_await later.async_wait(boost::asio::use_awaitable);
    }
    s.note_down("leaving", a.name());
    auto [ec] = co_await b.leave(firm);
    a.may_see(ec, "leave");
    bool somebody_died = s.happened(move_kind::expire) || s.happened(move_kind::silence);
    if (!ec && !somebody_died) {
        s.check(s.notes("leaving").size() == static_cast<std::size_t>(Size),
                a.name() + " has left before all wanted to");
    }
}

/// So late that a client which hears of no server has given its session up meanwhile.
awaitable<void> late_member(actor& a) {
    boost::asio::steady_timer later(co_await boost::asio::this_coro::executor,
                                    std::chrono::seconds(60));
    co_await later.async_wait(boost::asio::use_awaitable);
    co_await member<2>(a);
}

/// Gives up right when the other one comes, and comes again: who has given up was not counted.
awaitable<void> impatient_member(actor& a) {
    double_barrier b(a.zk(), folder, 2);
    stage& s = a.on();
    auto firm = a.firm_token();
    auto [ec] = co_await b.enter_for(std::chrono::seconds(5), firm);
    if (ec == errc::deadline_exceeded) {
        s.check(s.any_fault() || s.notes("inside").empty(), "who has given up was counted");
        co_await member<2>(a);
        co_return;
    }
    if (!a.may_see(ec, "enter") || ec)
        co_return;
    s.note_down("inside", a.name());
    co_await a.gate("inside");
    s.note_down("leaving", a.name());
    auto [left] = co_await b.leave(firm);
    a.may_see(left, "leave");
}

awaitable<void> member_in_time(actor& a) {
    boost::asio::steady_timer later(co_await boost::asio::this_coro::executor,
                                    std::chrono::seconds(5));
    co_await later.async_wait(boost::asio::use_awaitable);
    double_barrier b(a.zk(), folder, 2);
    a.on().note_down("came", a.name());
    auto firm = a.firm_token();
    auto [ec] = co_await b.enter_for(std::chrono::seconds(100), firm);
    bool late = ec == errc::deadline_exceeded && a.on().any_fault();
    if (late || !a.may_see(ec, "enter") || ec)
        co_return;
    a.on().note_down("inside", a.name());
    a.on().note_down("leaving", a.name());
    auto [left] = co_await b.leave(firm);
    a.may_see(left, "leave");
}

/// Again and again: nothing of a round lets anybody into the next one.
awaitable<void> member_of_two_rounds(actor& a) {
    double_barrier b(a.zk(), folder, 2);
    stage& s = a.on();
    auto firm = a.firm_token();
    for (std::string number : {"1", "2"}) {
        s.note_down("came " + number, a.name());
        for (;;) {
            auto [ec] = co_await b.enter_for(std::chrono::seconds(100), firm);
            if (!ec)
                break;
            // Who has died in a round needs another one, for which there is nobody.
            if (ec == errc::deadline_exceeded && s.any_fault())
                co_return;
            if (!a.may_see(ec, "enter"))
                co_return;
        }
        bool somebody_died = s.happened(move_kind::expire) || s.happened(move_kind::silence);
        s.check(somebody_died || s.notes("came " + number).size() == 2,
                a.name() + " was let in before all had come");
        co_await a.gate("inside");
        s.note_down("leaving " + number, a.name());
        auto [ec] = co_await b.leave_for(std::chrono::seconds(100), firm);
        if (!a.may_see(ec, "leave"))
            co_return;
        somebody_died = s.happened(move_kind::expire) || s.happened(move_kind::silence);
        s.check(ec || somebody_died || s.notes("leaving " + number).size() == 2,
                a.name() + " has left before all wanted to");
    }
}

void two_rounds(stage& s) {
    s.play("a", 0, member_of_two_rounds);
    s.play("b", 1, member_of_two_rounds);
    s.leaves_nothing_in(folder);
}

void round_with_a_deadline(stage& s) {
    s.play("impatient", 0, impatient_member);
    s.play("b", 1, member_in_time);
    s.leaves_nothing_in(folder);
}

void late_round(stage& s) {
    s.play("a", 0, member<2>);
    s.play("b", 1, late_member);
    s.leaves_nothing_in(folder);
}

/// Of one client's members one leaves later, after the others' leaving has begun.
void one_leaves_later(stage& s) {
    s.play("b", 1, member<3>);
    s.play("a", 0, member<3>);
    s.play("c", 0, member<3, 1>);
    s.leaves_nothing_in(folder);
}

template <int Size, int Sessions = Size>
void round(stage& s) {
    for (int i = 0; i < Size; ++i)
        s.play(std::string(1, static_cast<char>('a' + i)), i % Sessions, member<Size>);
    s.leaves_nothing_in(folder);
}

scenario members(const char* name, int sessions, void (*set_up)(stage&)) {
    return scenario(name, sessions, set_up).with_child_stats().uncancelled();
}

const scenario of_two = members("double_barrier.2", 2, round<2>).of_equals();
const scenario of_three = members("double_barrier.3", 3, round<3>).of_equals();
const scenario of_three_in_two = members("double_barrier.3-in-2", 2, round<3, 2>).in_a_folder();

const registered all[] = {
    registered(of_two),
    registered(of_two.in_a_folder()),
    registered::in_halves(of_two.in_a_folder()),
    registered(of_three),
    registered(of_three.in_a_folder()),
    registered::in_halves(of_three.in_a_folder()),
    registered(members("double_barrier.2-in-1", 1, round<2, 1>)),
    registered(members("double_barrier.3-in-1", 1, round<3, 1>)),
    registered(of_three_in_two),
    registered::in_halves(of_three_in_two),
    registered(members("double_barrier.deadline", 2, round_with_a_deadline)),
    registered(members("double_barrier.late", 2, late_round)),
    registered(members("double_barrier.leaves-later", 2, one_leaves_later)),
    registered(members("double_barrier.rounds", 2, two_rounds).of_equals()),
    registered(members("double_barrier.rounds-reaped", 2, two_rounds)
                   .of_equals()
                   .with({move_kind::cut, move_kind::lose_answer, move_kind::reap})),
};

}  // namespace double_barrier_scenarios

}  // namespace corozk::schedule
