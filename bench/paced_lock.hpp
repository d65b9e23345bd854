// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "statistics.hpp"
#include <corozk/client.hpp>
#include <corozk/recipe/lock.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

namespace corozk::bench {

/// So often something is due, whatever else happens.
inline constexpr std::chrono::milliseconds paced_interval{10};

/// A lock that sessions pass on among themselves at fixed times: each queues again when it has
/// released it.
class paced_handovers {
public:
    paced_handovers(std::vector<client>& clients, const std::string& path, std::size_t count);
    ~paced_handovers();

    std::size_t players() const noexcept { return locks_.size(); }

    /// Until there were so many hand-overs.
    boost::asio::awaitable<void> play(std::size_t player);

    /// How many hand-overs there were; the reference is good as long as this lives.
    const std::size_t& done() const noexcept { return done_; }

    /// From when a release was due until the next one has it.
    const latencies& times() const noexcept { return times_; }

private:
    std::deque<lock> locks_;
    std::size_t count_;
    std::size_t done_ = 0;
    latencies times_;
    clock::time_point due_{};  ///< the last release
};

/// A lock that nobody else wants, acquired so often at fixed times.
/// @param times from when that was due until it was held
boost::asio::awaitable<void> acquire_paced(client& c,
                                           std::string path,
                                           std::size_t count,
                                           latencies& times);

}  // namespace corozk::bench
