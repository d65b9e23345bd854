// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/compatibility.hpp>
#include <corozk/detail/recipe/queue_order.hpp>
#include <corozk/types.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace corozk::detail {

// The queue's rules.
//
// An item is a child of the queue's parent znode, with the server's sequence in its name. The order
// is by rank, then by sequence: the rank is the priority in a priority queue and the due time in a
// delay queue (see queue/delay_queue_rule.hpp).
//
// parent Persistent, because a re-created parent restarts the sequence, and the data of an old item
//         could be taken for that of a new one of the same name. If it is deleted anyway, or is a
//         container, its czxid changes: it is checked after each idle time and each outage.
// put     An `exactly_once` transaction: {mark, create item...}. A GUID in the name would not show
//         whether a put whose response was lost was applied, as another consumer may have taken the
//         item.
// bound   The transaction also sets a node shared by all producers, at the version that was read
//         *before* the children were counted. So no other producer has put items since the count,
//         which consumers only decrease: count + new <= bound holds when it is applied.
// take    The item is read first, then deleted by an `exactly_once` transaction, not at once: the
//         response to the read could be lost while the delete is applied. The delete is sent once;
//         an unknown outcome is resolved by invalidating it, as it may refer to another item after
//         an outage.
// consume An ephemeral child `claim` of the item, with a GUID that identifies the consumer in its
// session. While it exists the server rejects the deletion of the item, by takes or by other
//         consumers' acknowledgements. Its version differs from that of previous and later claims,
//         so that a transaction can only end its own claim.
// ack     An `exactly_once` transaction in the session that owns the claim: {mark, and for each claim
//         that is being acknowledged: delete claim, delete item, the user's steps}. It fails as a
//         whole when one of the claims has ended, and is repeated without that one. After a lost
//         response the mark shows whether it was applied. That the claim and the item are gone shows
//         nothing: somebody may have deleted the claim, and another consumer acknowledged the item.
//
// Which item: the first available one, or with `queue_options::window` one of the first, from a random
// place on: consumers that do not know each other seldom want the same one.
//
// A listing is valid until it is used up, as later items have higher sequences. With ranks,
// however, each round of takes needs a listing that was requested after the takes
// (queue/item_index.hpp).

/// The position of an item.
struct queue_key {
    std::int64_t rank = 0;
    std::int32_t sequence = 0;

    friend bool operator==(const queue_key&, const queue_key&) = default;
};

/// The digits of a due time in an item's name: enough until 2286.
constexpr std::size_t due_width = 13;
constexpr std::int64_t latest_due = 9'999'999'999'999;

/// The representation of a due time in an item's name; ms since 1970, 0 to `latest_due`.
std::string due_text(std::int64_t due);

std::optional<std::int64_t> parse_due(std::string_view text) noexcept;

/// The names of a queue's items.
class queue_names {
public:
    queue_names(compatibility format, queue_order order) noexcept
        : format_(format), order_(order) {}

    /// Whether this combination of format and order is supported.
    bool exist() const noexcept;

    /// Why the format has no such rank, or null.
    const char* problem_of(std::int64_t rank) const noexcept;

    /// The name without the sequence.
    std::string prefix(std::int64_t rank) const;

    /// Nothing for other names.
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
