// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/types.hpp>

#include <string>
#include <utility>

namespace corozk::detail {

/// What a node looked like.
struct node_view {
    node_view() = default;
    node_view(const corozk::stat& stat_, std::string data_)
        : present(true), stat(stat_), data(std::move(data_)) {}

    bool present = false;
    corozk::stat stat;
    std::string data;

    /// Whether it is another node, or the same with other data, or one is missing. The same data
    /// written once more, as after a lost answer, is no difference.
    bool differs(const node_view& other) const noexcept {
        if (present != other.present)
            return true;
        return present && (stat.czxid != other.stat.czxid || data != other.data);
    }
};

}  // namespace corozk::detail
