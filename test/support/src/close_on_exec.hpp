// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>

namespace corozk::testing::detail {

/** Asio's sockets are inherited by an exec otherwise. */
template <class Socket>
void close_on_exec(Socket& socket) {
    ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
}

}  // namespace corozk::testing::detail
