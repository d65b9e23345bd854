// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "awaiting.hpp"
#include "exit_code.hpp"
#include "interruption.hpp"
#include "option_types.hpp"
#include "output.hpp"
#include "settings.hpp"
#include "wait_options.hpp"
#include <corozk/client.hpp>

#include <fmt/format.h>

#include <memory>
#include <span>

namespace corozk::program {

/// What a command works with.
struct command_context {
    client& zk;
    const settings& options;
    interruption& interrupts;
    output out{options.json};
};

/// Whether a command takes words after "--".
enum class command_line { none, optional, required };

/// One command of the program, such as `lock`. Its constructor adds its options, its arguments, and
/// the text below its help.
class command {
public:
    virtual ~command() = default;

    virtual command_line takes_command() const { return command_line::none; }

    /// Checks the arguments together, and reads standard input if it is one of them: before there is
    /// a session to keep alive, and while signals still have their usual effect.
    /// @throws usage_error
    virtual void check(const settings&) {}

    /// @return the exit code
    virtual asio::awaitable<int> run(command_context& context) = 0;

    /// How long connecting may take at most.
    std::optional<std::chrono::milliseconds> patience() const { return wait_.patience(); }

protected:
    wait_options wait_;
};

struct command_entry {
    const char* name;
    const char* arguments;
    const char* summary;
    std::unique_ptr<command> (*make)(CLI::App&);
};

/// All commands, in the order of the help.
std::span<const command_entry> all_commands();

std::unique_ptr<command> make_lock(CLI::App& app);
std::unique_ptr<command> make_elect(CLI::App& app);
std::unique_ptr<command> make_semaphore(CLI::App& app);
std::unique_ptr<command> make_barrier(CLI::App& app);
std::unique_ptr<command> make_queue(CLI::App& app);
std::unique_ptr<command> make_config(CLI::App& app);
std::unique_ptr<command> make_contenders(CLI::App& app);
std::unique_ptr<command> make_break(CLI::App& app);
std::unique_ptr<command> make_deadlocks(CLI::App& app);
std::unique_ptr<command> make_tree(CLI::App& app);

}  // namespace corozk::program
