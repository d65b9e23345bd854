// SPDX-License-Identifier: Apache-2.0
// Conversions from and to the numbers of ZooKeeper's protocol, as the C client defines them.
#pragma once

#include <corozk/error.hpp>
#include <corozk/types.hpp>
#include <corozk/watch_types.hpp>

#include <zookeeper/zookeeper.h>

namespace corozk::detail {

error_code to_error(int rc) noexcept;

/// The error of a response. Where it is about the connection, the outcome is unknown.
error_code to_answer_error(int rc) noexcept;

int to_c_mode(create_mode mode) noexcept;
watch_event_type to_event_type(int type) noexcept;

}  // namespace corozk::detail
