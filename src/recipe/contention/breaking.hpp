// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/task.hpp"
#include "driver/user_call.hpp"
#include "recipe/contention/contention_settings.hpp"

#include <string>

namespace corozk::detail {

/// Deletes a contender's node, and then its record.
/// @return `no_node` if neither exists
task<error_code> erase_contender(port& p, const contention_settings& settings, std::string path);

/// Deletes a contender's node, regardless of its owner.
task<> break_contender(port& p, contention_settings settings, std::string path, user_call<> call);

}  // namespace corozk::detail
