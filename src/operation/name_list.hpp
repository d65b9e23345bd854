// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::detail {

/// A list of strings in two allocations, as listings may contain 100,000 names.
class name_list {
public:
    void reserve(std::size_t count, std::size_t bytes) {
        ends_.reserve(count);
        characters_.reserve(bytes);
    }

    void push_back(std::string_view name) {
        characters_.append(name);
        ends_.push_back(static_cast<std::uint32_t>(characters_.size()));
    }

    void clear() noexcept {
        characters_.clear();
        ends_.clear();
    }

    std::size_t size() const noexcept { return ends_.size(); }
    bool empty() const noexcept { return ends_.empty(); }

    std::string_view operator[](std::size_t i) const noexcept {
        std::size_t begin = i == 0 ? 0 : ends_[i - 1];
        return std::string_view(characters_).substr(begin, ends_[i] - begin);
    }

    std::vector<std::string> to_vector() const {
        std::vector<std::string> names;
        names.reserve(size());
        for (std::size_t i = 0; i < size(); ++i)
            names.emplace_back((*this)[i]);
        return names;
    }

private:
    std::string characters_;
    std::vector<std::uint32_t> ends_;
};

}  // namespace corozk::detail
