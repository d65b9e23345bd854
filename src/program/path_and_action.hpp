// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "option_types.hpp"

#include <string>
#include <vector>

namespace corozk::program {

/// The two words of `queue put PATH`, which may as well be said as `queue PATH put`: a path begins
/// with a slash.
class path_and_action {
public:
    path_and_action(std::string command, std::vector<std::string> actions)
        : command_(std::move(command)), actions_(std::move(actions)) {}

    void describe(CLI::App& app);

    /// Tells them apart; throws bad_word.
    void check();

    const std::string& path() const noexcept { return path_; }
    const std::string& action() const noexcept { return action_; }

    /// The words behind these two.
    const std::vector<std::string>& rest() const noexcept { return rest_; }

private:
    std::string command_;
    std::vector<std::string> actions_;
    std::string first_;
    std::string second_;
    std::string action_;
    std::string path_;
    std::vector<std::string> rest_;
};

}  // namespace corozk::program
