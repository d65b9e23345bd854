// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::detail {

/// A lock granted by priority, exclusive or read/write. A waiter has an ephemeral sequential node;
/// a holder also has a record, an ephemeral node with a name derived from it. Invariants:
///
///  1. A record is created only by a transaction that checks that the contender's node exists and
///     that the parent's version is the one read before contenders and records were listed, and
///     that increments this version. So no record was created between a listing and the grant that
///     it justifies; records can only have been deleted.
///  2. A writer is granted by a listing without records, a reader by one without a writer's record.
///     With 1, a writer's record never exists beside another one, regardless of assumptions about
///     order, clocks or liveness.
///  3. The contender holds if its record exists, however it learns of that: a lost response is
///     recovered by listing. A request that is applied late creates no record once the contender's
///     node was deleted, so that node is deleted before the record is considered deleted. Until
///     then the record may be created at any time: a contender whose request got no response
///     watches its own record, as it could otherwise wait for a waiter that waits for that record.
///  4. Waiters are ordered by priority, then by sequence; with ageing by sequence + priority *
///     ageing. The order depends on the names only, so that all participants always see the same
///     one. A new contender may come before waiters, but never before a holder: holders are not
///     part of the order.
///  5. A blocked waiter watches one node that blocks it: the nearest blocking waiter ahead (which
///     still blocks when it holds), or else a holder. As these wait only for nodes ahead of them,
///     there are no cycles, and the first waiter is notified of the holder's release.
///  6. With ageing a, newcomers whose priority is better by p overtake a waiter during at most
///     p * a creations below the parent, so that none starves. All participants must use the same
///     ageing, which is stored in the parent's data.
///  7. Fencing tokens are the records' czxid, so that they increase with each grant, regardless of
///     the order of the contenders' nodes.

inline constexpr std::uint8_t priority_read = 0;
inline constexpr std::uint8_t priority_write = 1;

/// A contender, or a record whose contender's node was deleted.
struct ranked_place {
    std::int32_t priority = 0;
    std::int64_t order = 0;  ///< the sequence number, without wrap-around
    std::uint8_t kind = priority_write;
    bool holds = false;  ///< has a record
};

bool comes_before(const ranked_place& a, const ranked_place& b, std::int32_t ageing) noexcept;

struct ranked_verdict {
    bool grant = false;
    std::optional<std::size_t> watch;   ///< the place to watch
    std::vector<std::size_t> inferior;  ///< blocking holders of a lower priority
};

/// The decision for a waiting place, according to a listing.
ranked_verdict judge(const std::vector<ranked_place>& places, std::size_t me, std::int32_t ageing);

/// For each waiting place, the nearest blocking waiter ahead; if there is none it waits for
/// holders. As `judge`, for all places at once.
std::vector<std::optional<std::size_t>> nearest_ahead(const std::vector<ranked_place>& places,
                                                      std::int32_t ageing);

/// A parsed name: "<guid>-write-<priority>-<sequence>" for a contender; with the suffix "-held" for
/// its record.
struct ranked_name {
    std::string_view contender;  ///< without the suffix
    std::string_view guid;
    std::uint8_t kind = priority_write;
    std::int32_t priority = 0;
    std::int32_t sequence = 0;
    bool record = false;
};

std::optional<ranked_name> parse_ranked(std::string_view name) noexcept;

/// The name without the sequence number.
std::string format_ranked(std::string_view guid, std::uint8_t kind, std::int32_t priority);

/// The name or path of a contender's record.
std::string record_of(std::string_view contender);

/// Parses the parent's data.
std::optional<std::int32_t> parse_ageing(std::string_view data) noexcept;

/// A listing of contenders with their records.
struct ranked_listing {
    std::vector<ranked_place> places;
    std::vector<std::string> contenders;  ///< the names, for each place
    std::vector<bool> waiting;            ///< whether the contender's own node exists

    /// The node that exists as long as this place blocks others.
    std::string blocking_node(std::size_t place) const;

    std::optional<std::size_t> find(std::string_view contender) const noexcept;
};

/// @param origin a nearby sequence number, to resolve wrap-around
ranked_listing sort_out(const std::vector<std::string_view>& names, std::int32_t origin);

}  // namespace corozk::detail
