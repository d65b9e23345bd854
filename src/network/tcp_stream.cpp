// SPDX-License-Identifier: Apache-2.0
#include "network/stream.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
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
        : socket_(executor), ready_(std::move(ready)) {}

    void connect(const endpoint& server) override {
        error_code failed;
        open_socket(socket_, server, failed);
        auto done = [self = shared_from_this()](const error_code& ec) {
            if (ec) {
                self->end(ec.message());
            } else {
                error_code ignored;
                self->socket_.set_option(tcp::no_delay(true), ignored);
                self->connected_ = true;
            }
            self->notify();
        };
        if (failed)
            return boost::asio::post(socket_.get_executor(), [done, failed] { done(failed); });
        socket_.async_connect(server, done);
    }

    // By reading, into a small buffer: waiting without one takes two more system calls each time.
    void wait_for_input() override {
        if (waiting_ || input_ || !connected_)
            return;
        waiting_ = true;
        socket_.async_receive(boost::asio::buffer(received_),
                              [self = shared_from_this()](const error_code& ec, std::size_t n) {
                                  self->waiting_ = false;
                                  self->input_ = true;
                                  self->begin_ = 0;
                                  self->end_ = n;
                                  self->failed_ = ec;
                                  self->notify();
                              });
    }

    std::size_t read(std::span<unsigned char> into) override {
        if (begin_ < end_)
            return take(into);
        input_ = false;
        if (!failed_ && end_ == received_.size())
            return receive(into);
        if (failed_)
            end(connection_problem(failed_));
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
    }

    void leave_to_parent() noexcept override {
        // A closed descriptor cannot be found in the reactor shared with the parent.
        if (socket_.is_open())
            ::close(socket_.native_handle());
    }

private:
    void notify() {
        if (!closed_)
            ready_();
    }

    std::size_t take(std::span<unsigned char> into) {
        std::size_t n = std::min(into.size(), end_ - begin_);
        std::memcpy(into.data(), received_.data() + begin_, n);
        begin_ += n;
        // There may be more, or the end.
        input_ = begin_ < end_ || end_ == received_.size() || failed_;
        return n;
    }

    /// What did not fit into the buffer.
    std::size_t receive(std::span<unsigned char> into) {
        ssize_t n = 0;
        do {
            n = ::recv(socket_.native_handle(), into.data(), into.size(), MSG_DONTWAIT);
        } while (n < 0 && errno == EINTR);
        if (n > 0) {
            input_ = static_cast<std::size_t>(n) == into.size();
            return static_cast<std::size_t>(n);
        }
        if (n == 0)
            end(connection_problem(boost::asio::error::eof));
        else if (errno != EAGAIN)
            end(connection_problem(error_code(errno, boost::system::system_category())));
        return 0;
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
        socket_.async_wait(tcp::socket::wait_write,
                           [self = shared_from_this()](const error_code& ec) {
                               if (ec)
                                   return;
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
    callback ready_;
    std::array<unsigned char, 2048> received_;
    std::size_t begin_ = 0;  ///< of what was not read yet
    std::size_t end_ = 0;
    error_code failed_;
    std::vector<unsigned char> unsent_;
    bool waiting_ = false;
    bool closed_ = false;
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
