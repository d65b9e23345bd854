// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/contention/contention_rule.hpp"

#include <boost/intrusive/list_hook.hpp>
#include <boost/intrusive/set_hook.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace corozk::detail {

using time_point = std::chrono::steady_clock::time_point;

/// A place in a contention queue.
class contention_node
    : public boost::intrusive::set_base_hook<boost::intrusive::optimize_size<true>>,
      public contention_entry {
    bool local_;  // in the padding of `contention_entry`

public:
    explicit contention_node(bool local) noexcept : local_(local) {}
    contention_node(const contention_node&) = delete;
    contention_node& operator=(const contention_node&) = delete;

    bool local() const noexcept { return local_; }

    std::uint64_t listing = 0;  ///< the last listing that contained it; 0: none

    friend bool operator<(const contention_node& a, const contention_node& b) noexcept {
        return a.order < b.order;
    }

protected:
    ~contention_node() = default;
};

/// A contender of another session.
struct remote_node final : contention_node {
    explicit remote_node(std::string_view name_) : contention_node(false), name(name_) {}

    const std::string name;
    bool unreadable = false;      ///< no READ permission
    std::uint64_t blocks_in = 0;  ///< the last decision on a head that it blocked
    std::shared_ptr<void> watch;  ///< the driver's, destroyed with the node
};

/// A contender of this session.
struct local_node : contention_node, boost::intrusive::list_base_hook<> {
    enum class stage_type : std::uint8_t {
        queued,    ///< its node was not requested yet
        creating,  ///< the create is in flight, or its outcome is unknown
        unwanted,  ///< the same, but it was abandoned
        waiting,   ///< it has a node
        granted,
        releasing,  ///< released or abandoned; the node is being deleted
        gone,
    };

    stage_type stage() const noexcept { return state; }
    bool has_node() const noexcept {
        return state >= stage_type::waiting && state <= stage_type::releasing;
    }
    std::string_view guid() const noexcept { return {guid_text.data(), guid_text.size()}; }

    std::array<char, 32> guid_text{};
    std::int64_t czxid = 0;
    std::uint64_t session = 0;   ///< the generation that its node belongs to
    std::uint64_t coverage = 0;  ///< that of the view, if everything ahead of it is known
    time_point since{};          ///< start of waiting, then of holding
    std::int32_t sequence = 0;
    stage_type state = stage_type::queued;
    bool try_only : 1 = false;  ///< fails with `would_block` instead of waiting

    // Operations on its node.
    bool proving : 1 = false;        ///< a read is in flight
    bool checking : 1 = false;       ///< a transaction that checks it is in flight
    bool erase_unknown : 1 = false;  ///< the response to a delete was lost
    bool converting : 1 = false;     ///< it is being replaced

protected:
    local_node() noexcept : contention_node(true) {}
    ~local_node() = default;
};

}  // namespace corozk::detail
