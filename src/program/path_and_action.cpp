// SPDX-License-Identifier: Apache-2.0
#include "path_and_action.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace corozk::program {

path_and_action::path_and_action(CLI::App& app,
                                 std::vector<std::string> actions,
                                 std::string taking_words)
    : actions_(std::move(actions)), taking_words_(std::move(taking_words)) {
    app.add_option("ACTION", action_, fmt::format("{}", fmt::join(actions_, ", ")))->required();
    app.add_option("PATH", path_, "the recipe's parent znode")->required();
    app.add_option("WORDS", words_, "what the action needs; see below");
    app.final_callback([this] { check(); });
}

void path_and_action::check() {
    if (action_.starts_with('/'))
        std::swap(action_, path_);
    if (std::find(actions_.begin(), actions_.end(), action_) == actions_.end())
        throw usage_error(fmt::format(
            "there is no action '{}'; the actions are {}", action_, fmt::join(actions_, ", ")));
    check_path(path_);
    if (!words_.empty() && action_ != taking_words_)
        throw usage_error(fmt::format("unexpected argument '{}'", words_.front()));
}

std::vector<std::string> path_and_action::words(const settings& s) const {
    std::vector<std::string> result = words_;
    result.insert(result.end(), s.command.begin(), s.command.end());
    return result;
}

}  // namespace corozk::program
