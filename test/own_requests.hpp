// SPDX-License-Identifier: Apache-2.0
// Requests as tests count them: without heartbeats. On a slow machine one is sent when a response has
// not come for a second.
#pragma once

#include <corozk/testing/fault_proxy.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace corozk::testing {

/// The k-th request from now on that is no heartbeat, of clients whose `sync`s are below this path.
inline trigger at_own_request(std::string path, std::uint64_t k = 1) {
    auto is_own = [own = std::move(path)](const frame_info& frame) {
        return frame.number != 0 && (frame.op != op_code::sync || frame.path.starts_with(own));
    };
    return at_frame(std::move(is_own), k);
}

/// Counts what no earlier rule is for: `proxy.fired` says how often.
inline rule_id count(fault_proxy& proxy, trigger what) {
    return proxy.arm(std::move(what).times(0), call_at_request([](const frame_info&) {}));
}

}  // namespace corozk::testing
