// SPDX-License-Identifier: Apache-2.0

#include "jute.hpp"

namespace corozk::testing::detail {
namespace {

template <class Unsigned>
void append(std::string& bytes, Unsigned value) {
    for (int shift = static_cast<int>(sizeof value) * 8 - 8; shift >= 0; shift -= 8) {
        bytes.push_back(static_cast<char>((value >> shift) & 0xffU));
    }
}

template <class Unsigned>
Unsigned parse(std::string_view bytes) {
    Unsigned value = 0;
    for (const char byte : bytes) {
        value = static_cast<Unsigned>(value << 8U) | static_cast<unsigned char>(byte);
    }
    return value;
}

}  // namespace

jute_writer& jute_writer::boolean(bool value) {
    bytes_.push_back(value ? '\1' : '\0');
    return *this;
}

jute_writer& jute_writer::int32(std::int32_t value) {
    append(bytes_, static_cast<std::uint32_t>(value));
    return *this;
}

jute_writer& jute_writer::int64(std::int64_t value) {
    append(bytes_, static_cast<std::uint64_t>(value));
    return *this;
}

jute_writer& jute_writer::buffer(std::string_view value) {
    int32(static_cast<std::int32_t>(value.size()));
    return raw(value);
}

jute_writer& jute_writer::raw(std::string_view bytes) {
    bytes_.append(bytes);
    return *this;
}

std::string_view jute_reader::take(std::size_t count) {
    if (count > rest_.size()) {
        throw malformed_frame{"a frame ends too early"};
    }
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
}

bool jute_reader::boolean() {
    return take(1).front() != '\0';
}

std::int32_t jute_reader::int32() {
    return static_cast<std::int32_t>(parse<std::uint32_t>(take(4)));
}

std::int64_t jute_reader::int64() {
    return static_cast<std::int64_t>(parse<std::uint64_t>(take(8)));
}

std::string_view jute_reader::buffer() {
    const auto size = int32();
    return size <= 0 ? std::string_view{} : take(static_cast<std::size_t>(size));
}

std::string framed(std::string_view body) {
    jute_writer writer;
    writer.buffer(body);
    return writer.bytes();
}

}  // namespace corozk::testing::detail
