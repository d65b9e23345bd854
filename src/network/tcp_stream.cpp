// SPDX-License-Identifier: Apache-2.0
#include "network/stream.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>

#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace corozk::detail {

namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

class tcp_stream final : public stream, public std::enable_shared_from_this<tcp_stream> {
public:
    tcp_stream(const boost::asio::any_io_executor& executor, callback ready)
        : stream(std::move(ready)), socket_(executor), writable_(executor) {}

    void connect(const endpoint& server) override {
        error_code failed;
        open_socket(socket_, server, failed);
        if (!failed && ::connect(socket_.native_handle(), server.data(), addrlen(server)) != 0 &&
            errno != EINPROGRESS)
            failed.assign(errno, boost::system::system_category());
        if (failed) {
            return boost::asio::post(socket_.get_executor(), [self = shared_from_this(), failed] {
                self->finish_connecting(failed);
            });
        }
        wait_writable([self = shared_from_this()](error_code ec) {
            int problem = 0;
            socklen_t size = sizeof problem;
            if (!ec &&
                ::getsockopt(
                    self->socket_.native_handle(), SOL_SOCKET, SO_ERROR, &problem, &size) == 0)
                ec.assign(problem, boost::system::system_category());
            self->finish_connecting(ec);
        });
    }

    // Without a buffer: an idle connection takes no memory, and in the child of a fork the reactor
    // reads nothing that belongs to the parent.
    void wait_for_input() override {
        if (waiting_ || input_ || !connected_)
            return;
        waiting_ = true;
        socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](const error_code&) {
            self->waiting_ = false;
            // An error is found by reading, behind what has arrived before it.
            self->input_ = true;
            self->notify();
        });
    }

    std::size_t read(std::span<unsigned char> into) override {
        ssize_t n = 0;
        do {
            n = ::recv(socket_.native_handle(), into.data(), into.size(), MSG_DONTWAIT);
        } while (n < 0 && errno == EINTR);
        // A wait notices whatever is left, or arrives meanwhile.
        input_ = n > 0 && static_cast<std::size_t>(n) == into.size();
        if (n > 0)
            return static_cast<std::size_t>(n);
        if (n == 0)
            end(connection_problem(boost::asio::error::eof));
        else if (errno != EAGAIN)
            end(connection_problem(error_code(errno, boost::system::system_category())));
        return 0;
    }

    void write(bytes data) override {
        if (unsent_.empty())
            data = data.subspan(send(data));
        if (data.empty())
            return;
        bool first = unsent_.empty();
        unsent_.insert(unsent_.end(), data.begin(), data.end());
        if (first)
            wait_for_room();
    }

    bool congested() const noexcept override { return !unsent_.empty(); }

    void close() override {
        closed_ = true;
        end({});
        error_code ignored;
        socket_.close(ignored);
        writable_.close(ignored);
    }

    void leave_to_parent() noexcept override {
        // A closed descriptor cannot be found in the reactor shared with the parent.
        if (socket_.is_open())
            ::close(socket_.native_handle());
        if (writable_.is_open())
            ::close(writable_.native_handle());
    }

private:
    static socklen_t addrlen(const endpoint& server) {
        return static_cast<socklen_t>(server.size());
    }

    void finish_connecting(const error_code& failed) {
        if (failed) {
            end(failed.message());
        } else {
            error_code ignored;
            socket_.set_option(tcp::no_delay(true), ignored);
            connected_ = true;
        }
        notify();
    }

    /// On another descriptor: one that was once waited on for writing would cause a spurious wake-up
    /// with each wait for input. If the process has no more of them, that costs less than the
    /// connection.
    template <class Function>
    void wait_writable(Function then) {
        error_code failed;
        int duplicate = ::fcntl(socket_.native_handle(), F_DUPFD_CLOEXEC, 0);
        if (duplicate < 0)
            failed.assign(errno, boost::system::system_category());
        else if (writable_.assign(duplicate, failed); failed)
            ::close(duplicate);
        if (failed) {
            socket_.async_wait(tcp::socket::wait_write,
                               [self = shared_from_this(), then](const error_code& ec) {
                                   if (!self->closed_)
                                       then(ec);
                               });
            return;
        }
        writable_.async_wait(boost::asio::posix::stream_descriptor::wait_write,
                             [self = shared_from_this(), then](const error_code& ec) {
                                 if (self->closed_)
                                     return;
                                 error_code ignored;
                                 self->writable_.close(ignored);
                                 then(ec);
                             });
    }

    /// @return the number of bytes that need no further attention
    std::size_t send(bytes data) {
        std::size_t sent = 0;
        while (sent < data.size()) {
            ssize_t n = ::send(socket_.native_handle(),
                               data.data() + sent,
                               data.size() - sent,
                               MSG_NOSIGNAL | MSG_DONTWAIT);
            if (n >= 0)
                sent += static_cast<std::size_t>(n);
            else if (errno == EAGAIN)
                return sent;
            else if (errno != EINTR)
                return data.size();  // the input ends, too
        }
        return sent;
    }

    void wait_for_room() {
        wait_writable([self = shared_from_this()](const error_code& ec) {
            if (ec) {
                self->end(connection_problem(ec));
                return self->notify();
            }
            std::vector<unsigned char>& unsent = self->unsent_;
            auto sent = static_cast<std::ptrdiff_t>(self->send(unsent));
            unsent.erase(unsent.begin(), unsent.begin() + sent);
            if (!unsent.empty())
                return self->wait_for_room();
            unsent.shrink_to_fit();
            self->notify();
        });
    }

    tcp::socket socket_;
    boost::asio::posix::stream_descriptor writable_;
    std::vector<unsigned char> unsent_;
    bool waiting_ = false;
};

}  // namespace

std::shared_ptr<stream> stream::tcp(const boost::asio::any_io_executor& executor, callback ready) {
    return std::make_shared<tcp_stream>(executor, std::move(ready));
}

std::string connection_problem(const error_code& error) {
    return error == boost::asio::error::eof ? "it closed the connection" : error.message();
}

void open_socket(tcp::socket& socket, const stream::endpoint& server, error_code& error) {
    auto protocol = server.protocol();
    int descriptor =
        ::socket(protocol.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
    if (descriptor < 0) {
        error.assign(errno, boost::system::system_category());
        return;
    }
    socket.assign(protocol, descriptor, error);
    if (error)
        ::close(descriptor);
}

}  // namespace corozk::detail
