// SPDX-License-Identifier: Apache-2.0

#include "frame_splitter.hpp"

#include "jute.hpp"

#include <cstdint>

namespace corozk::testing::detail {
namespace {

constexpr std::size_t length_size = 4;
constexpr std::int32_t longest_frame = 64 * 1024 * 1024;
constexpr std::size_t compact_from = 64UL * 1024;

}  // namespace

std::optional<std::string> frame_splitter::next() {
    if (unframed_) {
        return pending() > 0 ? take(pending()) : std::nullopt;
    }
    if (pending() < length_size) {
        return std::nullopt;
    }
    const auto length = jute_reader{std::string_view{buffer_}.substr(begin_)}.int32();
    if (length < 0 || length > longest_frame) {
        unframed_ = true;
        return take(pending());
    }
    const std::size_t whole = length_size + static_cast<std::size_t>(length);
    if (pending() < whole) {
        buffer_.reserve(begin_ + whole);
        return std::nullopt;
    }
    return take(whole);
}

std::optional<std::string> frame_splitter::take(std::size_t count) {
    std::string bytes = buffer_.substr(begin_, count);
    begin_ += count;
    if (begin_ == buffer_.size() || begin_ >= compact_from) {
        buffer_.erase(0, begin_);
        begin_ = 0;
    }
    return bytes;
}

}  // namespace corozk::testing::detail
