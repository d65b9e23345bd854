// SPDX-License-Identifier: Apache-2.0
// How a session ends. The C client's own closing blocks for up to 4.5 s, so we say goodbye
// ourselves: wait for the last answers, send the closing packet, wait for the server to hang up,
// and only then let the C client free what it holds. With TLS the C client says it, on a thread of its
// own.
#include "c_client/fork_guard.hpp"
#include "c_client/handle_reaper.hpp"
#include "driver/cancellable.hpp"
#include "session/session.hpp"

#include <boost/asio/execution/context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>

#include <algorithm>
#include <cerrno>
#include <sys/socket.h>

namespace corozk::detail {

void session::close(user_call<> call) {
    heed_fork();
    call.ahead_of_copies();
    if (over()) {
        begin_closing();
        return call.complete(error_code());
    }
    auto shared = cancellable(std::move(call), stops_waiting);
    close_calls_.push_back(std::move(shared));
    begin_closing();
    wake();
}

void session::release() noexcept {
    heed_fork();
    if (status_.state == session_state::closed)
        return;
    begin_closing();
    wake();
}

/// In the child of a fork the connection and the session are the parent's: what is written to one
/// would be the parent's word, what is read from it would be missing there. They are let go without
/// a word.
void session::heed_fork() {
    if (abandoned_ || process_ == forks())
        return;
    process_ = forks();
    monitor_.leave_to_parent();
    if (closing_.active()) {
        closing_.fail();
        finish_closing();
    } else if (!connector_.idle()) {
        fail_for_good(errc::closed);
    }
}

/// Neither connected nor connecting nor closing.
bool session::over() const noexcept {
    return abandoned_ || (connector_.idle() && !closing_.active());
}

void session::begin_closing() {
    if (status_.state == session_state::closed)
        return;
    bool had_session = status_.generation != 0 && status_.state != session_state::connecting;
    closing_.begin(handle_ && handle_->connected(),
                   had_session,
                   time_limit(options_.close_timeout).from(now()));
    stop_connecting();
    for (auto& call : std::exchange(connect_calls_, {}))
        call->fail(errc::closed);
    set_state(session_state::closed, errc::closed);
    watches_.drop_all(errc::closed);
    fail_queued(errc::closed);
    if (!closing_.active())
        finish_closing();
}

void session::go_on_closing() {
    closing_steps::connection_type connection;
    connection.connected = handle_ && handle_->connected();
    connection.settled = in_flight_ == 0 && !watches_.telling();
    connection.half_packet =
        connection.connected && connection.settled && handle_->interest().write;
    switch (closing_.next(connection, now())) {
        case closing_steps::action::wait:
            break;
        case closing_steps::action::say_goodbye:
            say_goodbye();
            break;
        case closing_steps::action::finish:
            finish_closing();
            break;
    }
}

void session::say_goodbye() {
    monitor_.cork(false);
    if (options_.tls) {
        // Only the C client can encrypt. It waits for the server's answer, elsewhere.
        handle_->part_when_destroyed();
        reap(std::move(handle_));
    } else if (!send_close_packet()) {
        closing_.fail();
        return finish_closing();
    }
    readable_ = false;
    monitor_.wait_readable(shared_from_this());
}

bool session::send_close_packet() {
    auto packet = handle::close_packet();
    ssize_t n =
        ::send(monitor_.native(), packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return n == static_cast<ssize_t>(packet.size());
}

/// The server answers and hangs up; its answer is none of the C client's business.
void session::part() {
    char scratch[4096];
    for (;;) {
        ssize_t n = ::recv(monitor_.native(), scratch, sizeof scratch, MSG_DONTWAIT);
        if (n > 0)
            continue;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            readable_ = false;
            return;
        }
        break;
    }
    readable_ = false;
    closing_.hung_up();
    finish_closing();
}

void session::finish_closing() {
    retire_handle();
    monitor_.close();
    complete_close_calls();
}

/// Whoever waited for a watch is told before whoever waits for the end.
void session::complete_close_calls() {
    if (closing_.active() || watches_.telling())
        return;
    for (auto& call : std::exchange(close_calls_, {}))
        call->complete(closing_.result());
}

void session::fail_for_good(error_code reason) {
    stop_connecting();
    retire_handle();
    monitor_.close();
    readable_ = writable_ = false;
    auto calls = std::exchange(connect_calls_, {});
    set_state(session_state::closed, reason);
    watches_.drop_all(reason);
    fail_queued(errc::closed);
    for (auto& call : calls)
        call->fail(reason);
}

void session::retire_handle() {
    if (!handle_)
        return;
    // What is inside is answered with `connection_loss` into the inbox.
    handle_->abort();
    constexpr std::size_t many = 1024;
    // After a failed authentication requests are still inside.
    bool answered = handle_->state() != handle_state::auth_failed;
    if (!abandoned_ && answered && watches_.size() + watches_.untold() > many)
        reap(std::move(handle_));
    handle_.reset();
    // What it has said of its own session is nothing to the next one's.
    auto about_it = [](const arrival& a) { return a.kind == arrival::kind_type::session_event; };
    auto ahead = batch_.begin() + static_cast<std::ptrdiff_t>(next_arrival_);
    batch_.erase(std::remove_if(ahead, batch_.end(), about_it), batch_.end());
    std::erase_if(inbox_, about_it);
}

void session::reap(std::unique_ptr<handle> last) {
    auto& context = boost::asio::query(executor_, boost::asio::execution::context);
    boost::asio::use_service<handle_reaper>(context).take(std::move(last));
}

void session::fail_queued(error_code reason) {
    while (!outbox_.empty()) {
        operation& op = outbox_.front();
        outbox_.pop_front();
        refuse(op, reason);
    }
}

}  // namespace corozk::detail
