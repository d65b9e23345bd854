// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace corozk::detail {

/// Why a path is invalid, for a log message ("is relative: begin it with '/'"), or null if it is
/// valid. `sequential`: the server will append digits, so a trailing slash is allowed.
const char* path_problem(std::string_view path, bool sequential = false) noexcept;

bool is_node_name(std::string_view name) noexcept;

/// For messages: control characters and bytes that are not UTF-8 become '?'.
std::string printable(std::string_view text);

/// "/a/b" and "c" make "/a/b/c"; "/" and "c" make "/c".
std::string join_path(std::string_view parent, std::string_view name);

/// "/a/b/c" gives "/a/b"; "/a" gives "/"; "/" gives "".
std::string_view parent_path(std::string_view path) noexcept;

/// "/a/b/c" gives "c".
std::string_view base_name(std::string_view path) noexcept;

/// "/a" is at or below "/a", and so is "/a/b", but not "/ab".
bool is_at_or_below(std::string_view path, std::string_view ancestor) noexcept;

}  // namespace corozk::detail
