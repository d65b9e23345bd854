// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "contest_rows.hpp"
#include "measures.hpp"
#include "table.hpp"
#include "watchdog.hpp"
#include "work_figures.hpp"
#include <corozk/recipe/cache.hpp>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace corozk::bench {

namespace {

enum class cache_kind { node, children, tree };

constexpr const char* heading_of(cache_kind kind) {
    switch (kind) {
        case cache_kind::node: return "node cache";
        case cache_kind::children: return "children cache";
        case cache_kind::tree: break;
    }
    return "tree cache";
}

/// Short, as a server sends no list of names beyond 1 MB that others could read.
std::string child(std::size_t number) {
    return fmt::format("{:06}", number);
}

bool has(const node_state& state, const std::string&, const std::string& data) {
    return state.exists && state.data == data;
}

bool has(const tree_state& state, const std::string& key, const std::string& data) {
    if (!state.nodes)
        return false;
    auto at = state.nodes->find(key);
    return at != state.nodes->end() && at->second.data == data;
}

/// Waits for a state in which the node has the data.
template <class Cache>
boost::asio::awaitable<void> until_seen(Cache& cache, std::string key, std::string data) {
    for (auto state = cache.current(); !has(state, key, data);)
        state = co_await cache.next(state);
}

/// One session writes, another one has the cache.
template <class Cache>
class cache_run {
public:
    cache_run(job& j,
              Cache cache,
              cache_kind kind,
              client& writer,
              std::string folder,
              std::size_t nodes,
              std::size_t operations)
        : job_(j),
          cache_(std::move(cache)),
          kind_(kind),
          writer_(writer),
          folder_(std::move(folder)),
          nodes_(nodes),
          operations_(operations) {}

    boost::asio::awaitable<void> run(const std::vector<client>& readers, result& r) {
        std::string first = path(nodes_ - 1);
        co_await writer_.set(first, "first");
        co_await until_seen(cache_, key(first), "first");
        work_figures figures(readers);
        latencies all;
        for (std::size_t i = 0; i < operations_; ++i) {
            job_.on.shown().update(heading_of(kind_), i, operations_);
            std::string node = path(i % nodes_);
            std::string data = std::to_string(i);
            auto began = clock::now();
            writer_.set(node, data, any_version, [](error_code, stat) {});
            co_await until_seen(cache_, key(node), data);
            all.add(to_microseconds(clock::now() - began));
        }
        figures.add_to(r, static_cast<double>(operations_));
        r.add("latency_us.p50", all.p50()).add("latency_us.p99", all.p99());
        r.add(all);
    }

    /// Changes and the end, with a watchdog beside them.
    boost::asio::awaitable<void> watch(watchdog& dog, result& r) {
        auto state = co_await cache_.next();
        dog.take();
        for (std::size_t i = 0; i < watched_changes; ++i) {
            std::string node = path(i % nodes_);
            std::string data = "watched " + std::to_string(i);
            writer_.set(node, data, any_version, [](error_code, stat) {});
            co_await until_seen(cache_, key(node), data);
        }
        r.add("change_stall_ms", dog.take().own_ms);
        cache_ = Cache();
        co_await rest();
        r.add("end_stall_ms", dog.take().own_ms);
        state = decltype(state)();
        co_await rest();
        r.add("last_state_stall_ms", dog.take().own_ms);
    }

private:
    static constexpr std::size_t watched_changes = 20;

    static boost::asio::awaitable<void> rest() {
        boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
        timer.expires_after(std::chrono::milliseconds(300));
        co_await timer.async_wait(boost::asio::use_awaitable);
    }

    std::string path(std::size_t number) const {
        return kind_ == cache_kind::node ? folder_ : folder_ + '/' + child(number);
    }
    std::string key(const std::string& node) const {
        return kind_ == cache_kind::children ? node.substr(folder_.size() + 1) : node;
    }

