// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/compatibility.hpp>
#include <corozk/detail/queue_order.hpp>
#include <corozk/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::detail {

// The queue's rules.
//
// An item is a child of the queue's parent znode, with the server's sequence in its name. The order is
// by rank, then by sequence: the rank is the priority in a priority queue and the due time in a delay
// queue (see queue/delay_queue_rule.hpp).
//
// parent  Persistent: a new one numbers its items from the beginning, and what was read of an item
//         would be taken for another one of its name. If it is deleted all the same, or is a
//         container, its czxid shows that: after each rest and each outage it is checked first.
// put     A transaction of a ledger: {mark, create item...}. A GUID in the name could not tell
//         whether a put whose response was lost was applied: another consumer may have taken the
//         item meanwhile.
// bound   The transaction also sets a node that all producers share, at the version that was read
//         *before* the children were counted. So no other producer has put anything since the count,
//         and consumers only make it smaller: count + new <= bound holds when it is applied.
// take    The item is read first, then deleted by a transaction of a ledger. Never both at once: the
//         response to the read could be lost while the delete is applied. Sent once: whether it was
//         applied is found out by making it void, as after an outage it may mean another item.
// consume An ephemeral child `claim` of the item, with a GUID. It is ours if the GUID is, in the
//         session that we still have. While it exists the server refuses to delete the item, so
//         that takes and other consumers' acknowledgements cannot get it. Its version differs from
//         that of the claims before and after it: a transaction that ends a claim ends its own.
// ack     {delete claim, delete item, the user's operations}, sent in the session that owns the
//         claim: when that has ended at the server, the whole fails. If the response was lost and
//         the session lives: the item is gone if and only if it was applied.
//
// One listing serves until it is used up: later items have higher sequences. That does not hold for
// ranks: there each round of takes has a listing that was requested after the takes
// (queue/item_index.hpp).

/// Where an item stands.
struct queue_key {
    std::int64_t rank = 0;
    std::int32_t sequence = 0;

    friend bool operator==(const queue_key&, const queue_key&) = default;
};

/// How a queue names its items.
class queue_names {
public:
    queue_names(compatibility format, queue_order order) noexcept
        : format_(format), order_(order) {}

    /// Whether there are any such names.
    bool exist() const noexcept;

    /// Whether items of this rank can be named.
    bool allows(std::int64_t rank) const noexcept;

    /// What the server appends the sequence to.
    std::string prefix(std::int64_t rank) const;

    /// Nothing if the name is not an item's.
    std::optional<queue_key> parse(std::string_view name) const noexcept;

    /// Whether new items may come before those that exist.
    bool ranked() const noexcept { return order_ != queue_order::arrival; }

    /// Whether the rank is a due time.
    bool timed() const noexcept { return order_ == queue_order::due_time; }

private:
    bool prioritized() const noexcept { return order_ == queue_order::priority; }

    compatibility format_;
    queue_order order_;
};

/// A child that is an item.
struct queue_entry {
    queue_key key;
    std::uint32_t index = 0;  ///< in the listing
};

}  // namespace corozk::detail
