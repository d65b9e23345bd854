// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interruption.hpp"
#include "output.hpp"
#include "settings.hpp"
#include <corozk/client.hpp>

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace CLI {
class App;
}

namespace corozk::program {

/// What a command works with.
struct surroundings {
    surroundings(client& zk_, const settings& options_, interruption& interrupts_)
        : zk(zk_), options(options_), interrupts(interrupts_), out(options_.json) {}

    client& zk;
    const settings& options;
    interruption& interrupts;
    output out;
};

/// How a command treats what stands behind "--".
enum class command_line { none, optional, required };

/// One command of the program, such as `lock`.
class command {
public:
    virtual ~command() = default;

    /// What stands behind the options, such as "PATH -- COMMAND [ARGUMENT...]".
    virtual std::string synopsis() const = 0;

    /// Adds its options, its words, and the text below its help.
    virtual void describe(CLI::App& app) = 0;

    /// What is wrong with the words together; throws bad_word.
    virtual void check(const settings&) {}

    /// Reads what it takes from standard input: before there is a session that would have to live
    /// meanwhile, and while signals still have their usual effect.
    virtual void read_input(const settings&) {}

    /// How long connecting may take at most.
    virtual std::optional<std::chrono::milliseconds> patience() const { return std::nullopt; }

    virtual command_line takes_command() const { return command_line::none; }

    /// @return the exit code.
    virtual boost::asio::awaitable<int> run(surroundings& here) = 0;
};

struct command_entry {
    const char* name;
    const char* summary;
    std::unique_ptr<command> (*make)();
};

/// Every command that there is.
std::span<const command_entry> all_commands();

std::unique_ptr<command> make_lock();
std::unique_ptr<command> make_elect();
std::unique_ptr<command> make_semaphore();
std::unique_ptr<command> make_barrier();
std::unique_ptr<command> make_queue();
std::unique_ptr<command> make_config();
std::unique_ptr<command> make_contenders();
std::unique_ptr<command> make_break();
std::unique_ptr<command> make_deadlocks();
std::unique_ptr<command> make_tree();

}  // namespace corozk::program
