// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "chooser.hpp"
#include "schedule_id.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace corozk::schedule {

/// Each schedule has its own taste: some clients are slow in it, and faults are rare or frequent.
class random_walk final : public chooser {
public:
    explicit random_walk(std::uint64_t seed);

    std::size_t choose(stage& s, const std::vector<move>& moves) override;

    const choice_list& choices() const { return choices_; }

private:
    std::size_t choose_fault(const std::vector<move>& moves, std::size_t faults);
    std::size_t choose_by_weight(const stage& s, const std::vector<move>& moves);

    std::mt19937_64 random_;
    int client_weight_[8];
    int deliver_weight_;
    std::uint64_t fault_chance_;  ///< in 1000, where something else can happen
    choice_list choices_;
};

}  // namespace corozk::schedule
