// SPDX-License-Identifier: Apache-2.0
// What is left after a run, and what is found out about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace corozk::chaos {

/// What the servers hold in the end.
struct final_state {
    final_state() = default;
    std::vector<std::string> queued;   ///< items that nobody took
    std::vector<std::string> effects;  ///< of items, written with their acknowledgement
    std::int64_t counter = 0;
};

struct judgement {
    judgement() = default;
    std::vector<std::string> violations;
    std::size_t accesses = 0;
    std::size_t fenced = 0;
    std::size_t hand_overs = 0;
    std::size_t overlaps = 0;  ///< an owner came before the last one, which was lost, had left
    std::size_t guarded_writes = 0;
    std::size_t terms = 0;
    std::size_t put = 0;
    std::size_t taken = 0;
    std::size_t in_doubt = 0;  ///< puts, takes and additions of which nobody can know
    std::size_t added = 0;
    std::size_t witnessed = 0;
    /// What shows that the servers themselves lost changes that they had acknowledged: not ours.
    std::vector<std::string> taken_back;
};

}  // namespace corozk::chaos
