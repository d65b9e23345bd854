// SPDX-License-Identifier: Apache-2.0
#include "random_walk.hpp"

#include "stage.hpp"

#include <algorithm>

namespace corozk::schedule {

random_walk::random_walk(std::uint64_t seed) : random_(seed) {
    constexpr int tastes[] = {1, 3, 10, 40};
    for (int& w : client_weight_)
        w = tastes[random_() % 4];
    deliver_weight_ = tastes[random_() % 4];
    fault_chance_ = (3 + random_() % 40) * 5;
}

std::size_t random_walk::choose(stage& s, const std::vector<move>& moves) {
    auto faults = static_cast<std::size_t>(
        std::count_if(moves.begin(), moves.end(), [](const move& m) { return is_fault(m.kind); }));
    bool fault = faults == moves.size() || (faults > 0 && random_() % 1000 < fault_chance_);
    choices_.push_back(fault ? choose_fault(moves, faults) : choose_by_weight(s, moves));
    return choices_.back();
}

std::size_t random_walk::choose_fault(const std::vector<move>& moves, std::size_t faults) {
    std::size_t which = random_() % faults;
    auto chosen = std::find_if(moves.begin(), moves.end(), [&which](const move& m) {
        return is_fault(m.kind) && which-- == 0;
    });
    return static_cast<std::size_t>(chosen - moves.begin());
}

std::size_t random_walk::choose_by_weight(const stage& s, const std::vector<move>& moves) {
    std::vector<int> weights;
    int all = 0;
    for (const move& m : moves) {
        int w = 0;
        if (!is_fault(m.kind)) {
            int who = s.client_of(m);
            w = who >= 0 ? client_weight_[static_cast<std::size_t>(who) % 8] : 5;
            if (m.kind == move_kind::deliver)
                w *= deliver_weight_;
        }
        weights.push_back(w);
        all += w;
    }
    auto point = static_cast<int>(random_() % static_cast<std::uint64_t>(all));
    std::size_t chosen = 0;
    while (point >= weights[chosen])
        point -= weights[chosen++];
    return chosen;
}

}  // namespace corozk::schedule
