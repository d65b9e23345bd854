// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wire/jute.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>

namespace corozk::detail {

/// Splits a byte stream into ZooKeeper's frames: a length of 32 bits, and that many bytes.
///
/// A socket reads into `room`, `filled` says how much it has read, and `next` returns the frames,
/// in place and with their length. They are valid until the next `room`. Memory grows with what has
/// arrived, whatever a length says.
class frame_splitter {
public:
    static constexpr std::size_t longest_frame = 64UL * 1024 * 1024;

    explicit frame_splitter(std::size_t bound = longest_frame) noexcept : bound_{bound} {}

    /// Where the next bytes are to be read to: at least so many.
    std::span<unsigned char> room(std::size_t at_least) {
        if (begin_ == end_) {
            begin_ = end_ = 0;
            if (capacity_ > std::max(kept_size, at_least))
                resize(at_least);
        }
        if (capacity_ - end_ < at_least) {
            std::size_t needed = pending() + at_least;
            resize(needed <= capacity_ ? capacity_ : std::max(needed, 2 * pending()));
        }
        return {bytes_.get() + end_, capacity_ - end_};
    }

    /// So many bytes have been read into `room`.
    void filled(std::size_t count) noexcept { end_ += count; }

    /// The next whole frame; empty if it has not arrived yet, or if the stream is unusable.
    std::span<unsigned char> next() noexcept {
        if (pending() < length_size || has_problem())
            return {};
        std::size_t size = length_size + static_cast<std::size_t>(length());
        if (pending() < size)
            return {};
        unsigned char* frame = bytes_.get() + begin_;
        begin_ += size;
        return {frame, size};
    }

    /// Gives back more memory than that, unless something is left. Frames become invalid.
    void release(std::size_t kept) noexcept {
        if (pending() == 0 && capacity_ > kept)
            clear();
    }

    /// Forgets everything.
    void clear() noexcept {
        bytes_.reset();
        capacity_ = begin_ = end_ = 0;
    }

    /// What is wrong with the length of the next frame, in words; empty if nothing is. No frames
    /// follow.
    std::string problem() const {
        return has_problem() ? "a frame with a length of " + std::to_string(length())
                             : std::string();
    }

    /// Whether it is longer than the bound.
    bool too_long() const noexcept { return has_problem() && length() > 0; }

    /// What waits for the rest of its frame.
    std::span<const unsigned char> rest() const noexcept {
        return {bytes_.get() + begin_, pending()};
    }
    std::size_t pending() const noexcept { return end_ - begin_; }
    std::size_t capacity() const noexcept { return capacity_; }

private:
    static constexpr std::size_t length_size = 4;
    static constexpr std::size_t kept_size = 64UL * 1024;

    std::int32_t length() const noexcept {
        auto* at = reinterpret_cast<const char*>(bytes_.get() + begin_);
        return static_cast<std::int32_t>(load_big_endian<std::uint32_t>(at));
    }

    bool has_problem() const noexcept {
        return pending() >= length_size &&
               (length() < 0 || static_cast<std::size_t>(length()) > bound_);
    }

    /// Moves what is left to the front, of other memory if the size is another.
    void resize(std::size_t capacity) {
        std::unique_ptr<unsigned char[]> other;
        if (capacity != capacity_)
            other = std::make_unique_for_overwrite<unsigned char[]>(capacity);
        unsigned char* to = other ? other.get() : bytes_.get();
        if (pending() > 0)
            std::memmove(to, bytes_.get() + begin_, pending());
        end_ = pending();
        begin_ = 0;
        if (other)
            bytes_ = std::move(other);
        capacity_ = capacity;
    }

    std::size_t bound_;
    std::unique_ptr<unsigned char[]> bytes_;
    std::size_t capacity_ = 0;
    std::size_t begin_ = 0;  // of the next frame
    std::size_t end_ = 0;    // of what has arrived
};

}  // namespace corozk::detail
