// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/proxy_frame.hpp"

#include "jute.hpp"
#include "wire/operation_form.hpp"

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
        case frame_kind::connect: return "connect";
        case frame_kind::request: return "request";
        case frame_kind::reply: return "reply";
        case frame_kind::notification: return "notification";
        case frame_kind::raw: return "raw bytes";
    }
    return "unknown";
}

std::string_view to_string(frame_fate fate) noexcept {
    switch (fate) {
        case frame_fate::forwarded: return "forwarded";
        case frame_fate::held: return "held";
        case frame_fate::dropped: return "DROPPED";
        case frame_fate::swallowed: return "SWALLOWED";
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
        default: line += to_string(frame.kind);
    }
    return line + fmt::format(" ({} B) {}", frame.size, to_string(record.fate));
}

std::vector<std::pair<op_code, std::string>> operations_in(const frame_info& request) {
    constexpr std::size_t header_size = 8;
    std::vector<std::pair<op_code, std::string>> found = {{request.op, request.path}};
    if (request.op != op_code::multi || request.payload.size() < header_size) {
        return found;
    }
    detail::jute_reader in{request.payload.substr(header_size)};
    for (;;) {
        const auto step = static_cast<op_code>(in.int32());
        const bool done = in.boolean();
        in.int32();
        if (done || in.failed()) {
            return found;
        }
        found.emplace_back(step, detail::jute_reader{in}.buffer());
        const auto& form = corozk::detail::form_of(static_cast<corozk::detail::wire_op>(step));
        corozk::detail::read_record(in, form.request, true);
    }
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
