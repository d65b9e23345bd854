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
// ready      <path>/ready, <path>/writer, <path>/<part>. The writer is the client that created
//            `writer`, an ephemeral node with its guid. The same transaction deletes `ready` or, if
//            there seemed to be none, the first one that changes parts. Each request that changes
//            parts checks `writer`. The last transaction creates `ready` and deletes `writer`; it
//            is repeated only if `writer` is known to exist still. So nothing changes while `ready`
//            exists, and each version has its own `ready`: data read between two reads of the same
//            `ready` (czxid) is of one version.
//            If there are parts, but neither `ready` nor `writer`, a writer died. A writer that
//            gives up before it has changed any part creates `ready` again.
// versioned  <path>/current -> <path>/versions/<number>-<guid>/<part>. A version is complete before
//            `current` names it, and is not changed afterwards. `current` is set at the version
//            that was read when the writer started, so that only one of two writers succeeds. While
//            a version is being written it has an ephemeral child `.writer`. Versions without one,
//            except the current one, are old or remnants of a dead writer: they are deleted by
//            transactions that check that `current` has not changed since it was read. Of a
//            complete version that is not outdated only `.writer` is ever deleted.

inline constexpr std::string_view ready_name = "ready";
inline constexpr std::string_view writer_name = "writer";
inline constexpr std::string_view version_writer_name = ".writer";

bool good_part_name(configuration_layout layout, std::string_view name) noexcept;

/// "0000000012-<guid>".
std::string version_name(std::uint64_t number, std::string_view guid);

/// The number of a version; nothing for other names.
std::optional<std::uint64_t> version_number(std::string_view name) noexcept;

/// Number of deleted children since the node's creation: `cversion` counts creations and deletions.
std::int64_t erased_children(const stat& node) noexcept;

/// How many of these nodes, from `begin` on, one request can read (at least one): each may be as
/// large as a request, and the response must not exceed what a client accepts.
std::size_t readable_at_once(const std::vector<std::string>& names,
                             std::size_t begin,
                             std::string_view parent,
                             std::size_t max_request_size) noexcept;

/// Splits steps into requests that do not exceed the maximum size.
std::vector<std::vector<transaction::step>> cut_into_requests(std::vector<transaction::step> steps,
                                                              std::size_t max_bytes);

/// The versions to delete; `in_use` are those being written. `keep` counts what may have been current
/// before: not remnants whose number is not below that of the current version.
std::vector<std::string> outdated_versions(std::vector<std::string> versions,
                                           std::string_view current,
                                           const std::vector<std::string>& in_use,
                                           std::size_t keep);

}  // namespace corozk::detail
