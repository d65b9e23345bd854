// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/wire_lie.hpp"

#include "jute.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <utility>

namespace corozk::testing {
namespace {

using detail::framed;
using detail::jute_writer;

constexpr std::size_t length_size = 4;
constexpr std::size_t header_size = 16;  // xid, zxid, error
constexpr std::size_t xid_at = length_size;
constexpr std::size_t zxid_at = xid_at + 4;
constexpr std::size_t error_at = zxid_at + 8;
constexpr std::size_t body_at = length_size + header_size;
constexpr std::size_t timeout_at = length_size + 4;  // behind the protocol's version
constexpr std::size_t session_at = timeout_at + 4;
constexpr std::size_t password_at = session_at + 8;

constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();

constexpr std::array names = {
    std::pair{wire_lie::none, "none"},
    std::pair{wire_lie::stops_inside, "stops inside"},
    std::pair{wire_lie::ends_early, "ends early"},
    std::pair{wire_lie::header_only, "header only"},
    std::pair{wire_lie::no_bytes, "no bytes"},
    std::pair{wire_lie::three_bytes, "three bytes"},
    std::pair{wire_lie::length_of_64_mib, "length of 64 MiB"},
    std::pair{wire_lie::length_of_2_gib, "length of 2 GiB"},
    std::pair{wire_lie::length_minus_one, "length -1"},
    std::pair{wire_lie::length_minimum, "length -2^31"},
    std::pair{wire_lie::another_xid, "another xid"},
    std::pair{wire_lie::answered_twice, "answered twice"},
    std::pair{wire_lie::answer_to_nobody, "answer to nobody"},
    std::pair{wire_lie::swapped, "swapped"},
    std::pair{wire_lie::left_out, "left out"},
    std::pair{wire_lie::unknown_error, "unknown error"},
    std::pair{wire_lie::positive_error, "positive error"},
    std::pair{wire_lie::not_there, "not there"},
    std::pair{wire_lie::there_already, "there already"},
    std::pair{wire_lie::not_allowed, "not allowed"},
    std::pair{wire_lie::connection_lost, "connection lost"},
    std::pair{wire_lie::session_over, "session over"},
    std::pair{wire_lie::session_elsewhere, "session elsewhere"},
    std::pair{wire_lie::credentials_wrong, "credentials wrong"},
    std::pair{wire_lie::credentials_missing, "credentials missing"},
    std::pair{wire_lie::overloaded, "overloaded"},
    std::pair{wire_lie::negative_zxid, "negative zxid"},
    std::pair{wire_lie::huge_inner_length, "huge inner length"},
    std::pair{wire_lie::large_inner_count, "large inner count"},
    std::pair{wire_lie::negative_inner_length, "negative inner length"},
    std::pair{wire_lie::garbage_body, "garbage body"},
    std::pair{wire_lie::garbage_frame, "garbage frame"},
    std::pair{wire_lie::flipped_bit, "flipped bit"},
    std::pair{wire_lie::ping_answer, "ping answer"},
    std::pair{wire_lie::auth_answer, "auth answer"},
    std::pair{wire_lie::watches_answer, "watches answer"},
    std::pair{wire_lie::event_of_unknown_type, "event of unknown type"},
    std::pair{wire_lie::event_of_unknown_state, "event of unknown state"},
    std::pair{wire_lie::event_with_garbage_path, "event with garbage path"},
    std::pair{wire_lie::event_with_empty_path, "event with empty path"},
    std::pair{wire_lie::event_with_huge_path, "event with huge path"},
    std::pair{wire_lie::event_with_zero_bytes, "event with zero bytes"},
    std::pair{wire_lie::event_that_ends_early, "event that ends early"},
    std::pair{wire_lie::event_for_nobody, "event for nobody"},
    std::pair{wire_lie::spurious_events, "spurious events"},
    std::pair{wire_lie::session_event, "session event"},
    std::pair{wire_lie::no_timeout, "no timeout"},
    std::pair{wire_lie::negative_timeout, "negative timeout"},
    std::pair{wire_lie::huge_timeout, "huge timeout"},
    std::pair{wire_lie::no_session, "no session"},
    std::pair{wire_lie::long_password, "long password"},
    std::pair{wire_lie::negative_password, "negative password"},
    std::pair{wire_lie::connect_ends_early, "connect ends early"},
    std::pair{wire_lie::connect_garbage, "connect garbage"},
};

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

std::string answer(std::int32_t xid, std::string_view body = {}) {
    jute_writer frame;
    frame.int32(xid).int64(-1).int32(0).raw(body);
    return framed(frame.bytes());
}

std::string event(std::int32_t type, std::int32_t state, std::string_view path) {
    jute_writer body;
    body.int32(type).int32(state).buffer(path);
    return answer(-1, body.bytes());
}

constexpr std::int32_t connected = 3;
constexpr std::int32_t node_deleted = 2;

/** In front of an answer; nothing if the lie is not of this kind. */
std::optional<std::string> insertion(wire_lie lie,
                                     const frame_info& frame,
                                     std::mt19937_64& random) {
    switch (lie) {
        case wire_lie::answer_to_nobody:
            return answer(static_cast<std::int32_t>(random() & most));
        case wire_lie::ping_answer:
            return answer(-2);
        case wire_lie::auth_answer:
            return answer(-4);
        case wire_lie::watches_answer:
            return answer(-8);
        case wire_lie::event_of_unknown_type:
            return event(77, connected, frame.path);
        case wire_lie::event_of_unknown_state:
            return event(node_deleted, 77, frame.path);
        case wire_lie::event_with_garbage_path:
            return event(node_deleted, connected, random_bytes(40, random));
        case wire_lie::event_with_empty_path:
            return event(node_deleted, connected, {});
        case wire_lie::event_with_huge_path:
            return event(node_deleted, connected, "/" + std::string(1'000'000, 'x'));
        case wire_lie::event_with_zero_bytes:
            return event(node_deleted, connected, std::string("/a\0b/\0", 6));
        case wire_lie::event_that_ends_early: {
            const std::string whole = event(node_deleted, connected, "/somewhere");
            return framed(std::string_view{whole}.substr(length_size, header_size + 6));
        }
        case wire_lie::event_for_nobody:
            return event(node_deleted, connected, "/nobody/is/here");
        case wire_lie::spurious_events: {
            std::string all;
            for (std::int32_t type = 1; type <= 4; ++type) {
                all += event(type, connected, frame.path);
            }
            return all;
        }
        case wire_lie::session_event:
            return event(-1, -112, {});
        default:
            return std::nullopt;
    }
}

/** The error that a lie puts in place of success; nothing if the lie is not of this kind. */
std::optional<std::int32_t> false_error(wire_lie lie) {
    switch (lie) {
        case wire_lie::unknown_error:
            return -12'345;
        case wire_lie::positive_error:
            return 5;
        case wire_lie::not_there:
            return -101;
        case wire_lie::there_already:
            return -110;
        case wire_lie::not_allowed:
            return -102;
        case wire_lie::connection_lost:
            return -4;
        case wire_lie::session_over:
            return -112;
        case wire_lie::session_elsewhere:
            return -118;
        case wire_lie::credentials_wrong:
            return -115;
        case wire_lie::credentials_missing:
            return -124;
        case wire_lie::overloaded:
            return -127;
        default:
            return std::nullopt;
    }
}

/** Another frame instead of an answer. */
std::string spoilt(wire_lie lie, std::string bytes, std::mt19937_64& random) {
    const std::size_t size = bytes.size();
    const std::string_view payload = std::string_view{bytes}.substr(length_size);
    if (const auto error = false_error(lie)) {
        put32(bytes, error_at, *error);
        return bytes;
    }
    switch (lie) {
        case wire_lie::stops_inside:
        case wire_lie::connect_ends_early:
            return bytes.substr(0, size / 2 + length_size / 2);
        case wire_lie::ends_early:
            return framed(payload.substr(0, payload.size() / 2 + 1));
        case wire_lie::header_only:
            bytes.resize(std::min(size, body_at));
            put32(bytes, error_at, 0);
            return framed(std::string_view{bytes}.substr(length_size));
        case wire_lie::no_bytes:
            return framed({});
        case wire_lie::three_bytes:
            return framed(payload.substr(0, 3));
        case wire_lie::length_of_64_mib:
            put32(bytes, 0, 64 * 1024 * 1024);
            return bytes;
        case wire_lie::length_of_2_gib:
            put32(bytes, 0, most);
            return bytes;
        case wire_lie::length_minus_one:
            put32(bytes, 0, -1);
            return bytes;
        case wire_lie::length_minimum:
            put32(bytes, 0, least);
            return bytes;
        case wire_lie::another_xid:
            put32(bytes, xid_at, static_cast<std::int32_t>(random() & most));
            return bytes;
        case wire_lie::answered_twice:
            return bytes + bytes;
        case wire_lie::negative_zxid:
            put64(bytes, zxid_at, -1'000'000);
            return bytes;
        case wire_lie::huge_inner_length:
            put32(bytes, body_at, most);
            return bytes;
        case wire_lie::large_inner_count:
            put32(bytes, body_at, 256 * 1024 * 1024);
            return bytes;
        case wire_lie::negative_inner_length:
            put32(bytes, body_at, -2);
            return bytes;
        case wire_lie::garbage_body:
            return bytes.substr(0, std::min(size, body_at)) +
                   random_bytes(size - std::min(size, body_at), random);
        case wire_lie::garbage_frame:
        case wire_lie::connect_garbage:
            return framed(random_bytes(payload.size(), random));
        case wire_lie::flipped_bit: {
            const std::size_t at = length_size + random() % (size - length_size);
            bytes[at] = static_cast<char>(bytes[at] ^ (1 << (random() % 8)));
            return bytes;
        }
        case wire_lie::no_timeout:
            put32(bytes, timeout_at, 0);
            return bytes;
        case wire_lie::negative_timeout:
            put32(bytes, timeout_at, -5'000);
            return bytes;
        case wire_lie::huge_timeout:
            put32(bytes, timeout_at, most);
            return bytes;
        case wire_lie::no_session:
            put64(bytes, session_at, 0);
            return bytes;
        case wire_lie::long_password:
            put32(bytes, password_at, 1'000'000);
            return bytes;
        case wire_lie::negative_password:
            put32(bytes, password_at, -2);
            return bytes;
        default:
            return bytes;
    }
}

bool suits(wire_lie lie, const frame_info& frame) {
    if (lie == wire_lie::none) {
        return frame.kind == frame_kind::reply;
    }
    const bool connecting = frame.kind == frame_kind::connect;
    if (concerns_connecting(lie)) {
        return connecting;
    }
    // Pings come when they like: with them a run would not be the same twice.
    return frame.kind == frame_kind::reply && frame.op != op_code::ping && frame.number > 0;
}

}  // namespace

const std::vector<wire_lie>& all_wire_lies() {
    static const std::vector<wire_lie> all = [] {
        std::vector<wire_lie> lies;
        for (const auto& [lie, name] : names) {
            if (lie != wire_lie::none) {
                lies.push_back(lie);
            }
        }
        return lies;
    }();
    return all;
}

std::string_view to_string(wire_lie lie) noexcept {
    const auto* found = std::find_if(
        names.begin(), names.end(), [lie](const auto& entry) { return entry.first == lie; });
    return found == names.end() ? "?" : found->second;
}

std::optional<wire_lie> wire_lie_named(std::string_view name) {
    for (const auto& [lie, known] : names) {
        if (name == known) {
            return lie;
        }
    }
    return std::nullopt;
}

bool concerns_connecting(wire_lie lie) noexcept {
    return lie >= wire_lie::no_timeout;
}

liar::liar(wire_lie lie, std::uint64_t at, std::uint64_t seed) : lie_{lie}, at_{at}, seed_{seed} {}

std::string liar::operator()(const frame_info& frame, std::string bytes) {
    if (!shared_->kept.empty() && frame.kind == frame_kind::reply) {
        return std::move(bytes) + std::exchange(shared_->kept, {});
    }
    if (!suits(lie_, frame) || ++shared_->chances != at_ || lie_ == wire_lie::none) {
        return bytes;
    }
    shared_->told = true;
    std::mt19937_64 random{seed_};
    if (lie_ == wire_lie::left_out) {
        return {};
    }
    if (lie_ == wire_lie::swapped) {
        shared_->kept = std::move(bytes);
        return {};
    }
    if (auto more = insertion(lie_, frame, random)) {
        return *std::move(more) + bytes;
    }
    return spoilt(lie_, std::move(bytes), random);
}

}  // namespace corozk::testing
