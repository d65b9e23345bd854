// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <array>

namespace corozk::program {

std::span<const command_entry> all_commands() {
    constexpr const char* run = "PATH -- COMMAND [ARGUMENT...]";
    static constexpr std::array commands{
        command_entry{"lock", run, "run a command under a lock", make_lock},
        command_entry{"elect", run, "run a command while being the leader", make_elect},
        command_entry{"semaphore",
                      "--limit N PATH -- COMMAND [ARGUMENT...]",
                      "run a command with some of a limited number of permits",
                      make_semaphore},
        command_entry{"barrier",
                      "set|remove|status|wait|enter PATH [-- COMMAND...]",
                      "hold others back, wait, or begin and end together",
                      make_barrier},
        command_entry{"queue",
                      "put|take|consume|peek|size PATH [ITEM...] [-- COMMAND...]",
                      "put items into a queue, take them, or work on them",
                      make_queue},
        command_entry{"config",
                      "get|publish|watch PATH [VALUE | NAME=VALUE...] [-- VALUE...]",
                      "read, publish or watch a configuration",
                      make_config},
        command_entry{"contenders", "PATH", "show who holds and who waits", make_contenders},
        command_entry{
            "break", "NODE | --holder PATH", "take a lock away from its holder", make_break},
        command_entry{
            "deadlocks", "PATH...", "find clients that wait for each other", make_deadlocks},
        command_entry{"tree", "[PATH]", "show the znodes below a path", make_tree},
    };
    return commands;
}

}  // namespace corozk::program
