// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "statistics.hpp"

#include <boost/json/object.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace corozk::bench {

/// When somebody got something, and when they began to give it back, by the clock that all
/// processes of a machine share.
struct grant_time {
    std::int64_t granted_ns = 0;
    std::int64_t released_ns = 0;
    bool shared = false;
};

/// "grants_ns" of a message: three numbers for each.
std::vector<grant_time> grants_from(const boost::json::object& message);

/// What happened, in order: checks that nobody had it at the same time as others (see turns.hpp).
/// @param permits of a semaphore, else 0
/// @return from each release to the grant that it made possible; those who had it first are left
/// out
/// @throws peer_failure if there were two owners
latencies replay(const std::vector<grant_time>& grants, std::size_t permits);

}  // namespace corozk::bench
