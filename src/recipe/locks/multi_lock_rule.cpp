// SPDX-License-Identifier: Apache-2.0
#include "recipe/locks/multi_lock_rule.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace corozk::detail {

std::vector<std::size_t> global_order(const std::vector<std::string>& paths) {
    std::vector<std::size_t> order(paths.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&paths](std::size_t a, std::size_t b) {
        return std::tie(paths[a], a) < std::tie(paths[b], b);
    });
    return order;
}

std::optional<std::string> named_twice(const std::vector<std::string>& paths) {
    std::vector<std::string> sorted = paths;
    std::sort(sorted.begin(), sorted.end());
    auto at = std::adjacent_find(sorted.begin(), sorted.end());
    if (at == sorted.end())
        return {};
    return *at;
}

multi_step decide(const multi_state& s) noexcept {
    if (s.over)
        return multi_step::roll_back;
    if (!s.all_valid)
        return multi_step::wait_for_loss;
    return s.granted < s.parts ? multi_step::acquire_next : multi_step::deliver;
}

}  // namespace corozk::detail
