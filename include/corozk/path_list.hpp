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
 * @brief An immutable list of node paths; copies share their elements.
 *
 * Several lists can be sections of one longer list: 10,000 contenders that wait for 100 permits
 * each refer to 100 paths.
 *
 * @executor As a `const std::vector`; copies can be used in different threads.
 */
class path_list {
public:
    using value_type = std::string;             ///< A path.
    using const_iterator = const std::string*;  ///< Contiguous.
    using iterator = const_iterator;            ///< Elements cannot be changed.
    using size_type = std::size_t;              ///< Unsigned.
    using shared_paths = std::shared_ptr<const std::vector<std::string>>;  ///< The shared elements.

    path_list() = default;

    /** @brief A list of the given paths. */
    path_list(std::vector<std::string> paths)
        : all_(std::make_shared<const std::vector<std::string>>(std::move(paths))),
          count_(all_->size()) {}

    /** @brief The elements `[first, first + count)` of `all`, which must exist. */
    path_list(shared_paths all, std::size_t first, std::size_t count)
        : all_(std::move(all)), first_(first), count_(count) {}

    /// First element.
    const_iterator begin() const noexcept { return all_ ? all_->data() + first_ : nullptr; }
    const_iterator end() const noexcept { return begin() + size(); }  ///< Past the last element.
    std::size_t size() const noexcept { return all_ ? count_ : 0; }   ///< Number of elements.
    bool empty() const noexcept { return size() == 0; }               ///< Whether `size() == 0`.
    const std::string& operator[](std::size_t i) const { return begin()[i]; }  ///< `i < size()`.
    const std::string& front() const { return *begin(); }  ///< The list must not be empty.
    const std::string& back() const { return end()[-1]; }  ///< The list must not be empty.

    /** @brief Equal if both contain the same paths in the same order. */
    friend bool operator==(const path_list& a, const path_list& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    shared_paths all_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
};

}  // namespace corozk
