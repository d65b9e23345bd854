// SPDX-License-Identifier: Apache-2.0
#include "certificates.hpp"
#include "command.hpp"
#include "contest_rows.hpp"
#include "contest_run.hpp"
#include "our_recipes.hpp"
#include "raw_session.hpp"
#include "request_crowd.hpp"
#include "table.hpp"
#include "usage.hpp"
#include "watchdog.hpp"
#include <corozk/version.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>

namespace corozk::bench {

namespace {

using boost::asio::awaitable;
using namespace std::chrono_literals;

std::string node_of(const std::string& folder, std::size_t number) {
    return fmt::format("{}/{}", folder, number);
}

awaitable<void> create_node(client& c, const std::string& folder, std::size_t n) {
    create_options ephemeral;
    ephemeral.mode = create_mode::ephemeral;
    co_await c.create(node_of(folder, n), std::string(), ephemeral);
}
awaitable<void> look_at_node(client& c, const std::string& folder, std::size_t n) {
    co_await c.exists(node_of(folder, n));
}
awaitable<void> delete_node(client& c, const std::string& folder, std::size_t n) {
    co_await c.erase(node_of(folder, n));
}

/// The same as raw_loop::pipeline.
constexpr operation_kind in_pipeline[] = {
    {"create", create_node}, {"exists", look_at_node}, {"delete", delete_node}};

void add_connecting(result& r, const latencies& times, double bytes) {
    r.add("connect_us.p50", times.p50()).add("connect_us.p95", times.quantile(0.95));
    r.add("memory_per_session_bytes", bytes / static_cast<double>(times.size()));
}

awaitable<void> pipeline(
    job& j, client& c, const std::string& folder, std::size_t many, result* r) {
    double seconds = 0;
    double cpu = usage::process_cpu_seconds();
    for (const operation_kind& kind : in_pipeline) {
        request_crowd crowd(c, kind, folder, many);
        co_await crowd.run(j.wanted.in_flight, j.on.shown());
        seconds += static_cast<double>(many) / crowd.per_second();
    }
    cpu = usage::process_cpu_seconds() - cpu;
    auto count = static_cast<double>(many * std::size(in_pipeline));
    if (r) {
        r->add("pipelined.client_cpu_us_per_request", cpu * 1e6 / count);
        r->add("pipelined.requests_per_s", count / seconds);
    }
}

/// Each waiter holds it for no time.
awaitable<double> measure_handover(job& j,
                                   const client_options& options,
                                   std::size_t waiters,
                                   std::size_t sessions) {
    contest_setup setup("ours", waiters);
    setup.sessions = sessions;
    auto clients = co_await j.on.connect(sessions, options);
    result contest;
    {
        contest_run<our_lock> crowd(j.on, setup, clients);
        co_await crowd.run(contest);
    }
    co_await stage::close(clients);
    co_return contest.median("handover_us.p50");
}

awaitable<void> measure_locks(job& j, const client_options& options, result& r) {
    auto clients = co_await j.on.connect(1, options);
    latencies cycles;
    {
        lock free(clients.front(), j.on.fresh_path("network"));
        for (std::size_t i = 0; i < j.wanted.operations; ++i) {
            j.on.shown().update("acquire + release", i, j.wanted.operations);
            auto began = clock::now();
            ownership held = co_await free.acquire();
            co_await held.release();
            cycles.add(to_microseconds(clock::now() - began));
        }
    }
    co_await stage::close(clients);
    r.add("acquire_release_us.p50", cycles.p50());
    const std::size_t waiters = j.wanted.sessions;
    double in_one = co_await measure_handover(j, options, waiters, 1);
    double between = co_await measure_handover(j, options, waiters, waiters);
    r.add("handover_us.p50", in_one).add("handover_between_sessions_us.p50", between);
}

awaitable<void> measure_client(job& j, const client_options& options, result& r) {
    client c = co_await client::connect(options);
    std::string folder = j.on.fresh_path("network");
    co_await c.ensure_path(folder);
    std::size_t many = j.wanted.operations * pipelined_factor;
    // The server's Java compiles what this way takes.
    co_await pipeline(j, c, folder, many / 4, nullptr);

    latencies cycles;
    double cpu = usage::process_cpu_seconds();
    for (std::size_t i = 0; i < j.wanted.operations; ++i) {
        j.on.shown().update("create + delete", i, j.wanted.operations);
        auto began = clock::now();
        co_await create_node(c, folder, 0);
        co_await delete_node(c, folder, 0);
        cycles.add(to_microseconds(clock::now() - began));
    }
    cpu = usage::process_cpu_seconds() - cpu;
    r.add("create_delete_us.p50", cycles.p50());
    r.add("client_cpu_us_per_request", cpu * 1e6 / static_cast<double>(2 * cycles.size()));
    co_await pipeline(j, c, folder, many, &r);

    latencies connecting;
    std::vector<client> clients;
    clients.reserve(j.wanted.sessions + 1);
    double before = usage::heap_bytes();
    for (std::size_t i = 0; i < j.wanted.sessions; ++i) {
        j.on.shown().update("connecting sessions", i, j.wanted.sessions);
        auto began = clock::now();
        clients.push_back(co_await client::connect(options));
        connecting.add(to_microseconds(clock::now() - began));
    }
    add_connecting(r, connecting, usage::heap_bytes() - before);
    clients.push_back(std::move(c));
    co_await stage::close(clients);
    co_await measure_locks(j, options, r);
}

/// Blocks, as raw_loop does.
void measure_bare(job& j, result& r) {
    auto loop = j.on.raw();
    std::size_t many = j.wanted.operations * pipelined_factor;
    auto cycles = loop->create_and_erase(j.wanted.operations);
    r.add("create_delete_us.p50", cycles.times.p50());
    r.add("client_cpu_us_per_request", cycles.cpu_us_per_request);
    auto rates = loop->pipeline(many, j.wanted.in_flight);
    r.add("pipelined.client_cpu_us_per_request", rates.cpu_us_per_request);
    double seconds = 1 / rates.create_per_s + 1 / rates.exists_per_s + 1 / rates.erase_per_s;
    r.add("pipelined.requests_per_s", 3 / seconds);
    loop.reset();

    latencies connecting;
    std::vector<std::unique_ptr<raw_session>> sessions;
    sessions.reserve(j.wanted.sessions);
    double before = usage::heap_bytes();
    for (std::size_t i = 0; i < j.wanted.sessions; ++i) {
        auto began = clock::now();
        sessions.push_back(std::make_unique<raw_session>(
            j.on.hosts(), static_cast<int>(j.wanted.session_timeout.count())));
        raw_session* one = sessions.back().get();
        while (!one->connected) {
            step({&one, 1});
            if (clock::now() - began > 10s)
                throw std::runtime_error("the bare C client does not connect");
        }
        connecting.add(to_microseconds(clock::now() - began));
    }
    add_connecting(r, connecting, usage::heap_bytes() - before);
    sessions.clear();
    stage::add_floor(r, j.on.floor(floor_samples));
}

/// The event loop while sessions connect, one after the other.
awaitable<void> measure_turns(job& j, const client_options& options, result& r) {
    constexpr int sessions = 20;
    watchdog dog(co_await boost::asio::this_coro::executor);
    double longest = 0;
    for (int i = 0; i < sessions; ++i) {
        j.on.shown().update("turns while connecting", static_cast<std::size_t>(i), sessions);
        dog.take();
        client c = co_await client::connect(options);
        longest = std::max(longest, dog.take().own_ms);
        co_await c.close();
    }
    r.add("connecting.max_stall_ms", longest);
}

/// A server that takes connections and says nothing.
awaitable<void> measure_silence(job& j, result& r) {
    using boost::asio::ip::tcp;
    boost::asio::io_context nobody;
    tcp::acceptor silent(nobody, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
    auto executor = co_await boost::asio::this_coro::executor;
    client_options options(fmt::format("127.0.0.1:{}", silent.local_endpoint().port()));
    options.tls = testing::made().trusting("ca.pem");
    options.connect_timeout = 5s;
    options.logger.level = log_level::off;
    j.on.shown().update("a server that says nothing");
    watchdog dog(executor);
    boost::asio::steady_timer timer(executor, options.connect_timeout);
    co_await timer.async_wait(boost::asio::use_awaitable);
    r.add("noise_ms", dog.take().own_ms);
    client c(executor, options);
    auto [ec] = co_await c.connect(boost::asio::as_tuple(boost::asio::use_awaitable));
    auto gap = dog.take();
    if (!ec)
        throw std::logic_error("a server that says nothing was connected to");
    r.add("max_stall_ms", gap.own_ms);
    r.add("max_stall_seen_ms", gap.seen_ms);
}

std::vector<std::string> line_of_network(const char* title, const result& r) {
    auto cpu = [](double us) { return fmt::format("{:.1f} us", us); };
    return {title,
            with_spread(r, "create_delete_us.p50", microseconds_text),
            with_spread(r, "client_cpu_us_per_request", +cpu),
            with_spread(r, "pipelined.client_cpu_us_per_request", +cpu),
            with_spread(r, "pipelined.requests_per_s", count_text),
            bytes_text(r.median("memory_per_session_bytes")),
            with_spread(r, "connect_us.p50", microseconds_text),
            microseconds_text(r.median("connect_us.p95"))};
}

/// Of the bare C client: create + delete, and a delete until another session's event.
std::vector<std::string> line_of_locks(const char* title, const result& r) {
    bool bare = r.text("implementation") == "c_client";
    auto shown = [&r](const char* key) { return with_spread(r, key, microseconds_text); };
    return {title,
            shown(bare ? "create_delete_us.p50" : "acquire_release_us.p50"),
            bare ? "" : shown("handover_us.p50"),
            shown(bare ? "floor_us.p50" : "handover_between_sessions_us.p50")};
}

}  // namespace

boost::asio::awaitable<void> run_network(job& j) {
    result bare;
    result plain;
    result secure;
    result trusting;  ///< the authorities of this machine as well
    result silence;
    bare.set("implementation", "c_client").set("transport", "tcp");
    plain.set("implementation", "ours").set("transport", "tcp");
    secure.set("implementation", "ours").set("transport", "tls");
    trusting.set("implementation", "ours").set("transport", "tls_system_authorities");
    silence.set("implementation", "ours").set("server", "silent");
    for (result* r : {&bare, &plain, &secure}) {
        r->set("sessions", j.wanted.sessions).set("processes", 1).set("threads", 1);
        r->set("in_flight", j.wanted.in_flight).set("repeat", j.wanted.repeat);
    }
    std::optional<client_options> by_tls = j.on.secure_options();
    client_options by_tcp = j.on.options();
    for (std::size_t i = 0; i < j.wanted.repeat; ++i) {
        measure_bare(j, bare);
        co_await measure_client(j, by_tcp, plain);
        co_await measure_turns(j, by_tcp, plain);
        if (by_tls) {
            co_await measure_client(j, *by_tls, secure);
            co_await measure_turns(j, *by_tls, secure);
            client_options all_authorities = *by_tls;
            all_authorities.tls->system_authorities = true;
            co_await measure_turns(j, all_authorities, trusting);
        }
        if (has_tls())
            co_await measure_silence(j, silence);
    }
    table t({"",
             "create + delete p50",
             "CPU/request",
             "pipelined CPU/request",
             "requests/s",
             "memory/session",
             "connect p50",
             "p95"});
    table locks({"",
                 "acquire + release p50",
                 fmt::format("hand-over p50: {} waiters of a session", j.wanted.sessions),
                 "with a session each"});
    auto add = [&](const char* title, const result& r) {
        t.add(line_of_network(title, r));
        locks.add(line_of_locks(title, r));
    };
    add("bare C client, TCP", bare);
    add("corozk, TCP", plain);
    auto turn = [](const result& r) {
        return fmt::format("{:.2f} ms", r.most("connecting.max_stall_ms"));
    };
    std::string turns = "over TCP " + turn(plain);
    j.results = {std::move(bare), std::move(plain)};
    if (by_tls) {
        add("corozk, TLS", secure);
        turns += fmt::format(", over TLS {}, with the system's authorities as well {}",
                             turn(secure),
                             turn(trusting));
        j.results.push_back(std::move(secure));
        j.results.push_back(std::move(trusting));
    }
    j.output = heading(j) + "\n" + t.str() + "\n" + locks.str();
    j.output +=
        "\nof the bare C client: create + delete, and from a delete to another session's event\n";
    j.output += fmt::format(
        "\nThe longest iteration of the event loop while a session connects: {}\n", turns);
    if (!by_tls)
        j.output +=
            "\nTLS was not measured: it needs a server started by the benchmark, and a "
            "build with TLS.\n";
    if (has_tls()) {
        j.output += fmt::format(
            "\nThe longest iteration of the event loop with a server that accepts a TLS connection "
            "and sends nothing: {:.2f} ms (an idle loop: {:.2f} ms)\n",
            silence.most("max_stall_ms"),
            silence.most("noise_ms"));
        j.results.push_back(std::move(silence));
    }
}

}  // namespace corozk::bench
