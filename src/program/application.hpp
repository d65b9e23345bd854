// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.hpp"
#include "option_types.hpp"
#include "settings.hpp"

#include <memory>
#include <string>
#include <vector>

namespace corozk::program {

/// The command line: what there is to say, and what was said.
class application {
public:
    application();

    /// Reads the words. @throws CLI::ParseError (also for --help), bad_word
    void parse(std::vector<std::string> words);

    const settings& options() const noexcept { return settings_; }

    /// What the environment says, where the words do not. @throws bad_word
    void read_environment();

    /// The command that was named.
    command& selected() const;

    const CLI::App& app() const noexcept { return app_; }
    CLI::App& app() noexcept { return app_; }

private:
    void add_settings();
    void check_command_line() const;

    CLI::App app_;
    settings settings_;
    std::vector<std::pair<CLI::App*, std::unique_ptr<command>>> commands_;
};

/// Overwrites credentials among a process's arguments, which everybody on the machine can read.
void hide_credentials(int argc, char** argv);

}  // namespace corozk::program
