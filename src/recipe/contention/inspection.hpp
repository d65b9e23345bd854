// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/request.hpp"
#include "recipe/contention/contention_settings.hpp"
#include "recipe/toolkit/node_view.hpp"
#include <corozk/contender_info.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace corozk::detail {

/// A queue at the server.
struct contention_survey {
    std::vector<contender_info> contenders;
    std::int32_t limit = 0;  ///< if the queue has one
};

/// What a contender's node says, except for its name.
contender_info info_of(std::string_view name,
                       const node_view& node,
                       const contention_settings& settings);

task<error_code> survey(port& p,
                        const contention_settings& settings,
                        const std::vector<std::string>& kinds,
                        contention_survey& found);

}  // namespace corozk::detail
