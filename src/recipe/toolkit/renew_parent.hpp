// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include <corozk/types.hpp>

#include <cstdint>
#include <limits>
#include <string>

namespace corozk::detail {

/// Whether a parent can give no more sequence numbers than some that are reserved for creates in
/// flight. A server does not go on with negative numbers: it gives the highest one again and again,
/// and negative ones between to creates in flight together. So nodes with such numbers are in no
/// order, and names come back.
constexpr bool sequence_spent(std::int32_t sequence) noexcept {
    constexpr std::int32_t reserved = 1 << 20;
    return sequence < 0 || sequence >= std::numeric_limits<std::int32_t>::max() - reserved;
}

/// Replaces a parent if its numbers are spent. Those of the new one begin at 0.
/// @param keep_data  otherwise the new one is empty
/// @return `errc::sequence_exhausted` if it has children
task<error_code> renew_parent(port& p,
                              std::string path,
                              acl entries,
                              create_mode mode,
                              bool keep_data = true);

/// Same as above. If it fails, the next one whose number is spent tries again.
task<> try_renew_parent(port& p,
                        std::string path,
                        acl entries,
                        create_mode mode,
                        bool keep_data = true);

}  // namespace corozk::detail
