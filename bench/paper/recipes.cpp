// SPDX-License-Identifier: Apache-2.0
#include "compare/comparison_run.hpp"
#include "compare/contender.hpp"
#include "help.hpp"
#include "paper/experiments.hpp"
#include "paper/growth_table.hpp"

#include <fmt/format.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace corozk::bench {

namespace {

/// Distler et al., EuroSys 2015, abstract: what an extension of the server makes of the queue of
/// Curator's kind. There is no such number for the others in the text that was checked.
constexpr double published_queue_ratio = 17;

constexpr std::size_t rounds_of_barrier = 5;

std::unique_ptr<comparison> make_comparison(const std::string& experiment,
                                            std::size_t clients,
                                            std::size_t operations) {
    if (experiment == "counter")
        return compare_counter(clients, true, operations);
    if (experiment == "queue")
        return compare_queue_passes(clients, operations);
    if (experiment == "barrier")
        return compare_barrier(clients, clients);
    return compare_turns("election", clients, operations, "handover_us");
}

/// The peers have their own; and the server's Java compiles what it is asked for.
boost::asio::awaitable<void> warm_up(job& j, comparison& c) {
    std::vector<result> unused(c.parts().size());
    co_await c.ours(j, unused);
}

}  // namespace

boost::asio::awaitable<std::string> play_recipes(job& j, std::span<const std::string> names) {
    std::string missing;
    auto peers = find_contenders(j, missing);
    auto observers = co_await j.on.connect(1);
    growth_table table;
    for (const auto& name : names) {
        for (std::size_t clients : j.wanted.clients) {
            auto c = make_comparison(name, clients, j.wanted.operations);
            if (clients == j.wanted.clients.front())
                co_await warm_up(j, *c);
            // A barrier is entered once each time.
            std::size_t repeat = j.wanted.repeat * (name == "barrier" ? rounds_of_barrier : 1);
            comparison_run run(j, observers.front(), *c, peers, repeat);
            co_await run.run();
            for (std::size_t i = 0; i < run.parts().size(); ++i)
                table.add(run.parts()[i], clients, i, run.entries());
            for (compared& e : run.entries()) {
                for (result& row : e.rows) {
                    row.set("workload", "paper_recipes").set("experiment", name);
                    if (name == "queue" && e.implementation == "curator" && e.failure.empty())
                        row.add("published_ratio", published_queue_ratio);
                    j.results.push_back(std::move(row));
                }
            }
        }
    }
    note_versions(j, peers);
    co_await stage::close(observers);
    std::string text = table.str();
    for (const auto& name : names) {
        if (name == "queue")
            text += fmt::format(
                "queue: published: an extension of the server is {:.0f} x as quick as the recipe\n",
                published_queue_ratio);
    }
    if (!missing.empty())
        text += "missing:\n" + missing;
    co_return text + "\n" +
        wrapped(
            "counter: each adds 1 repeatedly; queue: each puts an item and takes one; barrier: "
            "until all are inside, and out again; election: from the end of a term to the next "
            "one's beginning, where each leads, resigns and stands again. Each client has a "
            "session of its own, and of the peers a thread") +
        wrapped(
            "bare C loop: conditional sets; creates and deletes, as many in flight as there are "
            "clients; a delete in one session -> the event in another") +
        wrapped(
            "of the fewest clients': how many times as much as with them, of rates as of times");
}

}  // namespace corozk::bench
