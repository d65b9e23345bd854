// SPDX-License-Identifier: Apache-2.0

#include "spoilt_event.hpp"

#include "frame_bytes.hpp"
#include "jute.hpp"

#include <string_view>

namespace corozk::testing::detail {
namespace {

constexpr std::size_t type_at = body_at;
constexpr std::size_t path_at = type_at + 8;  // behind the state

std::int32_t another_type(std::int32_t type) {
    return type % 4 + 1;
}

std::string for_another_path(std::string_view event) {
    jute_writer changed;
    changed.raw(event.substr(length_size, path_at - length_size)).buffer("/nobody/is/here");
    return framed(changed.bytes());
}

std::string cut_inside_path(std::string_view event, std::size_t path_size) {
    return framed(event.substr(length_size, event.size() - length_size - path_size / 2 - 1));
}

}  // namespace

std::string spoilt_event(wire_lie lie, const frame_info& frame, std::string bytes) {
    switch (lie) {
        case wire_lie::event_lost: return {};
        case wire_lie::event_doubled: return bytes + bytes;
        case wire_lie::event_for_another_path: return for_another_path(bytes);
        case wire_lie::event_of_another_type:
            put32(bytes, type_at, another_type(frame.event));
            return bytes;
        case wire_lie::event_cut_short: return cut_inside_path(bytes, frame.path.size());
        default: return first_half(bytes);
    }
}

}  // namespace corozk::testing::detail
