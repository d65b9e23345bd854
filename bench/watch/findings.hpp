// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "watch/server_look.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

enum class finding_kind {
    herd,       ///< many were woken, and most of them wait for the same again
    broadcast,  ///< many were woken by a change of data, or all of them went on
    crowd,      ///< many watch the same; nothing has happened yet
    burst,      ///< many were woken, and no watched node explains it
    listing,    ///< large responses
};

std::string_view to_string(finding_kind kind);

struct finding {
    finding_kind kind = finding_kind::herd;
    std::string path;          ///< or the first part of it; "" of a burst
    std::string event;         ///< of a burst: "created", "deleted" or "children"
    double sessions = 0;       ///< woken; of a crowd, that watch; of a listing, that listed last
    double servers = 1;        ///< that these sessions are on
    double proceeded = 0;      ///< of those, who do not wait for the same again
    double turns = 0;          ///< of a herd: so often they were woken, about
    double notifications = 0;  ///< to those sessions
    double reads = 0;          ///< of a listing
    double bytes = 0;          ///< of each

    /// A line for people.
    std::string text() const;
};

/// One look at each of several servers, which share a crowd.
using server_looks = std::span<const server_look>;

/// Crowds only.
std::vector<finding> findings_of(server_looks now, std::size_t crowd);

/// What has happened between two looks at the same servers, in the same order. A crowd that has not
/// been woken is no finding.
std::vector<finding> findings_between(server_looks before, server_looks after, std::size_t crowd);

/// What the server has sent between two looks besides responses; nothing if it does not count it.
std::optional<double> notifications_between(const server_look& before, const server_look& after);

}  // namespace corozk::bench
