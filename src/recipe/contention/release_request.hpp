// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/user_call.hpp"
#include "recipe/contention/contention_settings.hpp"
#include <corozk/time_limit.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace corozk::detail {

/// Whether a node's data contains a release request: as its only or last line.
bool has_release_request(std::string_view data, std::string_view text) noexcept;

/// The data with the request, which is appended to or replaces the owner's data.
std::string with_release_request(std::string_view data,
                                 std::string_view text,
                                 bool replaces = false);

/// The owner's data. That of the create, version 0, contains no request, whatever it looks like.
std::string_view without_release_request(std::string_view data,
                                         std::string_view text,
                                         std::int32_t version) noexcept;

/// Requests the owner of a contender's node to release.
/// @param patient also during long outages
task<> ask_for_release(
    port& p, contention_settings settings, std::string path, bool patient, user_call<> call);

/// Same as above, then waits for the deletion of the node, and deletes it after the grace period.
/// Completes with whether that was necessary.
task<> insist_on_release(port& p,
                         contention_settings settings,
                         std::string path,
                         time_limit grace,
                         user_call<bool> call);

}  // namespace corozk::detail
