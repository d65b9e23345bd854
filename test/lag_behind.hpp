// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/testing/fault_proxy.hpp>

#include <string>
#include <utility>

namespace corozk::testing {

/// For requests from now on the server seems to know of no node at or below `folder`, until a `sync`.
/// A response that is on its way is not changed: its request may be one that a test has seen served.
inline void lag_behind(fault_proxy& proxy, std::string folder) {
    proxy.edit(direction::to_client,
               [folder = std::move(folder), before = proxy.requests(), lags = true](
                   const frame_info& frame, std::string bytes) mutable {
                   const bool reads = frame.op == testing::op_code::get_data ||
                                      frame.op == testing::op_code::exists ||
                                      frame.op == testing::op_code::get_children ||
                                      frame.op == testing::op_code::get_children2;
                   if (frame.kind != frame_kind::reply || frame.number <= before)
                       return bytes;
                   lags = lags && frame.op != testing::op_code::sync;
                   if (!lags || !reads || frame.error != 0 || !frame.path.starts_with(folder))
                       return bytes;
                   const std::string no_node("\xff\xff\xff\x9b", 4);
                   return bytes.replace(16, 4, no_node);
               });
}

}  // namespace corozk::testing
