// SPDX-License-Identifier: Apache-2.0
#include "replay.hpp"

#include "compare/peer_process.hpp"
#include "turns.hpp"

#include <algorithm>
#include <stdexcept>

namespace corozk::bench {

namespace {

struct moment {
    std::int64_t at_ns = 0;
    bool release = false;
    bool shared = false;

    bool operator<(const moment& other) const {
        return at_ns != other.at_ns ? at_ns < other.at_ns : release < other.release;
    }
};

clock::time_point to_time(std::int64_t nanoseconds) {
    return clock::time_point(std::chrono::nanoseconds(nanoseconds));
}

}  // namespace

std::vector<grant_time> grants_from(const boost::json::object& message) {
    const auto& numbers = message.at("grants_ns").as_array();
    std::vector<grant_time> grants;
    for (std::size_t i = 0; i + 2 < numbers.size(); i += 3) {
        grants.push_back({numbers[i].to_number<std::int64_t>(),
                          numbers[i + 1].to_number<std::int64_t>(),
                          numbers[i + 2].to_number<std::int64_t>() != 0});
    }
    return grants;
}

latencies replay(const std::vector<grant_time>& grants, std::size_t permits) {
    std::vector<moment> moments;
    for (const grant_time& g : grants) {
        moments.push_back({g.granted_ns, false, g.shared});
        moments.push_back({g.released_ns, true, g.shared});
    }
    std::sort(moments.begin(), moments.end());
    turns owners(permits);
    latencies times;
    std::int64_t token = 0;
    std::size_t first = std::max<std::size_t>(permits, 1);
    for (const moment& m : moments) {
        auto now = to_time(m.at_ns);
        if (m.release) {
            owners.released(m.shared, now);
            continue;
        }
        try {
            auto since = owners.granted(m.shared, ++token);
            if (static_cast<std::size_t>(token) > first)
                times.add(to_microseconds(now - since));
        } catch (const std::logic_error& e) {
            throw peer_failure(std::string("two owners at once: ") + e.what());
        }
    }
    return times;
}

}  // namespace corozk::bench
