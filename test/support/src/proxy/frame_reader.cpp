// SPDX-License-Identifier: Apache-2.0

#include "frame_reader.hpp"

#include "jute.hpp"

#include <algorithm>

namespace corozk::testing::detail {
namespace {

constexpr std::size_t length_size = 4;

}  // namespace

std::string_view payload_of(std::string_view frame) {
    return frame.substr(std::min(length_size, frame.size()));
}

// What a frame is too short for is zero or empty: a test may send anything, and the server decides.

void read_request(frame_info& info) {
    jute_reader reader{info.payload};
    info.xid = reader.int32();
    info.op = static_cast<op_code>(reader.int32());
    op_code subject = info.op;
    if (info.op == op_code::multi || info.op == op_code::multi_read) {
        subject = static_cast<op_code>(reader.int32());  // the first operation inside
        reader.boolean();
        reader.int32();
    }
    if (has_path(subject)) {
        info.path = reader.buffer();
    }
}

void read_reply(frame_info& info) {
    jute_reader reader{info.payload};
    info.xid = reader.int32();
    info.zxid = reader.int64();
    info.error = reader.int32();
    if (info.xid == notification_xid) {
        info.kind = frame_kind::notification;
        info.event = reader.int32();
        reader.int32();  // state
        info.path = reader.buffer();
    }
}

session_record read_connect_reply(const frame_info& info) {
    session_record session;
    session.connection = info.connection;
    jute_reader reader{info.payload};
    reader.int32();  // protocol version
    session.timeout = std::chrono::milliseconds{reader.int32()};
    session.session_id = reader.int64();
    session.password = reader.buffer();
    return session;
}

}  // namespace corozk::testing::detail
