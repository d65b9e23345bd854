// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "chaos/judgement.hpp"
#include "chaos/record.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace corozk::chaos {

/// Nobody writes (in the order of zxids) through a guard after a later owner has.
inline void judge_guarded_writes(const std::vector<record>& records, judgement& result) {
    std::vector<record> writes;
    for (const record& r : records) {
        if (r.what == deed::wrote)
            writes.push_back(r);
    }
    result.guarded_writes = writes.size();
    std::sort(writes.begin(), writes.end(), [](const record& a, const record& b) {
        return a.number < b.number;
    });
    for (std::size_t i = 1; i < writes.size(); ++i) {
        if (writes[i].token < writes[i - 1].token) {
            result.violations.push_back("a guarded write of " + writes[i].who + " with token " +
                                        std::to_string(writes[i].token) + " came after one with " +
                                        std::to_string(writes[i - 1].token));
        }
    }
}

}  // namespace corozk::chaos
