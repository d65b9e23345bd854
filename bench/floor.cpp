// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"
#include "command.hpp"
#include "contest_rows.hpp"
#include "ring.hpp"
#include "table.hpp"

#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

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
        co_await b.sync(folder);
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
}

/// Listing a folder with so many names.
struct listing_floor {
    std::size_t names = 0;
    std::string folder;

    std::string key() const { return fmt::format("list_{}_us", names); }
};

constexpr std::size_t listing_samples = 100;
constexpr std::size_t listings_before =
    20;  ///< not measured: the server has not seen such a folder

std::vector<listing_floor> make_folders(job& j) {
    std::vector<listing_floor> all;
    auto loop = j.on.raw();
    for (std::size_t names : j.wanted.nodes) {
        listing_floor one;
        one.names = names;
        one.folder = j.on.fresh_path("list");
        loop->make(one.folder);
        loop->fill(one.folder, "12345678-1234-1234-1234-123456789abc-lock-", names);
        loop->listings(one.folder, listings_before);
        all.push_back(std::move(one));
    }
    return all;
}

/// The two take turns.
boost::asio::awaitable<void> measure_listings(job& j,
                                              const std::vector<listing_floor>& all,
                                              result& raw,
                                              result& ours) {
    auto clients = co_await j.on.connect(1);
    auto loop = j.on.raw();
    for (const listing_floor& one : all) {
        latencies bare;
        latencies mine;
        for (std::size_t i = 0; i < listing_samples; ++i) {
            j.on.shown().update("measuring listings", i, listing_samples);
            bare.add(loop->listings(one.folder, 1));
            auto began = clock::now();
            auto children = co_await clients.front().get_children(one.folder);
            mine.add(to_microseconds(clock::now() - began));
            if (children.names.size() != one.names)
                throw std::logic_error("a listing is not complete");
        }
        raw.add(one.key() + ".p50", bare.p50()).add(one.key() + ".p99", bare.p99());
        ours.add(one.key() + ".p50", mine.p50()).add(one.key() + ".p99", mine.p99());
    }
    co_await stage::close(clients);
}

/// One line of the table; whatever only the bare client was measured for has no figures of ours.
std::vector<std::string> line_of(std::string title,
                                 const std::string& key,
                                 const result& raw,
                                 const result& ours) {
    std::string p50 = key + ".p50";
    std::string p99 = key + ".p99";
    std::vector<std::string> line{std::move(title),
                                  with_spread(raw, p50, microseconds_text),
                                  microseconds_text(raw.median(p99))};
    if (ours.has(p50)) {
        line.push_back(with_spread(ours, p50, microseconds_text));
        line.push_back(microseconds_text(ours.median(p99)));
        line.push_back(ratio_text(ours.median(p50) / raw.median(p50)));
    }
    return line;
}

}  // namespace

boost::asio::awaitable<void> run_floor(job& j) {
    if (j.wanted.sessions < 2)
        throw usage_error("--sessions: a token is passed between at least two sessions");
    std::vector<listing_floor> listings = make_folders(j);
    result raw;
    result ours;
    raw.set("implementation", "c_client");
    ours.set("implementation", "ours");
    for (result* r : {&raw, &ours}) {
        r->set("sessions", 2).set("processes", 1).set("threads", 1).set("repeat", j.wanted.repeat);
        r->set("operations", j.wanted.operations).set("listings", listing_samples);
    }
    for (std::size_t i = 0; i < j.wanted.repeat; ++i) {
        auto floor = j.on.floor(j.wanted.operations);
        add_figures(raw, floor);
        add_figures(ours, co_await measure_clients(j));
        for (result* r : {&raw, &ours})
            stage::add_floor(*r, floor, "delete_to_event_us.p50");
        co_await measure_listings(j, listings, raw, ours);
    }
    table t({"", "C client p50", "p99", "corozk p50", "p99", "ratio of p50"});
    for (const line& l : lines)
        t.add(line_of(l.title, fmt::format("{}_us", l.key), raw, ours));
    for (const listing_floor& one : listings) {
        t.add(line_of(
            fmt::format("list {} names of 52 bytes", count_text(static_cast<double>(one.names))),
            one.key(),
            raw,
            ours));
    }
    std::vector<result> ring = co_await measure_ring(j);
    j.output = heading(j) + "\n" + t.str() + "\n" + ring_table(ring);
    j.output += fmt::format(
        "\n{} of each, {} listings; nodes are empty, and ephemeral where they are not listed\n",
        count_text(static_cast<double>(j.wanted.operations)),
        listing_samples);
    if (j.wanted.repeat > 1)
        j.output += "medians of repetitions, with (least .. most)\n";
    j.results.push_back(std::move(raw));
    j.results.push_back(std::move(ours));
    for (result& row : ring)
        j.results.push_back(std::move(row));
}

}  // namespace corozk::bench
