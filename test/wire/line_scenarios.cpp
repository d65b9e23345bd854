// SPDX-License-Identifier: Apache-2.0
// Who takes turns.
#include "bounded_wait.hpp"
#include "scenarios.hpp"
#include <corozk/recipe/election.hpp>
#include <corozk/recipe/leader_latch.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/multi_lock.hpp>
#include <corozk/recipe/priority_lock.hpp>
#include <corozk/recipe/semaphore.hpp>
#include <corozk/recipe/shared_lock.hpp>

#include <chrono>

namespace corozk::wire {

namespace {

using boost::asio::awaitable;
using namespace std::chrono_literals;

awaitable<void> locks(client& c, std::string folder) {
    lock l(c, folder);
    ownership first = co_await l.acquire_for(patience(2s));
    lock other(c, folder);
    auto [ec, second] = co_await other.try_acquire(as_tuple());
    co_await l.list_contenders();
    co_await first.release();
    ownership third = co_await other.acquire_for(patience(2s));
    co_await third.release();
}

awaitable<void> shared_locks(client& c, std::string folder) {
    shared_lock l(c, folder);
    ownership reader = co_await l.acquire_read_for(patience(2s));
    ownership other = co_await l.acquire_read_for(patience(2s));
    co_await reader.release();
    co_await other.release();
    ownership writer = co_await l.acquire_write_for(patience(2s));
    co_await l.list_contenders();
    co_await writer.release();
}

awaitable<void> priority_locks(client& c, std::string folder) {
    priority_lock l(c, folder);
    ownership held = co_await l.acquire_for(5, patience(2s));
    auto [ec, none] = co_await l.try_acquire(1, as_tuple());
    co_await l.list_contenders();
    co_await held.release();
}

awaitable<void> semaphores(client& c, std::string folder) {
    semaphore s(c, folder, 3);
    ownership two = co_await s.acquire_for(2, patience(2s));
    co_await s.count_available();
    ownership one = co_await s.acquire_for(1, patience(2s));
    co_await two.release();
    co_await one.release();
}

awaitable<void> multi_locks(client& c, std::string folder) {
    lock first(c, folder + "/a");
    shared_lock second(c, folder + "/b");
    multi_lock both(c);
    both.add(first).add_write(second);
    multi_ownership held = co_await both.acquire_for(patience(2s));
    transaction steps;
    steps.create(folder + "/result", "x").erase(folder + "/result");
    co_await held.commit(steps);
    co_await held.release();
}

awaitable<void> elections(client& c, std::string folder) {
    election e(c, folder);
    ownership term = co_await e.campaign_for(patience(2s));
    co_await e.acknowledge(term);
    co_await e.get_leader();
    co_await term.release();
}

awaitable<void> leader_latches(client& c, std::string folder) {
    leader_latch latch(c, folder);
    latch.start();
    co_await latch.wait_leadership_until(std::chrono::steady_clock::now() + patience(2s));
    co_await latch.acknowledge();
    co_await latch.resign();
    co_await latch.wait_leadership_until(std::chrono::steady_clock::now() + patience(2s));
    co_await latch.close();
}

}  // namespace

const std::vector<scenario>& line_scenarios() {
    static const std::vector<scenario> all = {
        {"lock", locks},
        {"shared_lock", shared_locks},
        {"priority_lock", priority_locks},
        {"semaphore", semaphores},
        {"multi_lock", multi_locks},
        {"election", elections},
        {"leader_latch", leader_latches},
    };
    return all;
}

}  // namespace corozk::wire
