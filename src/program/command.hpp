// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "awaiting.hpp"
#include "interruption.hpp"
#include "options.hpp"
#include "output.hpp"
#include <corozk/client.hpp>

#include <fmt/format.h>

#include <memory>

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

template <class Command>
std::unique_ptr<command> make_command(CLI::App& app) {
    return std::make_unique<Command>(app);
}

/// What the help says of a command.
struct command_entry {
    const char* name;
    const char* arguments;
    const char* summary;
    std::unique_ptr<command> (*make)(CLI::App&);
};

extern const command_entry lock_entry, elect_entry, semaphore_entry, barrier_entry, queue_entry,
    config_entry, discover_entry, contenders_entry, top_entry, break_entry, deadlocks_entry,
    tree_entry, get_entry, put_entry, rm_entry, wait_for_entry, watch_entry;

}  // namespace corozk::program
