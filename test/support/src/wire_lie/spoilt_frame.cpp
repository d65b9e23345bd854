// SPDX-License-Identifier: Apache-2.0

#include "spoilt_frame.hpp"

#include "frame_bytes.hpp"
#include "jute.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

namespace corozk::testing::detail {
namespace {

constexpr std::size_t timeout_at = length_size + 4;  // behind the protocol's version
constexpr std::size_t session_at = timeout_at + 4;
constexpr std::size_t password_at = session_at + 8;

constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();

/** The error that a lie puts in place of success; nothing if the lie is not of this kind. */
std::optional<std::int32_t> false_error(wire_lie lie) {
    switch (lie) {
        case wire_lie::unknown_error: return -12'345;
        case wire_lie::positive_error: return 5;
        case wire_lie::not_there: return -101;
        case wire_lie::there_already: return -110;
        case wire_lie::not_allowed: return -102;
        case wire_lie::connection_lost: return -4;
        case wire_lie::session_over: return -112;
        case wire_lie::session_elsewhere: return -118;
        case wire_lie::credentials_wrong: return -115;
        case wire_lie::credentials_missing: return -124;
        case wire_lie::overloaded: return -127;
        default: return std::nullopt;
    }
}

}  // namespace

std::string spoilt_frame(wire_lie lie, std::string bytes, std::mt19937_64& random) {
    const std::size_t size = bytes.size();
    const std::string_view payload = std::string_view{bytes}.substr(length_size);
    if (const auto error = false_error(lie)) {
        put32(bytes, error_at, *error);
        if (random() % 2 != 0) {  // as servers do; or with the body of success
            return framed(payload.substr(0, header_size));
        }
        return bytes;
    }
    switch (lie) {
        case wire_lie::stops_inside:
        case wire_lie::connect_ends_early: return first_half(bytes);
        case wire_lie::ends_early: return framed(payload.substr(0, payload.size() / 2 + 1));
        case wire_lie::header_only:
            bytes.resize(std::min(size, body_at));
            put32(bytes, error_at, 0);
            return framed(std::string_view{bytes}.substr(length_size));
        case wire_lie::no_bytes: return framed({});
        case wire_lie::three_bytes: return framed(payload.substr(0, 3));
        case wire_lie::length_of_64_mib: put32(bytes, 0, 64 * 1024 * 1024); return bytes;
        case wire_lie::length_of_2_gib: put32(bytes, 0, most); return bytes;
        case wire_lie::length_minus_one: put32(bytes, 0, -1); return bytes;
        case wire_lie::length_minimum: put32(bytes, 0, least); return bytes;
        case wire_lie::another_xid:
            put32(bytes, xid_at, static_cast<std::int32_t>(random() & most));
            return bytes;
        case wire_lie::answered_twice: return bytes + bytes;
        case wire_lie::negative_zxid: put64(bytes, zxid_at, -1'000'000); return bytes;
        case wire_lie::huge_inner_length: put32(bytes, body_at, most); return bytes;
        case wire_lie::large_inner_count: put32(bytes, body_at, 256 * 1024 * 1024); return bytes;
        case wire_lie::negative_inner_length: put32(bytes, body_at, -2); return bytes;
        case wire_lie::garbage_body:
            return bytes.substr(0, std::min(size, body_at)) +
                   random_bytes(size - std::min(size, body_at), random);
        case wire_lie::garbage_frame:
        case wire_lie::connect_garbage: return framed(random_bytes(payload.size(), random));
        case wire_lie::flipped_bit: {
            const std::size_t at = length_size + random() % (size - length_size);
            bytes[at] = static_cast<char>(bytes[at] ^ (1 << (random() % 8)));
            return bytes;
        }
        case wire_lie::no_timeout: put32(bytes, timeout_at, 0); return bytes;
        case wire_lie::negative_timeout: put32(bytes, timeout_at, -5'000); return bytes;
        case wire_lie::huge_timeout: put32(bytes, timeout_at, most); return bytes;
        case wire_lie::no_session: put64(bytes, session_at, 0); return bytes;
        case wire_lie::long_password: put32(bytes, password_at, 1'000'000); return bytes;
        case wire_lie::negative_password: put32(bytes, password_at, -2); return bytes;
        default: return bytes;
    }
}

}  // namespace corozk::testing::detail
