// SPDX-License-Identifier: Apache-2.0
#include "safety/fault.hpp"

#include <algorithm>
#include <array>

namespace corozk::bench {

namespace {

constexpr std::array kinds_of_faults{
    fault_name{"pause"}, fault_name{"partition"}, fault_name{"clock"}};

constexpr std::array faults{
    fault{"pause", "pause", fault_means::stop, true},
    fault{"partition", "partition", fault_means::cut_off, false},
    fault{"partition after the look", "partition", fault_means::cut_off, true},
    fault{"wall clock", "clock", fault_means::wall_clock, false},
    fault{"monotonic clock", "clock", fault_means::all_clocks, false},
};

}  // namespace

std::span<const fault_name> all_faults() {
    return kinds_of_faults;
}

bool fault::concerns(const protection& p) const {
    // The clients of etcd's and Redis's locks are this program's own.
    if (kind == "clock")
        return p.system == "corozk";
    // Who does not look has no time after the look.
    return kind != "partition" || !after_look || p.guard == "valid";
}

bool fault::loses(const protection& p) const {
    if (p.safe || kind.empty() || by == fault_means::wall_clock)
        return false;
    // valid() goes by the local clock, and is false before the servers end the session.
    bool sees_it = p.system == "corozk" && p.guard == "valid" && !after_look;
    return !sees_it;
}

std::vector<fault> faults_of(const std::vector<std::string>& kinds) {
    std::vector<fault> wanted;
    for (const fault& f : faults) {
        if (std::find(kinds.begin(), kinds.end(), f.kind) != kinds.end())
            wanted.push_back(f);
    }
    return wanted;
}

}  // namespace corozk::bench
