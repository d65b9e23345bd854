// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/transaction.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::detail {

enum class configuration_layout : std::uint8_t { ready, versioned };

// The rules of the two layouts.
//
// ready      <path>/ready, <path>/writer, <path>/<part>. Who may write is who created `writer`, an
//            ephemeral node with his guid; the same transaction takes `ready` away, or, if there
//            seemed to be none, the first that changes parts. Each request that changes parts
//            checks `writer`. The last transaction creates `ready` and erases `writer`; it is not
//            repeated before it is known that `writer` is still his. So while `ready` exists nothing
//            changes, and each version has a `ready` of its own: what was read between two looks at
//            the same `ready` (czxid) is one version.
//            Neither `ready` nor `writer`, but parts: a writer died. One that gives up before it has
//            changed any part creates `ready` again.
// versioned  <path>/current -> <path>/versions/<number>-<guid>/<part>. A folder is complete before
//            `current` names it, and is not changed afterwards. `current` is switched at the
//            version that its writer saw when he began, so that of two writers one fails. While a
//            folder is being written it has a child `.writer`, ephemeral: a folder that has none
//            and that `current` does not name is old, or was left by a dead writer: it is erased in
//            transactions that begin with a check that `current` is still as it was when that was found
//            out. But for its `.writer` nothing is ever erased in a version that is complete.

inline constexpr std::string_view ready_name = "ready";
inline constexpr std::string_view writer_name = "writer";
inline constexpr std::string_view folder_writer_name = ".writer";

bool good_part_name(configuration_layout layout, std::string_view name) noexcept;

/// "0000000012-<guid>".
std::string version_name(std::uint64_t number, std::string_view guid);

/// The number of a version's folder; nothing if the name is no version's.
std::optional<std::uint64_t> version_number(std::string_view name) noexcept;

/// How many children a node has lost since it was made: `cversion` counts who comes and who goes.
std::int64_t erased_children(const stat& node) noexcept;

/// The steps cut into requests that fit.
std::vector<std::vector<transaction::step>> cut_into_requests(std::vector<transaction::step> steps,
                                                              std::size_t max_bytes);

/// The folders that are not needed any more, `in_use` being those that somebody is writing.
std::vector<std::string> outdated_versions(std::vector<std::string> versions,
                                           std::string_view current,
                                           const std::vector<std::string>& in_use,
                                           std::size_t keep);

}  // namespace corozk::detail
