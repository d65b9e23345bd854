// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>

#include <vector>

namespace corozk::bench {

/// What some sessions did, in sum.
struct session_use {
    double requests = 0;
    double listings = 0;
    double notifications = 0;
    double bytes = 0;         ///< sent and received
    double on_their_way = 0;  ///< requests without an answer, now

    session_use& operator+=(const session_use& more);
    session_use operator-(const session_use& before) const;
};

session_use use_of(const std::vector<client>& clients);

}  // namespace corozk::bench
