// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "option_types.hpp"
#include "settings.hpp"

namespace corozk::program {

/// The arguments of commands like `queue put PATH ITEM...`. Action and path may change places: a
/// path begins with a slash.
class path_and_action {
public:
    /// @param taking_words the action that takes more words
    path_and_action(CLI::App& app,
                    std::vector<std::string> actions,
                    std::string taking_words = std::string());

    const std::string& path() const noexcept { return path_; }
    bool is(std::string_view action) const noexcept { return action_ == action; }

    /// The words behind these two, before and after "--".
    std::vector<std::string> words(const settings& s) const;

private:
    void check();

    std::vector<std::string> actions_;
    std::string taking_words_;
    std::string action_;
    std::string path_;
    std::vector<std::string> words_;
};

}  // namespace corozk::program
