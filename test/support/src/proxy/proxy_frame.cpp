// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/proxy_frame.hpp"

#include <fmt/format.h>

namespace corozk::testing {
namespace {

template <class Map>
std::uint64_t count(const Map& map, const typename Map::key_type& key) {
    const auto found = map.find(key);
    return found == map.end() ? 0 : found->second;
}

}  // namespace

std::string_view to_string(direction way) noexcept {
    return way == direction::to_server ? "to server" : "to client";
}

std::string_view to_string(frame_kind kind) noexcept {
    switch (kind) {
        case frame_kind::connect:
            return "connect";
        case frame_kind::request:
            return "request";
        case frame_kind::reply:
            return "reply";
        case frame_kind::notification:
            return "notification";
        case frame_kind::raw:
            return "raw bytes";
    }
    return "unknown";
}

std::string_view to_string(frame_fate fate) noexcept {
    switch (fate) {
        case frame_fate::forwarded:
            return "forwarded";
        case frame_fate::held:
            return "held";
        case frame_fate::dropped:
            return "DROPPED";
        case frame_fate::swallowed:
            return "SWALLOWED";
    }
    return "unknown";
}

std::string describe(const frame_record& record) {
    const auto& frame = record.frame;
    std::string line =
        fmt::format("c{} {} ", frame.connection, frame.way == direction::to_server ? "->" : "<-");
    if (frame.number != 0) {
        line += fmt::format("#{} ", frame.number);
    }
    switch (frame.kind) {
        case frame_kind::request:
            line += fmt::format("{} xid={} {}", to_string(frame.op), frame.xid, frame.path);
            break;
        case frame_kind::reply:
            line += fmt::format("reply to {} xid={} {} zxid={:#x} error={}",
                                to_string(frame.op),
                                frame.xid,
                                frame.path,
                                frame.zxid,
                                frame.error);
            break;
        case frame_kind::notification:
            line += fmt::format("notification type={} {}", frame.event, frame.path);
            break;
        default:
            line += to_string(frame.kind);
    }
    return line + fmt::format(" ({} B) {}", frame.size, to_string(record.fate));
}

std::uint64_t proxy_statistics::requests_of(op_code op) const {
    return count(requests_by_op, op);
}

std::uint64_t proxy_statistics::replies_of(op_code op) const {
    return count(replies_by_op, op);
}

std::uint64_t proxy_statistics::fired(rule_id rule) const {
    return count(fired_by_rule, rule);
}

}  // namespace corozk::testing
