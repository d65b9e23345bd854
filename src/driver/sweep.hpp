// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

namespace corozk::detail {

/// Removes what is over from a container now and then: whenever it has doubled since, so that each
/// insertion costs little however many there are.
class sweep {
public:
    /// Before an insertion.
    template <class Container, class Predicate>
    void operator()(Container& all, Predicate is_over) {
        if (all.size() < due_)
            return;
        erase_if(all, std::move(is_over));  // of std
        due_ = 2 * all.size() + 16;
    }

private:
    std::size_t due_ = 16;  ///< the size
};

}  // namespace corozk::detail
