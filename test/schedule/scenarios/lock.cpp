// SPDX-License-Identifier: Apache-2.0
#include "turns.hpp"
#include <corozk/recipe/lock.hpp>

#include <limits>

namespace corozk::schedule {

namespace {

awaitable<void> contend(actor& a) {
    lock l(a.zk(), folder);
    auto acquire = [&l](auto token) { return l.acquire(token); };
    co_await have_a_turn(a, acquire);
}

/// Gives up as soon as somebody is ahead.
awaitable<void> try_once(actor& a) {
    lock l(a.zk(), folder);
    auto token = a.token();
    auto [ec, held] = co_await l.try_acquire(token);
    if (ec) {
        if (ec != errc::would_block)
            a.may_see(ec, "try_acquire");
        co_return;
    }
    stage::tenure owner(a, held);
    co_await a.gate("holding");
}

/// `spread` sessions; the contenders take one after the other.
template <int Contenders, int Spread>
void contest(stage& s) {
    for (int i = 0; i < Contenders; ++i)
        s.play(std::string(1, static_cast<char>('a' + i)), i % Spread, contend);
    s.leaves_nothing_in(folder);
}

void contest_with_a_try(stage& s) {
    s.play("a", 0, contend);
    s.play("tries", 1, try_once);
    s.leaves_nothing_in(folder);
}

/// Somebody erases nodes of contenders.
void erased(stage& s) {
    contest<2, 2>(s);
    s.may_erase([](stage& where) {
        std::vector<std::string> paths;
        for (const std::string& name : where.children(folder))
            paths.push_back(std::string(folder) + "/" + name);
        return paths;
    });
}

/// Writes into the nodes of all contenders: a request to release.
awaitable<void> ask_all(actor& a) {
    lock l(a.zk(), folder);
    auto token = a.token();
    auto [ec, all] = co_await l.contenders(token);
    for (const contender_info& one : all) {
        auto [problem] = co_await l.request_release(one.path, token);
        if (problem == boost::asio::error::operation_aborted)
            co_return;
    }
}

void asked(stage& s) {
    contest<2, 2>(s);
    s.play("asks", 2, ask_all);
}

void plant_folder(stage& s, std::int32_t next_sequence) {
    model::log_entry entry;
    entry.zxid = 1;
    model::change c;
    c.path = folder;
    s.zookeeper().prepare([&](model::tree& nodes) {
        nodes.apply(entry, c);
        nodes.find(folder)->creates = next_sequence;
    });
}

/// The folder is there.
template <int Contenders>
void in_a_folder(stage& s) {
    plant_folder(s, 1);
    contest<Contenders, Contenders>(s);
}

/// The sequences of the folder begin before the end of the numbers.
void wrapping(stage& s) {
    plant_folder(s, std::numeric_limits<std::int32_t>::max());
    contest<3, 3>(s);
}

const registered all[] = {
    registered(scenario("lock.1", 1, contest<1, 1>)),
    registered(scenario("lock.2", 2, contest<2, 2>).of_equals()),
    registered(scenario("lock.2-in-1", 1, contest<2, 1>)),
    registered(scenario("lock.2-in-a-folder", 2, in_a_folder<2>).of_equals()),
    registered(scenario("lock.3", 3, contest<3, 3>).of_equals()),
    registered(scenario("lock.3-in-a-folder", 3, in_a_folder<3>).of_equals()),
    registered(scenario("lock.3-in-1", 1, contest<3, 1>)),
    registered(scenario("lock.3-in-2", 2, contest<3, 2>)),
    registered(scenario("lock.try", 2, contest_with_a_try)),
    registered(scenario("lock.2", 2, contest<2, 2>).lagging()),
    registered(scenario("lock.asked", 3, asked)),
    registered(scenario("lock.wrapping", 3, wrapping).of_equals()),
    registered(scenario("lock.erased", 2, erased)
                   .of_equals()
                   .with({move_kind::cut, move_kind::lose_answer, move_kind::erase_node})),
    registered(scenario("lock.reaped", 2, contest<2, 2>)
                   .of_equals()
                   .with({move_kind::lose_answer, move_kind::cancel, move_kind::reap})),
};

}  // namespace

}  // namespace corozk::schedule
