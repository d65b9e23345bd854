// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/compatibility.hpp>
#include <corozk/error.hpp>
#include <corozk/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::detail {

// The counter's rule. Beside the value, the node contains a revision that is incremented by each
// update, and for each writer the number of its last update and the resulting revision:
//
//     <value> <identity> <revision> <forgotten> [<writer>:<operation>:<revision> ...]
//
// An update is a conditional set: it creates the revision after the one it was computed from, or
// fails. A writer has one update in flight at a time. Hence, after its response was lost:
//   - same revision and version of the node: not applied (yet). The identical request may be sent
//     again, as at most one of the two can match the version.
//   - later revision, and the writer's entry has the number of the operation: applied, regardless
//     of later updates by others.
//   - later revision, and the entry has a lower number, or is missing: not applied, if the version of the
//     node has advanced by as much as the revision.
// As the table is bounded, the entry of the lowest revision is dropped first, and `forgotten` is
// the highest revision ever dropped: a missing entry is conclusive only for revisions above it.
// Otherwise the outcome is unknown, which requires that as many other writers as the table has
// entries have written before the node is read. It is also unknown if the node was re-created,
// which changes its identity, or an older text restored: its revision is not later, or has advanced
// by less than the version of the node.
//
// The formats of Curator and Kazoo have no room for this: the outcome is known only if the node's
// version has not changed, or has changed once and to a different value.

struct counter_writer {
    std::string name;
    std::uint64_t operation = 0;
    std::uint64_t revision = 0;
};

/// The format of a counter's node.
enum class counter_format : std::uint8_t {
    native,
    curator_long,     ///< 8 bytes, big endian
    curator_integer,  ///< 4 bytes, big endian
    kazoo,            ///< decimal text
};

/// Nothing if there is no such format.
std::optional<counter_format> format_of(compatibility whose, unsigned bits) noexcept;

/// The node's content; only the value in formats other than `native`.
struct counter_record {
    std::int64_t value = 0;
    std::string identity;
    std::uint64_t revision = 0;
    std::uint64_t forgotten = 0;
    std::vector<counter_writer> writers;
};

/// Nothing if the data was not written in this format.
std::optional<counter_record> parse_counter(counter_format format, std::string_view data);

std::string print_counter(counter_format format, const counter_record& record);

bool fits(counter_format format, std::int64_t value) noexcept;

/// The record after a writer's update.
counter_record advance(const counter_record& base,
                       std::int64_t value,
                       std::string_view writer,
                       std::uint64_t operation,
                       std::size_t remembered_writers);

// Writers that compete take turns, in the order in which the record shows that they wrote last. The one
// whose turn it is knows what it wrote, so that each of its updates is a single conditional set; the
// read and the set of another one cannot come in between. After `longest_turn` updates it waits until
// all others have had theirs. This is only about when to try: it is the version that decides.

/// The number of updates in a row that a writer makes while others want to.
inline constexpr std::uint64_t longest_turn = 16;

/// Whether writers other than this one have had a turn lately.
bool has_rivals(const counter_record& record, std::string_view writer);

/// Whether a writer should try now.
struct counter_turn {
    bool now = true;
    unsigned pause = 0;  ///< otherwise: the round trips until it should read the record again
};

/// @param lost     whether it has lost a race, or has waited, since its last update
/// @param patient  whether one that is not in the record, as many others may be, lets another turn pass
counter_turn turn_of(const counter_record& record,
                     std::string_view writer,
                     bool lost,
                     bool patient);

/// An update whose response was lost.
struct counter_attempt {
    counter_record base;
    counter_record result;
    corozk::stat stat;  ///< of `base`
    std::string writer;
    std::uint64_t operation = 0;
};

enum class counter_verdict {
    applied,
    pending,      ///< not applied yet: send the identical request again
    not_applied,  ///< and will not be
    unknown,
};

counter_verdict judge(counter_format format,
                      const counter_attempt& attempt,
                      const counter_record& seen,
                      const corozk::stat& stat);

enum class counter_operation : std::uint8_t { read, add, exchange, compare_and_set };

/// The effect of an operation on a value.
struct counter_step {
    error_code error;
    bool applied = false;    ///< an update, even if the value remains the same
    bool changed = false;    ///< `after` must be written
    bool exchanged = false;  ///< of compare_and_set: the value was the expected one
    std::int64_t before = 0;
    std::int64_t after = 0;
};

counter_step apply(counter_format format,
                   counter_operation operation,
                   std::int64_t value,
                   std::int64_t operand,
                   std::int64_t expected);

/// A set at version -2 would result in version -1, which cannot be used as a condition. The node is
/// replaced instead, and versions restart at 0.
constexpr bool must_replace(std::int32_t version) noexcept {
    return version == -2;
}

}  // namespace corozk::detail
