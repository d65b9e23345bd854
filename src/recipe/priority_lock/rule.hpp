// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::detail {

/// A lock in the order of priorities, exclusive or read/write. Who waits has an ephemeral
/// sequential node; who holds it has a record besides: an ephemeral node of its own name. What has
/// to hold:
///
///  1. A record is created only in a transaction that checks that the contender's node exists
///     and that the folder's version is still the one that was read before the contenders and
///     records were listed, and that changes the folder's version. So between a listing and a
///     grant that it justified no record was created; records only went. Nothing else makes a
///     record.
///  2. A writer is granted by a listing without any record, a reader by one without a writer's.
///     With 1 there is never a writer's record beside another one, whatever anybody believes
///     about order, clocks, or who is alive.
///  3. Whoever has its record holds, by whatever answer or listing it learns of it: an answer
///     that was lost is found again. A request that is carried out late creates nothing once
///     the contender's node is gone; so that node is erased before the record is said to be
///     gone. Until then it may create the record at any time: whoever asked and got no answer
///     watches for its own record (or else it could wait for somebody who waits for that
///     record).
///  4. Waiters are ordered by priority, then by sequence; with ageing by sequence + priority *
///     ageing. That is fixed with the name: all participants see the same order at all times,
///     whatever their clocks say, and no order ever changes. A newcomer may be put in front of
///     waiters, never in front of a holder: holders are not in this order.
///  5. A waiter that is blocked is blocked for as long as one node exists, which it watches:
///     the nearest waiter ahead that blocks it (it still blocks when it holds), or else a
///     holder. Those wait, in turn, only for what is ahead of them. So nobody waits in a
///     circle, and the first waiter hears of the holder's end.
///  6. With ageing a, a waiter is overtaken by newcomers whose priority is better by p for at
///     most p * a more creations in the folder: nobody starves. All must use the same ageing;
///     it stands in the folder's data.
///  7. Fencing tokens are the records' czxid: grants are in the server's order, whatever the
///     order of the contenders' nodes.

inline constexpr std::uint8_t priority_read = 0;
inline constexpr std::uint8_t priority_write = 1;

/// A contender, or a record whose contender has gone.
struct ranked_place {
    std::int32_t priority = 0;
    std::int64_t order = 0;  ///< the sequence, unwrapped
    std::uint8_t kind = priority_write;
    bool holds = false;  ///< has a record
};

/// Whether one waiter comes before another one.
bool comes_before(const ranked_place& a, const ranked_place& b, std::int32_t ageing) noexcept;

struct ranked_verdict {
    bool grant = false;
    std::optional<std::size_t> watch;  ///< the place whose end is to be waited for
    std::vector<std::size_t> holders;  ///< all that block
    std::vector<std::size_t>
        inferior;  ///< those of the holders with a lower priority: they may be asked
};

/// What one place may do, by a listing. It does not hold.
ranked_verdict judge(const std::vector<ranked_place>& places, std::size_t me, std::int32_t ageing);

/// For each place that waits, the nearest that waits ahead of it and that it cannot go beside; where
/// there is none it waits for holders. As `judge` says it of one place, for all at once.
std::vector<std::optional<std::size_t>> nearest_ahead(const std::vector<ranked_place>& places,
                                                      std::int32_t ageing);

/// A node's name taken apart: "<guid>-write-<priority>-<sequence>" is a contender's, and with
/// "-held" behind it that of its record.
struct ranked_name {
    std::string_view contender;  ///< without what makes it a record's
    std::string_view guid;
    std::uint8_t kind = priority_write;
    std::int32_t priority = 0;
    std::int32_t sequence = 0;
    bool record = false;
};

std::optional<ranked_name> parse_ranked(std::string_view name) noexcept;

/// The name to create; the server appends the sequence.
std::string format_ranked(std::string_view guid, std::uint8_t kind, std::int32_t priority);

/// The record's name, or path, for a contender's.
std::string record_of(std::string_view contender);

/// What stands in the folder's data.
std::optional<std::int32_t> parse_ageing(std::string_view data) noexcept;

/// A folder's children, sorted out: contenders and their records put together.
struct ranked_listing {
    std::vector<ranked_place> places;
    std::vector<std::string> contenders;  ///< the names, of each place
    std::vector<bool> waiting;            ///< whether the contender's own node is there

    /// The node that exists for as long as this place blocks somebody.
    std::string blocking_node(std::size_t place) const;

    std::optional<std::size_t> find(std::string_view contender) const noexcept;
};

/// @param origin a sequence that is near to all of them: it may wrap around in between
ranked_listing sort_out(const std::vector<std::string_view>& names, std::int32_t origin);

}  // namespace corozk::detail
