// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rules.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace corozk::schedule {

using choice_list = std::vector<std::size_t>;

/// "2", or "cut+expire".
std::string text_of_faults(const rules& how);
/// @throws std::invalid_argument
void read_faults(const std::string& text, rules& how);

/// What is needed to play a schedule again, as text.
struct schedule_id {
    std::string scenario;
    rules how;
    choice_list choices;

    std::string text() const;
    /// @throws std::invalid_argument
    static schedule_id parse(const std::string& text);
};

}  // namespace corozk::schedule
