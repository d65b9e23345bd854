// SPDX-License-Identifier: Apache-2.0
#include "session_use.hpp"

namespace corozk::bench {

session_use& session_use::operator+=(const session_use& more) {
    requests += more.requests;
    listings += more.listings;
    notifications += more.notifications;
    bytes += more.bytes;
    return *this;
}

session_use session_use::operator-(const session_use& before) const {
    session_use difference = *this;
    difference.requests -= before.requests;
    difference.listings -= before.listings;
    difference.notifications -= before.notifications;
    difference.bytes -= before.bytes;
    return difference;
}

session_use use_of(const std::vector<client>& clients) {
    session_use sum;
    for (const auto& c : clients) {
        auto n = c.counters();
        sum.requests += static_cast<double>(n.requests);
        sum.listings += static_cast<double>(n.listings);
        sum.notifications += static_cast<double>(n.notifications);
        sum.bytes += static_cast<double>(n.bytes_sent + n.bytes_received);
        sum.on_their_way += static_cast<double>(n.in_flight + n.queued);
    }
    return sum;
}

}  // namespace corozk::bench
