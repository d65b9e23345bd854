// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "chaos/judgement.hpp"
#include "chaos/record.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace corozk::chaos {

/// Of the servers: a node's versions grow with the zxids, one by one at most once.
inline void judge_servers(const std::vector<record>& records, judgement& result) {
    std::map<std::int64_t, std::int64_t> version_at;
    for (const record& r : records) {
        if (r.what == deed::witnessed)
            version_at[r.number] = r.token;
    }
    result.witnessed = version_at.size();
    std::int64_t highest = -1;
    std::int64_t highest_zxid = 0;
    for (const auto& [zxid, version] : version_at) {
        if (version <= highest) {
            result.taken_back.push_back("version " + std::to_string(version) +
                                        " was made at zxid " + std::to_string(zxid) +
                                        ", after version " + std::to_string(highest) + " at zxid " +
                                        std::to_string(highest_zxid));
        }
        highest = std::max(highest, version);
        if (highest == version)
            highest_zxid = zxid;
    }
}

}  // namespace corozk::chaos
