// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "safety/protection.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// As in --fault.
struct fault_name {
    std::string_view name;
};
std::span<const fault_name> all_faults();

enum class fault_means { stop, cut_off, wall_clock, all_clocks };

/// What happens to a process while it holds the lock.
struct fault {
    std::string_view name;
    std::string_view kind;
    fault_means by;
    bool after_look;  ///< between the last look at the lock and the write; else before that look

    /// Whether it is played with this lock and guard.
    bool concerns(const protection& p) const;

    /// Whether updates may be lost then.
    bool loses(const protection& p) const;
};

/// Of these kinds.
std::vector<fault> faults_of(const std::vector<std::string>& kinds);

/// The control.
inline constexpr fault no_fault{"none", "", fault_means::stop, true};

}  // namespace corozk::bench
