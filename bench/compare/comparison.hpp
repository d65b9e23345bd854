// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.hpp"
#include "compare/peer_work.hpp"
#include "result.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// A figure that comparisons are about.
struct comparison_part {
    std::string title;
    std::string key;        ///< of the figure that is compared
    std::string key_p99;    ///< "" if there is none
    std::string per;        ///< "handover" or "operation": what requests and bytes are counted for
    bool is_rate = false;   ///< the larger, the better
    std::string operation;  ///< what is done, where a comparison has several parts
};

/// One piece of work, done by everybody on the same server in the same minute.
class comparison {
public:
    using rows = std::span<result>;

    virtual ~comparison() = default;

    /// Whether a peer has this at all.
    virtual bool has(std::string_view peer) const = 0;

    /// Who failed at one of a family is not asked for the next, larger one.
    virtual std::string family() const = 0;

    /// One row of figures for each.
    virtual std::vector<comparison_part> parts() const = 0;

    /// What it is about: waiters, sessions.
    virtual void describe(result& row) const = 0;

    /// Each of these adds one repetition to the rows, one for each part.
    virtual boost::asio::awaitable<void> ours(job& j, rows r) = 0;
    virtual void floor(job& j, rows r) = 0;
    virtual void from_peer(const peer_phases& phases, rows r) const = 0;

    /// What a peer is asked for, and less of the same to warm it up.
    virtual std::string request(const std::string& path) const = 0;
    virtual std::string warm_up(const std::string& path) const = 0;

    /// Makes the nodes that have to be there before an implementation is asked.
    virtual void prepare(job&, std::string_view, const std::string&) {}

protected:
    comparison() = default;
    comparison(const comparison&) = default;
    comparison& operator=(const comparison&) = default;
};

/// Requests, notifications, bytes, CPU of a phase, for each of `units`; without what is not known.
void add_phase(result& r, const peer_phase& phase, const std::string& per, double units);

/// The times in "latencies_ns" of a phase, as KEY.p50, KEY.p99, KEY.max.
void add_latencies(result& r, const peer_phase& phase, const std::string& key);

/// How much of everything there is to compare.
struct comparison_sizes {
    std::vector<std::size_t> waiters;
    std::vector<std::size_t> most;  ///< waiters of which some peers fail
    std::size_t sessions = 100;
    std::size_t items = 0;
    std::size_t acknowledged_items = 0;
    std::size_t operations = 0;
    std::size_t members = 0;
    std::size_t readers = 3;
    std::size_t limit = 10;
    std::size_t at_most = static_cast<std::size_t>(-1);  ///< of each of them
};

std::vector<std::unique_ptr<comparison>> all_comparisons(const comparison_sizes& sizes);

// One function for each kind.
std::unique_ptr<comparison> compare_handover(std::string recipe,
                                             std::size_t waiters,
                                             std::size_t sessions,
                                             const comparison_sizes& sizes);
std::unique_ptr<comparison> compare_joining(std::size_t waiters);
std::unique_ptr<comparison> compare_uncontended(std::size_t operations);
std::unique_ptr<comparison> compare_queue(std::size_t items, std::size_t workers);
std::unique_ptr<comparison> compare_acknowledged_queue(std::size_t items);

/// Clients in a session each, each of which puts an item and takes one, again and again.
std::unique_ptr<comparison> compare_queue_passes(std::size_t clients, std::size_t items);

/// The same of a lock or leadership: each acquires it and gives it back.
/// @param latency_key "handover_us": from a release to the next grant; or "acquire_us": how long
/// each had to wait
std::unique_ptr<comparison> compare_turns(std::string recipe,
                                          std::size_t clients,
                                          std::size_t turns,
                                          std::string latency_key);
std::unique_ptr<comparison> compare_counter(std::size_t clients,
                                            bool own_sessions,
                                            std::size_t operations);
std::unique_ptr<comparison> compare_barrier(std::size_t members, std::size_t sessions);
std::unique_ptr<comparison> compare_cache(std::size_t operations);

}  // namespace corozk::bench
