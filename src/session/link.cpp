// SPDX-License-Identifier: Apache-2.0
#include "session/link.hpp"

#include "c_client/fork_guard.hpp"
#include "session/agenda.hpp"

#include <cerrno>
#include <sys/socket.h>
#include <utility>

namespace corozk::detail {

link::link(const boost::asio::any_io_executor& executor, socket_monitor::callback ready)
    : socket_(executor, std::move(ready)), process_(forks()) {}

bool link::connect(const boost::asio::ip::tcp::endpoint& server) {
    client_->set_server(server);
    // After a failure the C client does nothing in the next call.
    for (int i = 0; i < 3 && !client_->open(); ++i)
        client_->interest();
    return client_->open();
}

void link::process() {
    constexpr std::size_t packets_per_turn = 256;
    if (!client_ || !client_->open())
        return socket_.take_readiness();
    if (socket_.take_writable()) {
        socket_.cork(true);
        auto result = client_->process(false, true);
        socket_.cork(false);
        if (result == handle::progress::failed)
            return;
    }
    allowance time;
    for (std::size_t i = 0; socket_.readable() && i < packets_per_turn; ++i) {
        if (client_->process(true, false) != handle::progress::packet)
            socket_.take_readable();
        if (time.spent())
            break;
    }
}

bool link::follow(const std::shared_ptr<void>& owner) {
    if (!client_->open())
        return false;
    auto interest = client_->interest();
    // The C client keeps its socket as long as it is connected.
    bool connected = client_->connected();
    if (!connected || !followed_)
        socket_.follow(interest.descriptor);
    followed_ = connected;
    if (!client_->open())
        return false;
    socket_.wait_readable(owner);
    if (interest.write)
        socket_.wait_writable(owner);
    return true;
}

void link::drop() {
    client_->abort();
    socket_.close();
}

bool link::send_close_packet() {
    auto packet = handle::close_packet();
    ssize_t n = ::send(socket_.native(), packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return n == static_cast<ssize_t>(packet.size());
}

bool link::hung_up() {
    char scratch[4096];
    if (!socket_.take_readable())
        return false;
    ssize_t n = 0;
    do {
        n = ::recv(socket_.native(), scratch, sizeof scratch, MSG_DONTWAIT);
    } while (n > 0 || (n < 0 && errno == EINTR));
    return n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

bool link::leave_to_parent() noexcept {
    if (std::exchange(process_, forks()) == forks())
        return false;
    socket_.leave_to_parent();
    return true;
}

void link::abandon() noexcept {
    leave_to_parent();
    socket_.abandon();
}

}  // namespace corozk::detail
