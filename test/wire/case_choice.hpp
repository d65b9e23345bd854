// SPDX-License-Identifier: Apache-2.0
// Which lies are told where: all of them, or a few of each kind.
#pragma once

#include "lie_witness.hpp"
#include "wire_case.hpp"
#include <corozk/testing/wire_lie.hpp>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace corozk::wire {

/// Of each scenario: how many frames there are to lie in.
using chances_of_scenarios = std::map<std::string, occasion_counts>;

/// What is wanted of a run.
struct choice_options {
    choice_options() = default;
    std::uint64_t seed = 1;
    bool full = false;        ///< every frame of every scenario
    bool persistent = false;  ///< only servers that go on lying
    std::string only_attack;  ///< empty: all
};

class case_choice {
public:
    case_choice(const chances_of_scenarios& chances, const choice_options& options);

    std::vector<wire_case> choose();

    /// All that must be among the cases: those of a server that goes on lying where only they are wanted.
    static std::vector<std::string> attacks(const choice_options& options);

private:
    void choose_attacks_without_lies();
    void choose_lie(testing::wire_lie lie, std::size_t scenarios, bool persistent);
    void add(wire_case what, std::uint64_t frames, bool everywhere);
    bool is_wanted(const std::string& attack) const;

    const chances_of_scenarios& chances_;
    const choice_options& options_;
    std::mt19937_64 random_;
    std::size_t turn_ = 0;
    std::vector<wire_case> cases_;
};

}  // namespace corozk::wire
