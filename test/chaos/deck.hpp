// SPDX-License-Identifier: Apache-2.0
// What comes next, where each kind has to come once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace corozk::chaos {

/// Cards 0, 1, 2, ...: first one of each, shuffled, then any, as often as their weights say. A card
/// that cannot be played now stays in the first round, and the next one is taken.
class deck {
public:
    using engine = std::mt19937_64;

    deck(const std::vector<int>& weights, engine& random)
        : random_(random), any_(weights.begin(), weights.end()), first_round_(weights.size()) {
        std::iota(first_round_.begin(), first_round_.end(), std::size_t{0});
        std::shuffle(first_round_.begin(), first_round_.end(), random_);
    }

    /// Plays one card; `play` says whether it could. False: none of those that were tried could be.
    bool deal(const std::function<bool(std::size_t)>& play) {
        auto played = std::find_if(first_round_.begin(), first_round_.end(), play);
        if (played == first_round_.end())
            return deal_any(play);
        first_round_.erase(played);
        return true;
    }

    bool first_round_is_over() const noexcept { return first_round_.empty(); }

private:
    bool deal_any(const std::function<bool(std::size_t)>& play) {
        const std::size_t enough = any_.probabilities().size();
        for (std::size_t tries = 0; tries < enough; ++tries) {
            std::size_t card = any_(random_);
            if (play(card)) {
                std::erase(first_round_, card);
                return true;
            }
        }
        return false;
    }

    engine& random_;
    std::discrete_distribution<std::size_t> any_;
    std::vector<std::size_t> first_round_;
};

}  // namespace corozk::chaos
