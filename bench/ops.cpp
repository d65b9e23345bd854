// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "contest_rows.hpp"
#include "request_crowd.hpp"
#include "table.hpp"
#include "usage.hpp"

#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <array>

namespace corozk::bench {

namespace {

std::string node(const std::string& folder, std::size_t number) {
    return fmt::format("{}/{}", folder, number);
}

boost::asio::awaitable<void> create_one(client& c, const std::string& folder, std::size_t n) {
    create_options ephemeral;
    ephemeral.mode = create_mode::ephemeral;
    co_await c.create(node(folder, n), std::string(), ephemeral);
}
boost::asio::awaitable<void> exists_one(client& c, const std::string& folder, std::size_t n) {
    co_await c.exists(node(folder, n));
}
boost::asio::awaitable<void> set_one(client& c, const std::string& folder, std::size_t n) {
    co_await c.set(node(folder, n), "12345678");
}
boost::asio::awaitable<void> get_one(client& c, const std::string& folder, std::size_t n) {
    co_await c.get(node(folder, n));
}
boost::asio::awaitable<void> list_one(client& c, const std::string& folder, std::size_t n) {
    co_await c.get_children(node(folder, n));
}
boost::asio::awaitable<void> delete_one(client& c, const std::string& folder, std::size_t n) {
    co_await c.erase(node(folder, n));
}

/// In this order each finds what it needs, and nothing is left.
constexpr std::array request_kinds{
    operation_kind{"create", create_one},
    operation_kind{"exists", exists_one},
    operation_kind{"set", set_one},
    operation_kind{"get", get_one},
    operation_kind{"list (empty)", list_one},
    operation_kind{"delete", delete_one},
};

double cpu_per_request(double before, std::size_t count) {
    return (usage::process_cpu_seconds() - before) * 1e6 / static_cast<double>(count);
}

boost::asio::awaitable<void> measure(job& j,
                                     client& c,
                                     std::vector<result>& one_by_one,
                                     std::vector<result>& pipelined) {
    std::string folder = j.on.fresh_path("ops");
    co_await c.ensure_path(folder);
    std::size_t many = j.wanted.operations * pipelined_factor;
    for (std::size_t k = 0; k < request_kinds.size(); ++k) {
        latencies all;
        double cpu = usage::process_cpu_seconds();
        for (std::size_t i = 0; i < j.wanted.operations; ++i) {
            auto began = clock::now();
            co_await request_kinds[k].run(c, folder, i);
            all.add(to_microseconds(clock::now() - began));
            j.on.shown().update(
                fmt::format("{}, one by one", request_kinds[k].name), i, j.wanted.operations);
        }
        one_by_one[k].add("latency_us.p50", all.p50()).add("latency_us.p99", all.p99());
        one_by_one[k].add("ops_per_s", 1e6 / all.mean());
        one_by_one[k].add("client_cpu_us_per_request", cpu_per_request(cpu, all.size()));
    }
    for (std::size_t k = 0; k < request_kinds.size(); ++k) {
        request_crowd crowd_of_kind(c, request_kinds[k], folder, many);
        double cpu = usage::process_cpu_seconds();
        co_await crowd_of_kind.run(j.wanted.in_flight, j.on.shown());
        pipelined[k].add("client_cpu_us_per_request", cpu_per_request(cpu, many));
        pipelined[k].add("ops_per_s", crowd_of_kind.per_second());
    }
}

/// The figure of the C client that belongs to a kind; 0 where there is none.
double bare_latency(const raw_loop::samples& s, std::string_view name) {
    if (name == "create")
        return s.create.p50();
    if (name == "exists")
        return s.exists.p50();
    if (name == "delete")
        return s.erase.p50();
    return 0;
}

double bare_throughput(const raw_loop::throughput& t, std::string_view name) {
    if (name == "create")
        return t.create_per_s;
    if (name == "exists")
        return t.exists_per_s;
    if (name == "delete")
        return t.erase_per_s;
    return 0;
}

}  // namespace

boost::asio::awaitable<void> run_ops(job& j) {
    std::vector<result> one_by_one(request_kinds.size());
    std::vector<result> pipelined(request_kinds.size());
    for (std::size_t k = 0; k < request_kinds.size(); ++k) {
        one_by_one[k].set("implementation", "ours").set("operation", request_kinds[k].name);
        pipelined[k].set("implementation", "ours").set("operation", request_kinds[k].name);
        one_by_one[k].set("in_flight", 1);
        pipelined[k].set("in_flight", j.wanted.in_flight);
        for (result* r : {&one_by_one[k], &pipelined[k]}) {
            r->set("sessions", 1)
                .set("processes", 1)
                .set("threads", 1)
                .set("repeat", j.wanted.repeat);
        }
    }
    result bare_cpu;
    for (std::size_t i = 0; i < j.wanted.repeat; ++i) {
        auto floor = j.on.floor(floor_samples);
        auto bare =
            j.on.raw()->pipeline(j.wanted.operations * pipelined_factor, j.wanted.in_flight);
        bare_cpu.add("us", bare.cpu_us_per_request);
        auto clients = co_await j.on.connect(1);
        co_await measure(j, clients.front(), one_by_one, pipelined);
        co_await stage::close(clients);
        for (std::size_t k = 0; k < request_kinds.size(); ++k) {
            result& slow = one_by_one[k];
            result& fast = pipelined[k];
            stage::add_floor(slow, floor);
            stage::add_floor(fast, floor);
            if (double least = bare_latency(floor, request_kinds[k].name); least > 0) {
                slow.add("ratio_to_c_client", slow.last("latency_us.p50") / least);
            }
            if (double most = bare_throughput(bare, request_kinds[k].name); most > 0) {
                fast.add("c_client_ops_per_s", most);
                fast.add("ratio_to_c_client", fast.last("ops_per_s") / most);
            }
        }
    }
    table t({"",
             "one by one p50",
             "p99",
             "/ C client",
             "CPU/request",
             "pipelined ops/s",
             "/ C client",
             "CPU/request"});
    for (std::size_t k = 0; k < request_kinds.size(); ++k) {
        const result& slow = one_by_one[k];
        const result& fast = pipelined[k];
        auto ratio = [](const result& r) {
            return r.has("ratio_to_c_client") ? ratio_text(r.median("ratio_to_c_client")) : "";
        };
        auto cpu = [](const result& r) {
            return fmt::format("{:.1f} us", r.median("client_cpu_us_per_request"));
        };
        t.add({request_kinds[k].name,
               with_spread(slow, "latency_us.p50", microseconds_text),
               microseconds_text(slow.median("latency_us.p99")),
               ratio(slow),
               cpu(slow),
               with_spread(fast, "ops_per_s", count_text),
               ratio(fast),
               cpu(fast)});
    }
    j.output = heading(j) + "\n" + t.str();
    j.output += fmt::format("\nThe bare C client needed {:.1f} us of CPU per pipelined request.\n",
                            bare_cpu.median("us"));
    for (auto* rows : {&one_by_one, &pipelined}) {
        for (auto& r : *rows)
            j.results.push_back(std::move(r));
    }
}

}  // namespace corozk::bench
