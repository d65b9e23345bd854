// SPDX-License-Identifier: Apache-2.0
#include "path_and_action.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace corozk::program {

void path_and_action::describe(CLI::App& app) {
    app.add_option("ACTION", first_, fmt::format("{}", fmt::join(actions_, ", ")))->required();
    app.add_option("PATH", second_, "the folder of the recipe")->required();
    app.add_option("WORDS", rest_, "what the action needs; see below");
}

void path_and_action::check() {
    action_ = first_;
    path_ = second_;
    if (action_.starts_with('/'))
        std::swap(action_, path_);
    if (std::find(actions_.begin(), actions_.end(), action_) == actions_.end()) {
        throw bad_word(fmt::format("corozk {} does not know '{}'; it knows {}",
                                   command_,
                                   action_,
                                   fmt::join(actions_, ", ")));
    }
    check_path(path_);
}

}  // namespace corozk::program
