// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

/**
 * @brief Paths of nodes; copies share them.
 *
 * It may be a part of a longer list that others share as well: of 10,000 who wait for any of 100
 * permits, each names 100 paths.
 *
 * @par Thread safety
 * That of a `const std::vector`; copies may be used in different threads.
 */
class path_list {
public:
    using value_type = std::string;             ///< Of a range.
    using const_iterator = const std::string*;  ///< Likewise.
    using iterator = const_iterator;            ///< Likewise: nothing is changed.
    using size_type = std::size_t;              ///< Likewise.
    using shared_paths = std::shared_ptr<const std::vector<std::string>>;  ///< What is shared.

    path_list() = default;

    /** @brief These paths. */
    path_list(std::vector<std::string> paths)
        : all_(std::make_shared<const std::vector<std::string>>(std::move(paths))),
          count_(all_->size()) {}

    /** @brief `count` of these, from the one at `first` on; there must be as many. */
    path_list(shared_paths all, std::size_t first, std::size_t count)
        : all_(std::move(all)), first_(first), count_(count) {}

    const_iterator begin() const noexcept {
        return all_ ? all_->data() + first_ : nullptr;
    }                                                                 ///< The first.
    const_iterator end() const noexcept { return begin() + count_; }  ///< Behind the last.
    std::size_t size() const noexcept { return count_; }              ///< How many.
    bool empty() const noexcept { return count_ == 0; }               ///< Whether there are none.
    const std::string& operator[](std::size_t i) const { return begin()[i]; }  ///< Must be there.
    const std::string& front() const { return *begin(); }                      ///< Must be there.
    const std::string& back() const { return end()[-1]; }                      ///< Must be there.

    /** @brief The same paths in the same order. */
    friend bool operator==(const path_list& a, const path_list& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    shared_paths all_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
};

}  // namespace corozk
