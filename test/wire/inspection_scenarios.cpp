// SPDX-License-Identifier: Apache-2.0
// Who looks at lines of any recipe, and works with other programs' nodes.
#include "bounded_wait.hpp"
#include "scenarios.hpp"
#include <corozk/recipe/contention_inspector.hpp>
#include <corozk/recipe/counter.hpp>
#include <corozk/recipe/deadlocks.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/queue.hpp>

#include <chrono>

namespace corozk::wire {

namespace {

using boost::asio::awaitable;
using namespace std::chrono_literals;

awaitable<void> contention_inspectors(client& c, std::string folder) {
    lock l(c, folder);
    ownership held = co_await l.acquire_for(patience(2s));
    contention_inspector line(c, folder);
    std::vector<contender_info> all = co_await line.list_contenders();
    if (!all.empty())
        co_await line.break_contender(all.front().path);
    co_await held.release(as_tuple());
}

awaitable<void> deadlocks(client& c, std::string folder) {
    std::vector<std::string> paths{folder + "/a", folder + "/b"};
    lock first(c, paths[0]);
    ownership held = co_await first.acquire_for(patience(2s));
    lock second(c, paths[0]);
    auto [ec, none] = co_await second.acquire_for(100ms, as_tuple());
    co_await find_deadlocks(c, paths);
    co_await held.release();
}

awaitable<void> others_names(client& c, std::string folder, compatibility whose) {
    lock_options of_lock;
    of_lock.compatibility = whose;
    lock l(c, folder + "/lock", of_lock);
    ownership held = co_await l.acquire_for(patience(2s));
    co_await l.list_contenders();
    co_await held.release();

    queue_options of_queue;
    of_queue.compatibility = whose;
    queue q(c, folder + "/queue", of_queue);
    auto deadline = std::chrono::steady_clock::now() + patience(2s);
    co_await q.put_until("a", deadline);
    co_await q.take_until(deadline);

    counter_options of_counter;
    of_counter.compatibility = whose;
    counter n(c, folder + "/counter", of_counter);
    co_await n.add(1);
    co_await n.get();
}

awaitable<void> curators_names(client& c, std::string folder) {
    co_await others_names(c, folder, compatibility::curator);
}

awaitable<void> kazoos_names(client& c, std::string folder) {
    co_await others_names(c, folder, compatibility::kazoo);
}

}  // namespace

const std::vector<scenario>& inspection_scenarios() {
    static const std::vector<scenario> all = {
        {"contention_inspector", contention_inspectors},
        {"deadlocks", deadlocks},
        {"names_of_curator", curators_names},
        {"names_of_kazoo", kazoos_names},
    };
    return all;
}

}  // namespace corozk::wire
