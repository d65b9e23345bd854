// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace corozk::detail {

/// Where a connected client goes when the list of servers is replaced.
enum class relocation : std::uint8_t { stay, to_added, to_kept };

/// How a list of servers has changed.
struct list_change {
    std::size_t before = 0;  ///< servers in the old list
    std::size_t kept = 0;    ///< servers in both lists
    std::size_t added = 0;   ///< servers in the new list only
    bool stays = false;      ///< the client's server is in the new list
};

/// Each client decides for itself: as few of them move as can be, and if they were spread evenly over
/// the old servers, they are spread evenly over the new ones afterwards.
/// @param random from 0 to 1, evenly distributed
constexpr relocation relocate(const list_change& change, double random) noexcept {
    const auto before = static_cast<double>(change.before);
    const auto kept = static_cast<double>(change.kept);
    const auto after = kept + static_cast<double>(change.added);
    if (after == 0)
        return relocation::stay;
    if (after > before) {
        // Of a kept server's 1/before of all clients, 1/after remain.
        bool moves = !change.stays || random < 1 - before / after;
        return moves && change.added > 0 ? relocation::to_added : relocation::stay;
    }
    if (change.stays)
        return relocation::stay;
    // Each server has too few: of the clients of removed servers, (before - kept) / before of all, the
    // kept ones get what each of them lacks, 1/after - 1/before of all.
    if (before <= kept || random * after * (before - kept) < kept * (before - after))
        return relocation::to_kept;
    return change.added > 0 ? relocation::to_added : relocation::to_kept;
}

}  // namespace corozk::detail
