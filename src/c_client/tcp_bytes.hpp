// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace corozk::detail {

struct byte_counts {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
};

/// Bytes sent and received by a TCP connection, as counted by the kernel.
byte_counts tcp_bytes(int descriptor) noexcept;

}  // namespace corozk::detail
