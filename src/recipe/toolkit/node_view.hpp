// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/types.hpp>

#include <string>
#include <utility>

namespace corozk::detail {

/// A snapshot of a node.
struct node_view {
    node_view() = default;
    node_view(const corozk::stat& stat_, std::string data_)
        : present(true), stat(stat_), data(std::move(data_)) {}

    bool present = false;
    corozk::stat stat;
    std::string data;

    /// Whether node, data or existence differ. Identical data that was written again, as after a
    /// lost response, is not a difference.
    bool differs(const node_view& other) const noexcept {
        if (present != other.present)
            return true;
        return present && (stat.czxid != other.stat.czxid || data != other.data);
    }
};

}  // namespace corozk::detail
