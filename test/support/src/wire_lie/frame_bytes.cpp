// SPDX-License-Identifier: Apache-2.0

#include "frame_bytes.hpp"

#include "jute.hpp"

namespace corozk::testing::detail {

void put32(std::string& bytes, std::size_t at, std::int32_t value) {
    jute_writer number;
    number.int32(value);
    if (bytes.size() >= at + 4) {
        bytes.replace(at, 4, number.bytes());
    }
}

void put64(std::string& bytes, std::size_t at, std::int64_t value) {
    jute_writer number;
    number.int64(value);
    if (bytes.size() >= at + 8) {
        bytes.replace(at, 8, number.bytes());
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
