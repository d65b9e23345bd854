// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <array>

namespace corozk::program {

std::span<const command_entry> all_commands() {
    static constexpr std::array commands{
        command_entry{"lock", "run a command under a lock", make_lock},
        command_entry{"elect", "run a command while being the leader", make_elect},
        command_entry{
            "semaphore", "run a command with some of a limited number of permits", make_semaphore},
        command_entry{"barrier", "hold others back, wait, or begin and end together", make_barrier},
        command_entry{"queue", "put items into a queue, take them, or work on them", make_queue},
        command_entry{"config", "read, publish or follow a configuration", make_config},
        command_entry{"contenders", "show who holds and who waits", make_contenders},
        command_entry{"break", "take away what somebody holds or waits for", make_break},
        command_entry{"deadlocks", "find those who wait for each other", make_deadlocks},
        command_entry{"tree", "show the nodes below a path", make_tree},
    };
    return commands;
}

}  // namespace corozk::program
