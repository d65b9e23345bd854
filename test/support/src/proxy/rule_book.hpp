// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/proxy_frame.hpp"
#include "corozk/testing/proxy_rule.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace corozk::testing::detail {

/** A rule that applies to a frame. */
struct fired_rule {
    rule_id id;
    action what;
};

/** The armed rules and how far each has counted. No I/O, no locking. */
class rule_book {
public:
    rule_id arm(trigger when, action what);
    void disarm(rule_id rule);
    void disarm_all() { rules_.clear(); }

    /** Shows the frame to all rules; the first one that fires is returned. */
    std::optional<fired_rule> match(const frame_info& frame);

private:
    struct armed_rule {
        rule_id id;
        trigger when;
        action what;
        std::uint64_t seen = 0;
        std::uint64_t fired = 0;

        bool spent() const { return when.limit() != 0 && fired >= when.limit(); }
    };

    std::vector<armed_rule> rules_;
    std::uint64_t last_id_ = 0;
};

}  // namespace corozk::testing::detail
