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

// The counter's rule. The node holds, beside the value, a revision that grows by one with each
// update, and for each writer the number of its last update and the revision that this made:
//
//     <value> <identity> <revision> <forgotten> [<writer>:<operation>:<revision> ...]
//
// An update is a conditional set, so that it makes exactly the revision after the one it was
// computed from, or none. A writer has one update on its way at a time. Hence, when its answer was
// lost:
//   - the revision is still the old one: not applied (yet), and the identical request may be sent
//     again, since at most one of the two can match the version;
//   - it is a later one, and the writer's entry has the operation's number: applied, however many
//     others wrote since;
//   - it is a later one, and the entry has a lower number, or is missing: not applied;
// except that the table is bounded. The entry of the lowest revision is dropped first, and
// `forgotten` is the highest revision ever dropped: a missing entry proves something only if the
// revision in question is above it. Below it the outcome is unknown, and is reported so. That takes
// as many other writers as the table has places, all of them between the lost answer and our look.
// A node that was deleted and created again has another identity: unknown, too.
//
// The formats of Curator and Kazoo have no room for this. There an outcome is known only if the
// node's version did not change, or changed once and to another value than ours.

struct counter_writer {
    std::string name;
    std::uint64_t operation = 0;
    std::uint64_t revision = 0;
};

/// How a counter's node looks.
enum class counter_format : std::uint8_t {
    native,
    curator_long,     ///< 8 bytes, big endian
    curator_integer,  ///< 4 bytes, big endian
    kazoo,            ///< decimal text
};

/// Nothing if there is no such format.
std::optional<counter_format> format_of(compatibility whose, unsigned bits) noexcept;

/// What the node holds. In the foreign formats only the value.
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

/// How many others have written lately.
unsigned rivals_of(const counter_record& record, std::string_view writer) noexcept;

/// An update whose answer was lost.
struct counter_attempt {
    counter_record base;
    counter_record result;
    corozk::stat stat;  ///< of the base
    std::string writer;
    std::uint64_t operation = 0;
};

enum class counter_verdict {
    applied,
    pending,      ///< not applied: the identical request may be sent again
    not_applied,  ///< and never will be
    unknown,
};

counter_verdict judge(counter_format format,
                      const counter_attempt& attempt,
                      const counter_record& seen,
                      const corozk::stat& stat);

enum class counter_operation : std::uint8_t { read, add, exchange, compare_and_set };

/// What one operation does to a value.
struct counter_step {
    error_code error;
    bool applied = false;    ///< it is a change, if only to the value that is there
    bool changed = false;    ///< `after` is to be written
    bool exchanged = false;  ///< of compare_and_set: it was the expected value
    std::int64_t before = 0;
    std::int64_t after = 0;
};

counter_step apply(counter_format format,
                   counter_operation operation,
                   std::int64_t value,
                   std::int64_t operand,
                   std::int64_t expected);

/// A set at version -2 would make the version -1, which a condition cannot name: the node is
/// replaced then, which starts at version 0.
constexpr bool must_replace(std::int32_t version) noexcept {
    return version == -2;
}

}  // namespace corozk::detail