    job& job_;
    Cache cache_;
    cache_kind kind_;
    client& writer_;
    std::string folder_;
    std::size_t nodes_;
    std::size_t operations_;
};

boost::asio::awaitable<std::string> make_folder(job& j, client& writer, std::size_t nodes) {
    std::string folder = j.on.fresh_path("cache");
    co_await writer.ensure_path(folder);
    constexpr std::size_t at_once = 500;
    for (std::size_t i = 0; i < nodes;) {
        j.on.shown().update("making nodes to be cached", i, nodes);
        transaction steps;
        for (std::size_t end = std::min(i + at_once, nodes); i < end; ++i)
            steps.create(folder + '/' + child(i), std::string());
        co_await writer.commit(std::move(steps));
    }
    co_return folder;
}

/// Without the floor.
template <class Cache>
boost::asio::awaitable<void> follow(
    job& j, cache_kind kind, std::size_t nodes, std::size_t operations, result& r) {
    auto writers = co_await j.on.connect(1);
    auto readers = co_await j.on.connect(1);
    client& writer = writers.front();
    bool one = kind == cache_kind::node;
    auto inside = one ? 0 : nodes;
    std::string folder = co_await make_folder(j, writer, inside);
    {
        auto began = clock::now();
        work_figures loading(readers);
        Cache cache(readers.front(), folder);
        co_await cache.next();
        r.add("load_ms", to_microseconds(clock::now() - began) / 1'000);
        r.add("load_requests", static_cast<double>(loading.used().requests));
        cache_run<Cache> run(j, std::move(cache), kind, writer, folder, nodes, operations);
        co_await run.run(readers, r);
    }
    if (!one) {
        watchdog dog(co_await boost::asio::this_coro::executor);
        Cache cache(readers.front(), folder);
        co_await cache.next();
        r.add("load_stall_ms", dog.take().own_ms);
        cache_run<Cache> run(j, std::move(cache), kind, writer, folder, nodes, operations);
        co_await run.watch(dog, r);
    }
    co_await stage::close(readers);
    co_await stage::close(writers);
}

template <class Cache>
boost::asio::awaitable<void> measure(job& j, cache_kind kind, std::size_t nodes, result& r) {
    auto floor = j.on.floor(floor_samples);
    co_await follow<Cache>(j, kind, nodes, j.wanted.operations, r);
    floor.add(j.on.floor(floor_samples));
    stage::add_floor(r, floor, "latency_us.p50");
}

boost::asio::awaitable<void> measure_kind(job& j, cache_kind kind, std::size_t nodes, result& r) {
    if (kind == cache_kind::node)
        return measure<node_cache>(j, kind, nodes, r);
    if (kind == cache_kind::children)
        return measure<children_cache>(j, kind, nodes, r);
    return measure<tree_cache>(j, kind, nodes, r);
}

std::string stall_text(const result& r, const char* key) {
    return r.has(key) ? fmt::format("{:.1f} ms", r.median(key)) : std::string("-");
}

}  // namespace

boost::asio::awaitable<void> measure_node_cache(job& j, std::size_t operations, result& r) {
    return follow<node_cache>(j, cache_kind::node, 1, operations, r);
}

boost::asio::awaitable<void> run_cache(job& j) {
    std::vector<std::pair<cache_kind, std::size_t>> rows{{cache_kind::node, 1}};
    for (cache_kind kind : {cache_kind::children, cache_kind::tree}) {
        for (std::size_t nodes : j.wanted.nodes)
            rows.emplace_back(kind, nodes);
    }
    table t({"",
             "nodes",
             "set -> state p50",
             "p99",
             "p50 / floor",
             "load",
             "load requests",
             "requests",
             "events",
             "listings",
             "bytes",
             "CPU/change",
             "stall: load",
             "change",
             "end",
             "last state"});
    for (auto [kind, nodes] : rows) {
        result row;
        row.set("implementation", "ours").set("recipe", heading_of(kind)).set("nodes", nodes);
        row.set("sessions", 2).set("processes", 1).set("threads", 1).set("repeat", j.wanted.repeat);
        for (std::size_t i = 0; i < j.wanted.repeat; ++i)
            co_await measure_kind(j, kind, nodes, row);
        t.add({heading_of(kind),
               count_text(static_cast<double>(nodes)),
               with_spread(row, "latency_us.p50", microseconds_text),
               microseconds_text(row.median("latency_us.p99")),
               with_spread(row, "floor_ratio", ratio_text),
               fmt::format("{:.0f} ms", row.median("load_ms")),
               count_text(row.median("load_requests")),
               figure_text(row.median("requests_per_operation")),
               figure_text(row.median("notifications_per_operation")),
               count_text(row.median("listings")),
               bytes_text(row.median("bytes_per_operation")),
               fmt::format("{:.1f} us", row.median("client_cpu_us_per_operation")),
               stall_text(row, "load_stall_ms"),
               stall_text(row, "change_stall_ms"),
               stall_text(row, "end_stall_ms"),
               stall_text(row, "last_state_stall_ms")});
        j.results.push_back(std::move(row));
    }
    j.output = heading(j) + "\n" + t.str();
    j.output += fmt::format(
        "\n{} changes of one node each, written by another session; from right before the set "
        "until the cache gives the state\nload: until the first state, and its requests\nrequests, "
        "events and bytes: of the cache's session, per change; listings: in all\nstall: the "
        "longest time for which the loop did nothing else, without waiting for a core, in a second "
        "round; end: of the cache; last state: a state that was kept until after that\nfloor: one "
        "session's delete to another session's watch event, bare C client; a cache has to read the "
        "node after it\n",
        count_text(static_cast<double>(j.wanted.operations)));
}

}  // namespace corozk::bench
