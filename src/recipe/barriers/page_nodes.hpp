// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/signal.hpp"
#include "operation/path.hpp"
#include "recipe/barriers/page_barrier_rule.hpp"
#include <corozk/types.hpp>

#include <cstdint>
#include <string>

namespace corozk::detail {

/// The nodes of a member, and what is known of them.
struct page_nodes {
    port& client;
    const std::string parent;
    const std::uint32_t size;  ///< of the barrier
    const acl entries;
    const create_mode parents;
    const std::string name = client.new_guid();
    const std::string own = join_path(parent, name);             ///< the member's node
    const std::string ready = join_path(parent, barrier_ready);  ///< lets members in
    std::uint64_t generation = 0;  ///< the session of the member's node; 0: none
    /// That of a create without a response, or of a node that a lost session has left.
    std::uint64_t perhaps_in = 0;
};

/// A watch that remembers what has happened, and sets a driver's signal.
class remembering_watch final : public watch_node {
public:
    explicit remembering_watch(signal& target) noexcept : target_(target) {}

    bool created = false;
    bool erased = false;

private:
    void fired(watch_event_type type) noexcept override {
        created = created || type == watch_event_type::created;
        erased = erased || type == watch_event_type::erased;
        target_.set();
    }
    void dropped(const error_code&) noexcept override { target_.set(); }

    signal& target_;
};

}  // namespace corozk::detail
