// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/contention/contention_rule.hpp"
#include "recipe/contention/node_name.hpp"
#include <corozk/contender_info.hpp>
#include <corozk/types.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace corozk::detail {

/// The data of a contender's node: the same for all contenders of an object.
using contender_data = std::shared_ptr<const std::string>;

/// The settings of a contention queue.
struct contention_settings {
    contention_settings() = default;
    std::string parent;
    naming names;
    const contention_rule* rule = nullptr;
    acl entries;  ///< of the contenders' nodes and of missing parents

    /// If positive, the rule needs the limit stored in the parent's data; this is its initial
    /// value.
    std::int32_t initial_limit = 0;

    /// If positive, the limit that the rule needs; it is not stored at the server.
    std::int32_t fixed_limit = 0;

    /// Of missing parents. Other libraries may not expect theirs to be deleted.
    create_mode parent_mode = create_mode::container;

    /// The text of a release request. Empty if the format has none.
    std::string release_request = "unlock";

    /// Whether it replaces the node's data instead of becoming its last line, for other libraries.
    bool request_replaces_data = false;

    /// If not empty, a holder has a second node with this suffix. Breaking a contender deletes
    /// both.
    std::string record_suffix;

    /// For an ephemeral node beside those of the contenders.
    create_options ephemeral() const { return {.mode = create_mode::ephemeral, .acl = &entries}; }
};

/// The recipes with formats of other libraries.
enum class known_recipe : std::uint8_t { lock, shared_lock, election, semaphore };

/// Settings for a recipe in the format of a library; without names if that is not supported.
contention_settings settings_in_format(known_recipe recipe,
                                       const contention_rule& rule,
                                       std::string parent,
                                       const contender_options& options);

}  // namespace corozk::detail
