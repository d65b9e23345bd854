// SPDX-License-Identifier: Apache-2.0

#include "frame_bytes.hpp"

#include "wire/jute.hpp"

namespace corozk::testing::detail {

void put32(std::string& bytes, std::size_t at, std::int32_t value) {
    if (bytes.size() >= at + sizeof value) {
        corozk::detail::store_big_endian(&bytes[at], static_cast<std::uint32_t>(value));
    }
}

void put64(std::string& bytes, std::size_t at, std::int64_t value) {
    if (bytes.size() >= at + sizeof value) {
        corozk::detail::store_big_endian(&bytes[at], static_cast<std::uint64_t>(value));
    }
}

std::string random_bytes(std::size_t count, std::mt19937_64& random) {
    std::string bytes(count, '\0');
    for (char& c : bytes) {
        c = static_cast<char>(random());
    }
    return bytes;
}

std::string first_half(const std::string& frame) {
    return frame.substr(0, frame.size() / 2 + length_size / 2);
}

}  // namespace corozk::testing::detail
