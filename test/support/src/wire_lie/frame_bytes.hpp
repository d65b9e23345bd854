// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

namespace corozk::testing::detail {

inline constexpr std::size_t length_size = 4;
inline constexpr std::size_t header_size = 16;  // xid, zxid, error
inline constexpr std::size_t xid_at = length_size;
inline constexpr std::size_t zxid_at = xid_at + 4;
inline constexpr std::size_t error_at = zxid_at + 8;
inline constexpr std::size_t body_at = length_size + header_size;

/** Overwrites a number, if the bytes reach so far. */
void put32(std::string& bytes, std::size_t at, std::int32_t value);
void put64(std::string& bytes, std::size_t at, std::int64_t value);

std::string random_bytes(std::size_t count, std::mt19937_64& random);

/** Half of it, so that what follows is taken for the rest. */
std::string first_half(const std::string& frame);

}  // namespace corozk::testing::detail
