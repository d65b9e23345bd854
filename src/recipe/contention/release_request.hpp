// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/user_call.hpp"
#include "recipe/contention/contention_settings.hpp"
#include <corozk/time_limit.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace corozk::detail {

/// Whether a node's data asks its owner to release: the text alone, or as its last line.
bool has_release_request(std::string_view data, std::string_view text) noexcept;

/// The data with the request. What the owner wrote stays in front of it, unless the request
/// replaces it.
std::string with_release_request(std::string_view data,
                                 std::string_view text,
                                 bool replaces = false);

/// What the owner wrote.
std::string_view without_release_request(std::string_view data, std::string_view text) noexcept;

/// Asks the owner of a contender's node to release it.
task<> ask_for_release(port& p, contention_settings settings, std::string path, user_call<> call);

/// The same, waits until it is gone, and erases it if that takes longer than the grace time.
/// Completes with whether that was necessary.
task<> insist_on_release(port& p,
                         contention_settings settings,
                         std::string path,
                         time_limit grace,
                         user_call<bool> call);

}  // namespace corozk::detail
