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
/// wraps around to "-2147483648" (ZOOKEEPER-4372). Only in the server's format.
std::optional<std::int32_t> parse_sequence(std::string_view digits) noexcept;

/// Appends it in the server's format.
void append_sequence(std::string& name, std::int32_t sequence);

/// The difference of two sequences, across the wrap-around.
constexpr std::int64_t sequence_distance(std::int32_t from, std::int32_t to) noexcept {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(to) -
                                     static_cast<std::uint32_t>(from));
}

inline constexpr std::size_t guid_digits = 32;

/// Whether this is a guid in this library's format: lower case, without dashes.
bool is_guid(std::string_view text) noexcept;

/// A parsed name of a contender.
struct node_name {
    std::string_view guid;  ///< empty if there is none
    std::string_view stem;  ///< without the sequence
    std::uint8_t kind = 0;  ///< an index into `naming::infixes`
    std::int32_t sequence = 0;
    std::int32_t weight = 1;
    bool ordered = true;  ///< has a sequence
};

/// The format of the contenders' names: a prefix, the guid, a text that depends on the kind, and
/// the sequence. On the recipes page "<guid>-lock-<sequence>".
struct naming {
    naming() = default;
    naming(std::string before_guid_, std::vector<std::string> infixes_)
        : before_guid(std::move(before_guid_)), infixes(std::move(infixes_)) {}

    std::string before_guid;
    std::vector<std::string> infixes;

    /// Write the guid as Curator does (8-4-4-4-12); both are accepted when parsing.
    bool dashed_guid = false;

    /// A weight other than 1 is inserted before the last character of the infix, as in "-lease3-".
    bool weighted = false;

    /// For each kind, the text before the sequence in names of other libraries without a guid.
    /// Empty strings match nothing.
    std::vector<std::string> foreign_infixes;

    /// All other names count as contenders of the first kind, ahead of those with a sequence: for
    /// parents whose children are counted by other libraries regardless of their names.
    bool counts_everything = false;

    /// The name without the sequence.
    std::string format(std::string_view guid, std::uint8_t kind, std::int32_t weight = 1) const;

    /// Whether `text` is the guid in the format of names.
    bool is_written(std::string_view guid, std::string_view text) const noexcept;

    /// Nothing for other names.
    std::optional<node_name> parse(std::string_view name) const noexcept;

    friend bool operator==(const naming&, const naming&) = default;

private:
    /// Removes the text between guid and sequence from the front.
    bool take_infix(std::string_view& text,
                    std::string_view infix,
                    std::int32_t& weight) const noexcept;
};

}  // namespace corozk::detail
