// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace corozk::model {

/// 64 bits of everything that was added, in its order.
class hasher {
public:
    template <class Number>
        requires(std::is_arithmetic_v<Number> || std::is_enum_v<Number>)
    void add(Number n) noexcept { mix(static_cast<std::uint64_t>(n)); }
    void add(std::string_view text) noexcept {
        mix(text.size());
        while (text.size() >= 8) {
            std::uint64_t word;
            std::memcpy(&word, text.data(), 8);
            mix(word);
            text.remove_prefix(8);
        }
        std::uint64_t rest = 0;
        std::memcpy(&rest, text.data(), text.size());
        mix(rest);
    }
    void add(const std::string& text) noexcept { add(std::string_view(text)); }
    template <class T>
    void add(const std::vector<T>& all) noexcept {
        mix(all.size());
        for (const T& one : all)
            add(one);
    }
    std::uint64_t value() const noexcept { return state_; }

private:
    void mix(std::uint64_t word) noexcept {
        state_ ^= word + 0x9e3779b97f4a7c15u + (state_ << 6) + (state_ >> 2);
        state_ ^= state_ >> 30;
        state_ *= 0xbf58476d1ce4e5b9u;
        state_ ^= state_ >> 27;
        state_ *= 0x94d049bb133111ebu;
        state_ ^= state_ >> 31;
    }

    std::uint64_t state_ = 0x243f6a8885a308d3u;
};

}  // namespace corozk::model
