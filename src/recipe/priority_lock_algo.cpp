// SPDX-License-Identifier: Apache-2.0
#include "recipe/priority_lock_algo.hpp"

#include <tuple>

namespace corozk::detail {

bool comes_before(const ranked_place& a, const ranked_place& b, std::int32_t ageing) noexcept {
    auto key = [ageing](const ranked_place& p) {
        std::int64_t aged = ageing > 0 ? p.order + std::int64_t{p.priority} * ageing : 0;
        return std::tuple(aged, p.priority, p.order);
    };
    return key(a) < key(b);
}

ranked_verdict judge(const std::vector<ranked_place>& places, std::size_t me, std::int32_t ageing) {
    const ranked_place& mine = places[me];
    bool reader = mine.kind == priority_read;
    ranked_verdict verdict;
    std::optional<std::size_t> ahead;
    std::optional<std::size_t> holder;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const ranked_place& other = places[i];
        bool compatible = reader && other.kind == priority_read;
        if (i == me || compatible)
            continue;
        if (other.holds) {
            holder = i;
            if (other.priority > mine.priority)
                verdict.inferior.push_back(i);
        } else if (comes_before(other, mine, ageing)) {
            if (!ahead || comes_before(places[*ahead], other, ageing))
                ahead = i;
        }
    }
    verdict.watch = ahead ? ahead : holder;
    verdict.grant = !verdict.watch;
    return verdict;
}

}  // namespace corozk::detail
