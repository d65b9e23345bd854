// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/proxy_frame.hpp"

#include <string_view>

namespace corozk::testing::detail {

inline constexpr std::int32_t notification_xid = -1;

/** The payload of a frame: what follows its length. */
std::string_view payload_of(std::string_view frame);

/** Reads what a request (not the connect request) says about itself into `info`. */
void read_request(frame_info& info);

/** Reads the header of a reply or a notification, and a notification's event. */
void read_reply(frame_info& info);

/** Reads the answer to a connect request. */
session_record read_connect_reply(const frame_info& info);

}  // namespace corozk::testing::detail
