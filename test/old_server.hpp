// SPDX-License-Identifier: Apache-2.0
// A server that does not know some operations, as older ones: the real server's answer to what it does
// not know is "unimplemented", and it hangs up behind that.
#pragma once

#include <corozk/testing/fault_proxy.hpp>

#include <set>
#include <string>
#include <utility>

namespace corozk::testing {

/// From now on the server behind the proxy does not know these; none: it knows all again.
inline void forget_operations(fault_proxy& proxy, std::set<op_code> forgotten) {
    proxy.edit(direction::to_server,
               [forgotten = std::move(forgotten)](const frame_info& frame, std::string bytes) {
                   // Behind length and xid; no server knows 999.
                   if (frame.kind == frame_kind::request && forgotten.contains(frame.op))
                       bytes.replace(8, 4, std::string("\0\0\x03\xe7", 4));
                   return bytes;
               });
}

}  // namespace corozk::testing
