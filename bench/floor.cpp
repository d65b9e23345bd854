// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "contest_rows.hpp"
#include "table.hpp"

#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

namespace corozk::bench {

namespace {

/// The same as raw_loop::measure, through corozk's client.
boost::asio::awaitable<raw_loop::samples> measure_clients(job& j) {
    auto clients = co_await j.on.connect(2);
    client& a = clients[0];
    client& b = clients[1];
    std::string folder = j.on.fresh_path("floor");
    co_await a.ensure_path(folder);
    std::string node = folder + "/0";
    create_options ephemeral;
    ephemeral.mode = create_mode::ephemeral;
    raw_loop::samples all;
    for (std::size_t i = 0; i < j.wanted.operations; ++i) {
        j.on.shown().update("measuring through the client", i, j.wanted.operations);
        auto began = clock::now();
        co_await a.create(node, std::string(), ephemeral);
        all.create.add(to_microseconds(clock::now() - began));
        began = clock::now();
        co_await a.exists(node);
        all.exists.add(to_microseconds(clock::now() - began));
        began = clock::now();
        co_await a.erase(node);
        all.erase.add(to_microseconds(clock::now() - began));

        began = clock::now();
        co_await a.create(node, std::string(), ephemeral);
        co_await a.erase(node);
        all.create_and_erase.add(to_microseconds(clock::now() - began));

        co_await a.create(node, std::string(), ephemeral);
        auto seen = co_await b.watch_exists(node);
        began = clock::now();
        a.erase(node, any_version, [](error_code) {});
        co_await seen.changed.next();
        all.handover.add(to_microseconds(clock::now() - began));
        co_await a.sync(folder);
    }
    co_await stage::close(clients);
    co_return all;
}

struct line {
    const char* title;
    const char* key;
    latencies raw_loop::samples::*member;
};

constexpr line lines[] = {
    {"create", "create", &raw_loop::samples::create},
    {"exists", "exists", &raw_loop::samples::exists},
    {"delete", "delete", &raw_loop::samples::erase},
    {"create + delete", "create_delete", &raw_loop::samples::create_and_erase},
    {"delete -> watch event elsewhere", "delete_to_event", &raw_loop::samples::handover},
    {"the same, back to back", "delete_to_event_in_row", &raw_loop::samples::handover_in_row},
};

void add_figures(result& r, const raw_loop::samples& s) {
    for (const line& l : lines) {
        const latencies& v = s.*l.member;
        if (v.empty())
            continue;
        r.add(fmt::format("{}_us.p50", l.key), v.p50());
        r.add(fmt::format("{}_us.p99", l.key), v.p99());
    }
    stage::add_floor(r, s);
}

/// Listing a folder with so many names.
struct listing_floor {
    std::size_t names = 0;
    latencies raw;
    latencies ours;
};

constexpr std::size_t listing_samples = 100;

boost::asio::awaitable<std::vector<listing_floor>> measure_listings(job& j) {
    std::vector<listing_floor> all;
    auto clients = co_await j.on.connect(1);
    for (std::size_t names : j.wanted.nodes) {
        j.on.shown().update("measuring listings");
        listing_floor one;
        one.names = names;
        std::string folder = j.on.fresh_path("list");
        auto loop = j.on.raw();
        loop->make(folder);
        loop->fill(folder, "12345678-1234-1234-1234-123456789abc-lock-", names);
        one.raw = loop->listings(folder, listing_samples);
        for (std::size_t i = 0; i < listing_samples; ++i) {
            auto began = clock::now();
            auto children = co_await clients.front().children(folder);
            one.ours.add(to_microseconds(clock::now() - began));
        }
        all.push_back(std::move(one));
    }
    co_await stage::close(clients);
    co_return all;
}

void add_listings(table& t, result& raw, result& ours, const std::vector<listing_floor>& all) {
    for (const auto& one : all) {
        std::string key = fmt::format("list_{}_us", one.names);
        raw.add(key + ".p50", one.raw.p50()).add(key + ".p99", one.raw.p99());
        ours.add(key + ".p50", one.ours.p50()).add(key + ".p99", one.ours.p99());
        t.add({fmt::format("list {} names of 52 bytes", count_text(static_cast<double>(one.names))),
               microseconds_text(one.raw.p50()),
               microseconds_text(one.raw.p99()),
               microseconds_text(one.ours.p50()),
               microseconds_text(one.ours.p99()),
               ratio_text(one.ours.p50() / one.raw.p50())});
    }
}

}  // namespace

boost::asio::awaitable<void> run_floor(job& j) {
    std::vector<listing_floor> listings = co_await measure_listings(j);
    result raw;
    result ours;
    raw.set("implementation", "c_client");
    ours.set("implementation", "ours");
    for (result* r : {&raw, &ours}) {
        r->set("sessions", 2).set("processes", 1).set("threads", 1).set("repeat", j.wanted.repeat);
    }
    for (std::size_t i = 0; i < j.wanted.repeat; ++i) {
        add_figures(raw, j.on.floor(j.wanted.operations));
        add_figures(ours, co_await measure_clients(j));
    }
    table t({"", "C client p50", "p99", "corozk p50", "p99", "ratio of p50"});
    for (const line& l : lines) {
        std::string p50 = fmt::format("{}_us.p50", l.key);
        std::string p99 = fmt::format("{}_us.p99", l.key);
        std::vector<std::string> row{
            l.title, with_spread(raw, p50, microseconds_text), microseconds_text(raw.median(p99))};
        if (ours.has(p50)) {
            row.push_back(with_spread(ours, p50, microseconds_text));
            row.push_back(microseconds_text(ours.median(p99)));
            row.push_back(ratio_text(ours.median(p50) / raw.median(p50)));
        }
        t.add(std::move(row));
    }
    add_listings(t, raw, ours, listings);
    j.output = heading(j) + "\n" + t.str();
    j.output += fmt::format("\n{} of each; nodes are ephemeral and empty\n",
                            count_text(static_cast<double>(j.wanted.operations)));
    j.results.push_back(std::move(raw));
    j.results.push_back(std::move(ours));
}

}  // namespace corozk::bench
