// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "contest_rows.hpp"
#include "measures.hpp"
#include "session_use.hpp"
#include "table.hpp"
#include "usage.hpp"
#include <corozk/recipe/lock.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace corozk::bench {

namespace {

constexpr std::size_t block = 50;

/// One way to do it, over all blocks of a repetition.
struct cycle_tally {
    latencies cycles;
    double cpu_seconds = 0;
    session_use used;
};

template <class Cycle>
boost::asio::awaitable<void> run_block(cycle_tally& t, std::vector<client>& clients, Cycle cycle) {
    auto before = use_of(clients);
    double cpu = usage::process_cpu_seconds();
    for (std::size_t i = 0; i < block; ++i) {
        auto began = clock::now();
        co_await cycle();
        t.cycles.add(to_microseconds(clock::now() - began));
    }
    t.cpu_seconds += usage::process_cpu_seconds() - cpu;
    t.used += use_of(clients) - before;
}

void add_figures(result& r, const cycle_tally& t) {
    r.add("cycle_us.p50", t.cycles.p50());
    r.add("cycle_us.p99", t.cycles.p99());
    r.add("cycle_us.mean", t.cycles.mean());
    r.add(t.cycles);
    r.add("ops_per_s", 1e6 / t.cycles.mean());
    if (t.used.requests > 0) {
        auto count = static_cast<double>(t.cycles.size());
        r.add("requests_per_cycle", t.used.requests / count);
        r.add("notifications_per_cycle", t.used.notifications / count);
        r.add("bytes_per_cycle", t.used.bytes / count);
        r.add("client_cpu_us_per_cycle", t.cpu_seconds * 1e6 / count);
        r.add("client_cpu_us_per_request", t.cpu_seconds * 1e6 / t.used.requests);
    }
}

void add_figures(result& r, const cycle_tally& t, const latencies& floor) {
    add_figures(r, t);
    r.add("floor_ratio", t.cycles.p50() / floor.p50());
}

}  // namespace

boost::asio::awaitable<void> measure_lock_cycles(job& j, std::size_t cycles, result& r) {
    auto clients = co_await j.on.connect(1);
    {
        lock l(clients.front(), j.on.fresh_path("uncontended"));
        auto acquire_and_release = [&l]() -> boost::asio::awaitable<void> {
            auto held = co_await l.acquire();
            co_await held.release();
        };
        co_await acquire_and_release();  // the folder is made
        cycle_tally all;
        for (std::size_t done = 0; done < cycles; done += block) {
            j.on.shown().update("uncontended lock", done, cycles);
            co_await run_block(all, clients, acquire_and_release);
        }
        add_figures(r, all);
    }
    co_await stage::close(clients);
}

boost::asio::awaitable<void> run_uncontended(job& j) {
    result raw;
    result plain;
    result locked;
    raw.set("implementation", "c_client_create_delete");
    plain.set("implementation", "client_create_delete");
    locked.set("implementation", "ours").set("recipe", "lock");
    for (result* r : {&raw, &plain, &locked}) {
        r->set("sessions", 1).set("processes", 1).set("threads", 1).set("repeat", j.wanted.repeat);
    }
    for (std::size_t repetition = 0; repetition < j.wanted.repeat; ++repetition) {
        auto clients = co_await j.on.connect(1);
        client& c = clients.front();
        std::string folder = j.on.fresh_path("uncontended");
        co_await c.ensure_path(folder);
        std::string node = folder + "/node";
        lock l(c, folder + "/lock");
        auto loop = j.on.raw();
        loop->on_progress = nullptr;
        auto create_and_erase = [&]() -> boost::asio::awaitable<void> {
            create_options ephemeral;
            ephemeral.mode = create_mode::ephemeral;
            co_await c.create(node, std::string(), ephemeral);
            co_await c.erase(node);
        };
        auto acquire_and_release = [&]() -> boost::asio::awaitable<void> {
            auto held = co_await l.acquire();
            co_await held.release();
        };
        latencies bare;
        cycle_tally plainly;
        cycle_tally locking;
        raw_loop::samples around;
        for (std::size_t done = 0; done < j.wanted.operations; done += block) {
            j.on.shown().update(
                "uncontended lock beside create + delete", done, j.wanted.operations);
            around.add(loop->measure(block));
            co_await run_block(plainly, clients, create_and_erase);
            co_await run_block(locking, clients, acquire_and_release);
        }
        bare = around.create_and_erase;
        cycle_tally bare_cycles;
        bare_cycles.cycles = bare;
        add_figures(raw, bare_cycles, bare);
        add_figures(plain, plainly, bare);
        add_figures(locked, locking, bare);
        locked.add("ratio_to_client", locking.cycles.p50() / plainly.cycles.p50());
        for (result* r : {&raw, &plain, &locked})
            stage::add_floor(*r, around);
        loop.reset();
        co_await stage::close(clients);
    }
    table t({"",
             "p50",
             "p99",
             "cycles/s",
             "requests",
             "p50 / C client",
             "p50 / client",
             "CPU/request"});
    auto add_row = [&t](const char* title, const result& r) {
        t.add({title,
               with_spread(r, "cycle_us.p50", microseconds_text),
               microseconds_text(r.median("cycle_us.p99")),
               count_text(r.median("ops_per_s")),
               r.has("requests_per_cycle") ? figure_text(r.median("requests_per_cycle")) : "2.00",
               with_spread(r, "floor_ratio", ratio_text),
               r.has("ratio_to_client") ? with_spread(r, "ratio_to_client", ratio_text) : "",
               r.has("client_cpu_us_per_request")
                   ? fmt::format("{:.1f} us", r.median("client_cpu_us_per_request"))
                   : ""});
    };
    add_row("create + delete, bare C client", raw);
    add_row("create + delete, corozk's client", plain);
    add_row("acquire + release, corozk's lock", locked);
    j.output = heading(j) + "\n" + t.str();
    std::size_t blocks = (j.wanted.operations + block - 1) / block;
    j.output += fmt::format("\n{} cycles of each, in turns of {}\n",
                            count_text(static_cast<double>(blocks * block)),
                            block);
    j.results.push_back(std::move(raw));
    j.results.push_back(std::move(plain));
    j.results.push_back(std::move(locked));
}

}  // namespace corozk::bench
