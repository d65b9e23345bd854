// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/contention/contention_rule.hpp"
#include "recipe/contention/node_name.hpp"
#include <corozk/types.hpp>

#include <cstdint>
#include <string>

namespace corozk::detail {

/// Where contenders queue, and how.
struct contention_settings {
    contention_settings() = default;
    std::string parent;
    naming names;
    const contention_rule* rule = nullptr;
    acl entries;  ///< of the contenders' znodes and of parents that are missing

    /// If positive, the parent's data is a limit that the rule needs, and this is written where
    /// there is none.
    std::int32_t initial_limit = 0;

    /// If positive, the limit that the rule needs; it is not stored at the server.
    std::int32_t fixed_limit = 0;

    /// Of parents that are missing. Other programs may not expect theirs to be deleted.
    create_mode parent_mode = create_mode::container;

    /// What is written into a holder's znode to ask for its release.
    std::string release_request = "unlock";

    /// It replaces the znode's data instead of being its last line: other programs compare the
    /// whole.
    bool request_replaces_data = false;

    /// If not empty: a holder has a second znode, with this behind its contender's name. Breaking a
    /// contender deletes both.
    std::string record_suffix;
};

}  // namespace corozk::detail
