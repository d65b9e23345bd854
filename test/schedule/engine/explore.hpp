// SPDX-License-Identifier: Apache-2.0
// Which schedules are played: all of them, random ones, or one again.
#pragma once

#include "schedule_id.hpp"
#include "stage.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace corozk::schedule {

struct failure {
    schedule_id which;
    std::optional<std::uint64_t> seed;  ///< of a random one
    std::vector<std::string> violations;
};

struct result {
    std::string scenario;
    std::uint64_t schedules = 0;
    std::uint64_t states = 0;  ///< of an exhaustive exploration
    std::uint64_t moves = 0;
    bool complete = true;  ///< not ended by its budget
    std::vector<failure> failures;
    std::map<move_kind, stage::stretch> stretches;  ///< of random schedules
};

struct budget {
    budget() = default;
    std::chrono::milliseconds time{0};  ///< 0: no limit
    std::uint64_t schedules = 0;        ///< 0: no limit
};

/// All schedules that the rules allow for, without those that lead to a state that was seen before.
result explore_all(const scenario& what, rules how, budget limit);

/// @param first_seed  of as many as the budget allows for
result explore_randomly(const scenario& what, rules how, std::uint64_t first_seed, budget limit);

/// One schedule again.
/// @param tell  gets what happens in it, before it happens
/// @throws std::invalid_argument
result replay(const schedule_id& which, std::function<void(const std::string&)> tell);

}  // namespace corozk::schedule
