// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.hpp"

#include <map>

namespace corozk::program {

/// The command line.
class application {
public:
    application();

    /// Parses the arguments, and reads what the command needs from standard input.
    /// @throws CLI::ParseError, also for --help
    void parse(std::vector<std::string> words);

    /// Parses arguments that may be incomplete, for the options of all commands.
    void parse_for_completion(std::vector<std::string> words);

    const settings& options() const noexcept { return settings_; }
    const CLI::App& app() const noexcept { return app_; }

    /// The command that was named.
    command& selected() const { return *commands_.at(app_.get_subcommands().front()); }

private:
    void add_settings();
    void read_credentials();
    void check_command_line() const;
    void check_tls() const;

    CLI::App app_;
    settings settings_;
    std::map<const CLI::App*, std::unique_ptr<command>> commands_;
};

/// The candidates for the last of these words: `corozk --complete WORD...`, for shells. Asks the
/// servers for paths.
std::vector<std::string> complete(application& known, const std::vector<std::string>& words);

/// The manual page in the format of man(7), generated from the help of all commands.
std::string manual(const CLI::App& app);

/// Overwrites credentials among a process's arguments, which all users of the machine can read.
void hide_credentials(int argc, char** argv);

}  // namespace corozk::program
