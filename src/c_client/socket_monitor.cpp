// SPDX-License-Identifier: Apache-2.0
#include "c_client/socket_monitor.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace corozk::detail {

bool socket_monitor::same_socket(int descriptor) const noexcept {
    struct stat s {};
    return ::fstat(descriptor, &s) == 0 && s.st_dev == device_ && s.st_ino == inode_;
}

void socket_monitor::follow(int descriptor) {
    if (open()) {
        if (descriptor >= 0 && same_socket(descriptor))
            return;
        close();
    }
    if (descriptor < 0 || !descriptor_)
        return;
    struct stat s {};
    int duplicate = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (duplicate < 0 || ::fstat(duplicate, &s) != 0) {
        if (duplicate >= 0)
            ::close(duplicate);
        return;
    }
    boost::system::error_code ec;
    descriptor_->assign(duplicate, ec);
    if (ec) {
        ::close(duplicate);
        return;
    }
    device_ = s.st_dev;
    inode_ = s.st_ino;
}

void socket_monitor::close() {
    if (!open())
        return;
    byte_counts last = current_bytes();
    finished_.sent += last.sent;
    finished_.received += last.received;
    boost::system::error_code ignored;
    descriptor_->close(ignored);
    write_descriptor_->close(ignored);
    ++epoch_;
    read_ = write_ = wait_type::none;
}

void socket_monitor::leave_to_parent() noexcept {
    // A closed descriptor cannot be found in the reactor shared with the parent.
    for (auto* shared : {&descriptor_, &write_descriptor_}) {
        if (*shared && (*shared)->is_open())
            ::close((*shared)->native_handle());
    }
    close();
}

void socket_monitor::wait_readable(const std::shared_ptr<void>& owner) {
    if (read_ != wait_type::none || !open())
        return;
    read_ = wait_type::pending;
    descriptor_->async_wait(boost::asio::posix::stream_descriptor::wait_read,
                            [this, owner, epoch = epoch_](const boost::system::error_code& ec) {
                                if (epoch != epoch_)
                                    return;
                                read_ = ec ? wait_type::none : wait_type::ready;
                                if (!ec)
                                    ready_();
                            });
}

void socket_monitor::wait_writable(const std::shared_ptr<void>& owner) {
    if (write_ != wait_type::none || !open())
        return;
    int duplicate = ::fcntl(descriptor_->native_handle(), F_DUPFD_CLOEXEC, 0);
    if (duplicate < 0)
        return;
    boost::system::error_code ec;
    write_descriptor_->assign(duplicate, ec);
    if (ec) {
        ::close(duplicate);
        return;
    }
    write_ = wait_type::pending;
    write_descriptor_->async_wait(
        boost::asio::posix::stream_descriptor::wait_write,
        [this, owner, epoch = epoch_](const boost::system::error_code& result) {
            if (epoch != epoch_)
                return;
            write_ = result ? wait_type::none : wait_type::ready;
            boost::system::error_code ignored;
            write_descriptor_->close(ignored);
            if (!result)
                ready_();
        });
}

void socket_monitor::cork(bool on) noexcept {
    if (!open())
        return;
    int value = on ? 1 : 0;
    ::setsockopt(descriptor_->native_handle(), IPPROTO_TCP, TCP_CORK, &value, sizeof value);
}

byte_counts socket_monitor::current_bytes() const noexcept {
    return open() ? tcp_bytes(descriptor_->native_handle()) : byte_counts();
}

byte_counts socket_monitor::bytes() const noexcept {
    byte_counts current = current_bytes();
    return {finished_.sent + current.sent, finished_.received + current.received};
}

}  // namespace corozk::detail
