// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

namespace corozk::detail {

/// Removes and returns the elements that satisfy `wanted`, preserving the order of both.
template <class Value, class Predicate>
std::vector<Value> take_if(std::vector<Value>& values, Predicate wanted) {
    std::vector<Value> taken;
    std::erase_if(values, [&](Value& value) {
        const bool take = wanted(std::as_const(value));
        if (take)
            taken.push_back(std::move(value));
        return take;
    });
    return taken;
}

}  // namespace corozk::detail
