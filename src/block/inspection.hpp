// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/recipe/contender_info.hpp>
#include <memory>
#include <string>
#include <vector>

#include "block/line.hpp"

namespace corozk::detail {

/// Lists who holds and who waits, in order, with what each waits for. `kinds` are the words for the
/// kinds of the naming.
task<> list_contenders(port& p,
                       line_settings settings,
                       std::vector<std::string> kinds,
                       user_call<std::vector<contender_info>> call);

/// Erases a contender's node, whoever owns it.
task<> break_contender(port& p, line_settings settings, std::string path, user_call<> call);

}  // namespace corozk::detail
