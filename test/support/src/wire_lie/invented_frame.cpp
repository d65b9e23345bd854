// SPDX-License-Identifier: Apache-2.0

#include "invented_frame.hpp"

#include "frame_bytes.hpp"
#include "jute.hpp"

#include <string_view>

namespace corozk::testing::detail {
namespace {

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

}  // namespace

std::optional<std::string> invented_frame(wire_lie lie,
                                          const frame_info& frame,
                                          std::mt19937_64& random) {
    switch (lie) {
        case wire_lie::answer_to_nobody:
            return answer(static_cast<std::int32_t>(random() & 0x7fffffff));
        case wire_lie::ping_answer: return answer(-2);
        case wire_lie::auth_answer: return answer(-4);
        case wire_lie::watches_answer: return answer(-8);
        case wire_lie::event_of_unknown_type: return event(77, connected, frame.path);
        case wire_lie::event_of_unknown_state: return event(node_deleted, 77, frame.path);
        case wire_lie::event_with_garbage_path:
            return event(node_deleted, connected, random_bytes(40, random));
        case wire_lie::event_with_empty_path: return event(node_deleted, connected, {});
        case wire_lie::event_with_huge_path:
            return event(node_deleted, connected, "/" + std::string(1'000'000, 'x'));
        case wire_lie::event_with_zero_bytes:
            return event(node_deleted, connected, std::string("/a\0b/\0", 6));
        case wire_lie::event_that_ends_early: {
            const std::string whole = event(node_deleted, connected, "/somewhere");
            return framed(std::string_view{whole}.substr(length_size, header_size + 6));
        }
        case wire_lie::event_for_nobody: return event(node_deleted, connected, "/nobody/is/here");
        case wire_lie::spurious_events: {
            std::string all;
            for (std::int32_t type = 1; type <= 4; ++type) {
                all += event(type, connected, frame.path);
            }
            return all;
        }
        case wire_lie::session_event: return event(-1, -112, {});
        default: return std::nullopt;
    }
}

}  // namespace corozk::testing::detail
