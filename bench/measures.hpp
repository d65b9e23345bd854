// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>

namespace corozk::bench {

// What commands measure of corozk, for those that put it beside something else. Each adds one
// repetition of its figures to the row, without any floor.

enum class queue_work { put, put_many, take, consume, pass };

struct queue_task {
    queue_work work = queue_work::put;
    std::size_t workers = 1;  ///< coroutines
    std::size_t sessions = 1;
    std::size_t items = 1'000;
    std::size_t batch = 100;  ///< of put_many
    std::size_t window = 1;   ///< `queue_options::window`

    const char* name() const;
};

/// Sends the items through a fresh queue, and checks that each came out once.
boost::asio::awaitable<void> measure_queue(job& j, const queue_task& task, result& r);

/// Coroutines that add to one counter: of one object, or each with a session of its own.
struct counting {
    std::size_t clients = 1;
    bool own_sessions = false;
    std::size_t operations = 10'000;  ///< of all together

    std::string title() const;
};

/// Adds 1 again and again, and checks the sum.
boost::asio::awaitable<void> measure_counter(job& j, const counting& kind, result& r);

/// One round of a double barrier with these members.
boost::asio::awaitable<void> measure_barrier(job& j,
                                             std::size_t members,
                                             std::size_t sessions,
                                             result& r);

/// From one session's write to another one's node cache.
boost::asio::awaitable<void> measure_node_cache(job& j, std::size_t operations, result& r);

/// A lock that nobody else wants: acquire and release, again and again.
boost::asio::awaitable<void> measure_lock_cycles(job& j, std::size_t cycles, result& r);

}  // namespace corozk::bench
