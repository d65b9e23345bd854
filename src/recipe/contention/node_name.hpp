// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::detail {

/// The counter at the end of a sequential node's name: "%010d" of a signed 32-bit number, which
/// wraps around to "-2147483648" (ZOOKEEPER-4372). Only what the server writes is taken for one.
std::optional<std::int32_t> parse_sequence(std::string_view digits) noexcept;

/// The sequence of another node relative to one: right across the wrap-around.
constexpr std::int64_t sequence_distance(std::int32_t from, std::int32_t to) noexcept {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(to) -
                                     static_cast<std::uint32_t>(from));
}

inline constexpr std::size_t guid_digits = 32;

/// Whether this is a guid as we make them: with small letters, and nothing between.
bool is_guid(std::string_view text) noexcept;

/// A contender's name taken apart.
struct node_name {
    std::string_view guid;  ///< empty if the name has none
    std::string_view stem;  ///< all but the sequence
    std::uint8_t kind = 0;  ///< an index into `naming::infixes`
    std::int32_t sequence = 0;
    std::int32_t weight = 1;
    bool ordered = true;  ///< it has a sequence
};

/// How the contenders of a recipe are named: before the guid, then by kind what stands between guid
/// and sequence. The recipes page has "<guid>-lock-<sequence>".
struct naming {
    naming() = default;
    naming(std::string before_guid_, std::vector<std::string> infixes_)
        : before_guid(std::move(before_guid_)), infixes(std::move(infixes_)) {}

    std::string before_guid;
    std::vector<std::string> infixes;

    /// Write the guid as Curator does (8-4-4-4-12); the reading accepts both.
    bool dashed_guid = false;

    /// A weight other than 1 stands before the last character of the infix, as in "-lease3-".
    bool weighted = false;

    /// Other programs' names that count as a kind although they bring no guid of ours, by kind:
    /// what stands right before the sequence. Empty strings match nothing.
    std::vector<std::string> foreign_infixes;

    /// Every other name is a contender's, too, of the first kind and ahead of all that have a
    /// sequence: for folders in which other programs count the children, whatever their names.
    bool counts_everything = false;

    /// The name to create; the server appends the sequence.
    std::string format(std::string_view guid, std::uint8_t kind, std::int32_t weight = 1) const;

    /// Whether this is how the guid is written in a name.
    bool is_written(std::string_view guid, std::string_view text) const noexcept;

    /// Nothing, if it is not a contender's name.
    std::optional<node_name> parse(std::string_view name) const noexcept;

private:
    /// Takes what is between guid and sequence off the front of a text.
    bool take_infix(std::string_view& text,
                    std::string_view infix,
                    std::int32_t& weight) const noexcept;
};

}  // namespace corozk::detail
