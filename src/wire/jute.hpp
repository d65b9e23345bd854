// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/endian/conversion.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace corozk::detail {

template <class Unsigned>
Unsigned load_big_endian(const char* bytes) noexcept {
    return boost::endian::endian_load<Unsigned, sizeof(Unsigned), boost::endian::order::big>(
        reinterpret_cast<const unsigned char*>(bytes));
}

template <class Unsigned, class Byte>
void store_big_endian(Byte* bytes, Unsigned value) noexcept {
    boost::endian::endian_store<Unsigned, sizeof(Unsigned), boost::endian::order::big>(
        reinterpret_cast<unsigned char*>(bytes), value);
}

/// Reads jute, ZooKeeper's serialization format, from bytes that it does not own. A read beyond the
/// end, or of an impossible length, yields zeros and fails the reader for good: look at `failed` at the
/// end.
class jute_reader {
public:
    explicit jute_reader(std::string_view bytes) noexcept : rest_{bytes} {}

    bool boolean() noexcept { return number<std::uint8_t>() != 0; }
    std::int32_t int32() noexcept { return static_cast<std::int32_t>(number<std::uint32_t>()); }
    std::int64_t int64() noexcept { return static_cast<std::int64_t>(number<std::uint64_t>()); }

    /// A string or a buffer. Its `data` is null if it is jute's null, of length -1.
    std::string_view buffer() noexcept {
        std::int32_t size = int32();
        if (size < -1)
            fail();
        return size < 0 ? std::string_view() : take(static_cast<std::size_t>(size));
    }

    /// As `buffer`; jute's null fails.
    std::string_view string() noexcept {
        std::string_view value = buffer();
        if (!value.data())
            fail();
        return value;
    }

    std::string_view take(std::size_t count) noexcept {
        if (count > rest_.size()) {
            fail();
            return {};
        }
        std::string_view taken = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return taken;
    }

    void fail() noexcept {
        failed_ = true;
        rest_ = {};
    }

    bool failed() const noexcept { return failed_; }
    std::string_view rest() const noexcept { return rest_; }
    bool empty() const noexcept { return rest_.empty(); }

private:
    template <class Unsigned>
    Unsigned number() noexcept {
        if (rest_.size() < sizeof(Unsigned)) {
            fail();
            return 0;
        }
        const auto value = load_big_endian<Unsigned>(rest_.data());
        rest_.remove_prefix(sizeof(Unsigned));
        return value;
    }

    std::string_view rest_;
    bool failed_ = false;
};

/// Writes the same format.
class jute_writer {
public:
    jute_writer& boolean(bool value) { return number<std::uint8_t>(value ? 1 : 0); }
    jute_writer& int32(std::int32_t value) { return number(static_cast<std::uint32_t>(value)); }
    jute_writer& int64(std::int64_t value) { return number(static_cast<std::uint64_t>(value)); }

    jute_writer& buffer(std::string_view value) {
        return int32(static_cast<std::int32_t>(value.size())).raw(value);
    }

    jute_writer& null() { return int32(-1); }

    jute_writer& raw(std::string_view bytes) {
        bytes_.append(bytes);
        return *this;
    }

    const std::string& bytes() const noexcept { return bytes_; }

    /// A frame, behind what was written before: between the two its content is written.
    void begin_frame() {
        frame_ = bytes_.size();
        int32(0);
    }
    std::span<unsigned char> end_frame() noexcept {
        const std::size_t size = bytes_.size() - frame_;
        auto* frame = reinterpret_cast<unsigned char*>(bytes_.data() + frame_);
        store_big_endian(frame, static_cast<std::uint32_t>(size - sizeof(std::uint32_t)));
        return {frame, size};
    }

    /// Keeps the memory.
    void clear() noexcept { bytes_.clear(); }
    std::size_t capacity() const noexcept { return bytes_.capacity(); }

    /// Gives back more memory than that, unless something is left.
    void release(std::size_t kept) noexcept {
        // An assignment of an empty string would keep it.
        if (bytes_.empty() && capacity() > kept)
            std::string().swap(bytes_);
    }

private:
    template <class Unsigned>
    jute_writer& number(Unsigned value) {
        char bytes[sizeof value];
        store_big_endian(bytes, value);
        return raw({bytes, sizeof value});
    }

    std::string bytes_;
    std::size_t frame_ = 0;  ///< where the last one begins
};

/// A frame: the bytes with their length in front.
inline std::string framed(std::string_view body) {
    return jute_writer().buffer(body).bytes();
}

}  // namespace corozk::detail
