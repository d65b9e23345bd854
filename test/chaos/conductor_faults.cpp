// SPDX-License-Identifier: Apache-2.0
// Which fault comes next, and when it is over.
#include "conductor.hpp"

#include <utility>

namespace corozk::chaos {

const std::vector<conductor::fault_kind>& conductor::fault_kinds() {
    static const std::vector<fault_kind> all = {
        {"server killed", 3, &conductor::kill_server},
        {"server stopped", 3, &conductor::stop_servers},
        {"server's disk slow", 3, &conductor::slow_disk},
        {"server cut off from the others", 3, &conductor::cut_off_server},
        {"client killed", 7, &conductor::kill_client},
        {"client stopped", 13, &conductor::stop_client},
        {owner_stopped, 4, &conductor::stop_next_owner},
        {"connections cut", 9, &conductor::cut_connections},
        {"network: one direction lost", 9, &conductor::lose_direction},
        {"network: delay", 9, &conductor::delay_network},
        {"network: partition", 9, &conductor::part_network},
        {"client's clock jumped ahead", 12, &conductor::jump_ahead},
        {"client's wall clock jumped", 12, &conductor::jump_wall_clock},
    };
    return all;
}

std::vector<int> conductor::weights() {
    std::vector<int> all;
    for (const fault_kind& kind : fault_kinds())
        all.push_back(kind.weight);
    return all;
}

void conductor::fault() {
    deck_.deal([this](std::size_t card) {
        const fault_kind& kind = fault_kinds()[card];
        return (this->*kind.happen)(kind.name);
    });
}

void conductor::begin(const std::string& what, milliseconds length, std::function<void()> undo) {
    ++faults_[what];
    resource_.begin_of(what);
    later(length, [this, what, undo = std::move(undo)] {
        resource_.end_of(what);
        if (undo)
            undo();
    });
}

void conductor::later(milliseconds in, std::function<void()> undo) {
    undone_.emplace(clock::now() + in, std::move(undo));
}

void conductor::run_undone(bool all) {
    while (!undone_.empty() && (all || undone_.begin()->first <= clock::now())) {
        auto undo = std::move(undone_.begin()->second);
        undone_.erase(undone_.begin());
        undo();
    }
}

conductor::milliseconds conductor::between(milliseconds least, milliseconds most) {
    std::uniform_int_distribution<milliseconds::rep> any(least.count(), most.count());
    return milliseconds(any(random_));
}

std::size_t conductor::one_of(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
}

}  // namespace corozk::chaos
