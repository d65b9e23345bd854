// SPDX-License-Identifier: Apache-2.0
#include "c_client/tcp_bytes.hpp"

// The tcp_info of the kernel's header has byte counts; it cannot be combined with glibc's.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace corozk::detail {

byte_counts tcp_bytes(int descriptor) noexcept {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return {};
    return {info.tcpi_bytes_sent, info.tcpi_bytes_received};
}

}  // namespace corozk::detail
