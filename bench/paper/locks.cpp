// SPDX-License-Identifier: Apache-2.0
#include "compare/comparison_run.hpp"
#include "compare/contender.hpp"
#include "help.hpp"
#include "paper/experiments.hpp"
#include "paper/growth_table.hpp"
#include "systems/measure.hpp"
#include "systems/system_servers.hpp"

#include <chrono>
#include <deque>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace corozk::bench {

namespace {

/// Nothing may expire while it is measured.
constexpr auto client_timeout = std::chrono::milliseconds(40'000);

/// The locks of another system, in the shape of a comparison's.
boost::asio::awaitable<compared> measure_system(job& j,
                                                const system_servers::running& system,
                                                std::size_t clients) {
    compared e;
    e.implementation = system.kind->name;
    e.title = system.title;
    result row;
    row.set("recipe", "lock").set("waiters", clients).set("sessions", clients);
    row.set("implementation", e.implementation).set("title", e.title);
    row.set("repeat", j.wanted.repeat);
    lock_wish wish;
    wish.system = e.implementation;
    wish.hosts = system.hosts;
    wish.timeout = client_timeout;
    try {
        for (std::size_t i = 0; i < j.wanted.repeat; ++i) {
            wish.name = j.on.fresh_path("locks");
            co_await measure_turns(j, wish, clients, j.wanted.operations, row);
        }
    } catch (const std::exception& problem) {
        e.failure = problem.what();
    }
    row.set("failure", e.failure);
    e.rows.push_back(std::move(row));
    co_return e;
}

}  // namespace

boost::asio::awaitable<std::string> play_locks(job& j) {
    std::string missing;
    auto peers = find_contenders(j, missing);
    system_servers servers(j);
    auto observers = co_await j.on.connect(1);
    growth_table table;
    for (std::size_t clients : j.wanted.clients) {
        auto c = compare_turns("lock", clients, j.wanted.operations, "acquire_us");
        if (clients == j.wanted.clients.front()) {  // the server's Java compiles what it is asked
            std::vector<result> unused(1);
            co_await c->ours(j, unused);
        }
        comparison_run run(j, observers.front(), *c, peers, j.wanted.repeat);
        co_await run.run();
        const comparison_part& part = run.parts().front();
        for (const auto& system : servers.all()) {
            if (system.kind->name == "corozk")
                continue;  // it has been measured
            compared e = co_await measure_system(j, system, clients);
            result& row = e.rows.front();
            double own = run.entries()[1].rows.front().median(part.key);
            if (e.failure.empty() && own > 0)
                row.add("times_corozk", row.median(part.key) / own);
            run.entries().push_back(std::move(e));
        }
        table.add(part, clients, 0, run.entries());
        for (compared& e : run.entries()) {
            e.rows.front().set("workload", "paper_locks").set("experiment", "locks");
            j.results.push_back(std::move(e.rows.front()));
        }
    }
    note_versions(j, peers);
    co_await stage::close(observers);
    missing += servers.remarks();
    if (!missing.empty())
        missing = "missing:\n" + missing;
    co_return table.str() + missing + "\n" +
        wrapped(
            "locks: how long each client waits for the lock, which it releases at once and "
            "requests again. Each has a session of its own. etcd is used through its JSON gateway; "
            "the first client to try gets Redis's lock, so that one client may get it repeatedly. "
            "Bare C loop: a delete in one session -> the event in another");
}

}  // namespace corozk::bench
