// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/operation.hpp"
#include "recipe/barriers/double_barrier_rule.hpp"
#include <corozk/error.hpp>
#include <corozk/types.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corozk::detail {

enum class barrier_phase : std::uint8_t {
    entering,
    inside,
    leaving,
    withdrawing,  ///< ends when its node was deleted, without the others
    outside,
};

/// The state of a member's node.
enum class member_node : std::uint8_t {
    none,
    in_doubt,  ///< the response to its create was lost
    exists,
    unwanted,  ///< must be deleted
};

/// A member of this client.
struct local_member {
    barrier_phase phase = barrier_phase::entering;
    error_code result;  ///< of its call, once it is inside or outside
    bool refuse_to_wait = false;
    std::string participant;  ///< its nodes' guids begin with the first half of this one

    member_node node = member_node::none;
    std::string name;  ///< the node's; until it is known without the sequence number
    std::int32_t sequence = 0;
    std::uint64_t session = 0;  ///< owns the node
    bool watched = false;       ///< the node's deletion would be reported

    /// The round that it has entered.
    struct {
        std::uint64_t number = 0;
        std::int32_t last = 0;
        std::int64_t parent = 0;  ///< czxid of the parent when it started
    } round;

    /// Whether it waits for a round.
    bool waits() const noexcept {
        return phase == barrier_phase::entering && node == member_node::exists;
    }
};

/// What a pass reads, in this order.
struct barrier_reads {
    bool sync = false;  ///< the server may lag behind what this client knows
    bool record = false;
    bool list = false;
};

/// A round to start, if the record still has this version and all of these nodes exist.
struct barrier_start {
    round_record record;
    std::int32_t version = 0;
    std::vector<barrier_member> members;  ///< borrows the listing's names
};

/// A node that may still come into being, to be deleted then.
struct late_member {
    std::string prefix;
    std::uint64_t session = 0;
};

/// The members of a client at a barrier that are entering, leaving or withdrawing. Events in,
/// decisions out, no I/O.
///
/// They are served in passes: create the nodes of entering members that have none and delete the
/// unwanted ones, read, and decide. Then start a round, or begin the next pass if one is `due`, or
/// set the watches and wait for an event.
class local_members {
public:
    using phase = barrier_phase;
    using pointer = std::shared_ptr<local_member>;

    explicit local_members(std::uint32_t size) noexcept : size_(size) {}

    /// It enters, leaves or withdraws.
    void add(pointer m, phase wanted);

    const std::vector<pointer>& all() const noexcept { return members_; }
    bool empty() const noexcept { return members_.empty(); }
    void clear() noexcept { members_.clear(); }
    bool entering() const noexcept { return any(phase::entering); }

    // Events, before a pass: of the session and of the calls.

    /// @param alive whether nodes of this generation may exist
    void session_is(std::uint64_t generation, bool alive);
    /// The member's call is over.
    void give_up(local_member& m);

    /// @return what this pass reads
    barrier_reads begin_pass();

    // The responses to its requests.

    /// A node is about to be created. @return its name, without the sequence number
    const std::string& name_node(local_member& m, std::string random, std::uint64_t session);
    void created(local_member& m, const error_code& ec, std::string_view name);
    void deleted(local_member& m, const error_code& ec);
    void parent_missing();
    /// A request for all of them has failed. They fail, unless asking again may help.
    void failed(const error_code& ec);
    /// What was read; null: not requested. @return the round to start, if there is one
    std::optional<barrier_start> read(const response_fields* record,
                                      const response_fields* listing);
    void started(const round_record& record);
    /// A waiting member's node was read, with a watch.
    void watched(local_member& m, const error_code& ec);

    // What follows.

    /// Those that are inside or outside now.
    std::vector<pointer> take_finished();
    std::vector<late_member> take_late() noexcept { return std::exchange(late_, {}); }
    bool due() const noexcept { return due_; }
    /// The node whose deletion those wait for that leave, or that must wait for the next round.
    const std::string& target() const noexcept { return target_; }

private:
    void decide_entering(const std::optional<barrier_view>& view);
    void decide_leaving(const std::optional<barrier_view>& view);
    std::optional<barrier_start> decide_waiting(const std::optional<barrier_view>& view,
                                                const stat& parent);
    void find_in_doubt(const name_list& names);
    void place(local_member& m, std::string_view name);
    void admit(local_member& m);
    void withdraw(local_member& m, const error_code& reason);
    void end(local_member& m, const error_code& ec);
    void forget_node(local_member& m);
    void list_again() noexcept;
    bool any(phase wanted) const noexcept;

    const std::uint32_t size_;
    std::vector<pointer> members_;
    std::uint64_t session_ = 0;
    bool lagging_ = false;  ///< the session's server may not have what an earlier one has shown
    bool list_ = false;     ///< the next pass needs a listing
    bool due_ = false;
    barrier_reads reads_;  ///< of this pass
    round_record record_;
    std::int32_t version_ = 0;  ///< of the record
    std::int64_t czxid_ = 0;    ///< of the parent
    std::string target_;
    std::vector<late_member> late_;
};

}  // namespace corozk::detail
