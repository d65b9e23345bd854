// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace corozk::testing::detail {

/** Asio's sockets are inherited by an exec otherwise. */
template <class Socket>
void close_on_exec(Socket& socket) {
    ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
}

/** As the socket's `open`, but it is not inherited even if another thread forks meanwhile. */
template <class Socket>
void open_close_on_exec(Socket& socket,
                        const typename Socket::protocol_type& protocol,
                        boost::system::error_code& failed) {
    const int fd = ::socket(protocol.family(), protocol.type() | SOCK_CLOEXEC, protocol.protocol());
    if (fd < 0) {
        failed.assign(errno, boost::system::system_category());
        return;
    }
    socket.assign(protocol, fd, failed);
    if (failed) {
        ::close(fd);
    }
}

/** The same; throws boost::system::system_error. */
template <class Socket>
void open_close_on_exec(Socket& socket, const typename Socket::protocol_type& protocol) {
    boost::system::error_code failed;
    open_close_on_exec(socket, protocol, failed);
    if (failed) {
        throw boost::system::system_error{failed};
    }
}

}  // namespace corozk::testing::detail
