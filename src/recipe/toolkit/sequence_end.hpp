// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/types.hpp>

#include <cstdint>
#include <limits>

namespace corozk::detail {

/// Whether a parent can give no more sequence numbers than some that are reserved for creates in
/// flight. A server does not go on with negative numbers: it gives the highest one again and again,
/// and negative ones between to creates in flight together. So nodes with such numbers are in no
/// order, and names come back.
constexpr bool sequence_spent(std::int32_t sequence) noexcept {
    constexpr std::int32_t reserved = 1 << 20;
    return sequence < 0 || sequence >= std::numeric_limits<std::int32_t>::max() - reserved;
}

/// Whether all numbers that this parent will give are such ones.
inline bool sequence_spent(const stat& parent) noexcept {
    // `cversion` is shown as twice the number of creates, less the children, in 32 bits.
    const auto twice = static_cast<std::uint32_t>(parent.cversion) +
                       static_cast<std::uint32_t>(parent.num_children);
    return sequence_spent(static_cast<std::int32_t>(twice / 2));
}

}  // namespace corozk::detail
