// SPDX-License-Identifier: Apache-2.0

#include "link.hpp"

#include "close_on_exec.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <poll.h>
#include <utility>

namespace corozk::testing::detail {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;

constexpr std::size_t queue_limit = 64UL * 1024 * 1024;
constexpr auto linger_limit = milliseconds{1'000};

/** True if the other end has closed, even if nobody has read up to that point yet. */
bool peer_closed(boost::asio::ip::tcp::socket& socket) {
    pollfd state{.fd = socket.native_handle(), .events = POLLRDHUP, .revents = 0};
    return socket.is_open() && ::poll(&state, 1, 0) > 0 &&
           (state.revents & (POLLRDHUP | POLLERR)) != 0;
}

}  // namespace

link::link(proxy_state& state, tcp::socket client, std::uint64_t id, closed_handler on_closed)
    : state_{state},
      client_{std::move(client)},
      server_{client_.get_executor()},
      id_{id},
      on_closed_{std::move(on_closed)},
      halves_{half{client_.get_executor()}, half{client_.get_executor()}},
      limit_{client_.get_executor()} {}

void link::start() {
    error_code ignored;
    client_.set_option(tcp::no_delay{true}, ignored);
    connect();
    read(direction::to_server);
}

void link::connect() {
    if (connecting_ || closed_ || state_.hole(direction::to_server)) {
        return;
    }
    connecting_ = true;
    const tcp::endpoint address{asio::ip::address_v4::loopback(), state_.server_port};
    error_code failed;  // said by the connecting
    detail::open_close_on_exec(server_, address.protocol(), failed);
    server_.async_connect(address, [self = shared_from_this()](const error_code& error) {
        if (self->closed_) {
            return;
        }
        if (error) {
            self->cut();
            return;
        }
        error_code ignored;
        self->server_.set_option(tcp::no_delay{true}, ignored);
        self->connected_ = true;
        self->read(direction::to_client);
        self->wake();
    });
}

// --- reading -------------------------------------------------------------------------------------

void link::read(direction way) {
    auto& one = line(way);
    const bool open = way == direction::to_server || connected_;
    if (closed_ || !open || one.reading || one.ended || one.queued > queue_limit) {
        return;
    }
    one.reading = true;
    source(way).async_read_some(
        one.room(), [self = shared_from_this(), way](const error_code& error, std::size_t count) {
            self->on_read(way, error, count);
        });
}

void link::on_read(direction way, const error_code& error, std::size_t count) {
    auto& one = line(way);
    one.reading = false;
    if (closed_) {
        if (way == direction::to_server && client_.is_open()) {
            if (error) {
                close_client();
            } else {
                drain_client();
            }
        }
        return;
    }
    if (error) {
        on_end(way, error != asio::error::eof);
        return;
    }
    one.stream.filled(count);
    if (way == direction::to_client && line(direction::to_server).stream.unframed()) {
        one.stream.stop_framing();
    }
    while (auto bytes = one.stream.next()) {
        one.queued += bytes->size();
        one.inbox.push_back({.bytes = *std::move(bytes), .decided = {}});
    }
    pump(way);
    read(way);
}

void link::on_end(direction way, bool broken) {
    auto& one = line(way);
    one.ended = true;
    one.broken = broken;
    if (broken && !state_.hole(way)) {
        cut();
        return;
    }
    pump(way);
}

// --- the gate ------------------------------------------------------------------------------------

bool link::may_pass(direction way) {
    if (way == direction::to_server && no_more_requests_) {
        return false;
    }
    return !closed_ && connected_ && !state_.hole(way) && !line(way).held_by;
}

void link::pump(direction way) {
    auto& one = line(way);
    if (std::exchange(one.pumping, true)) {  // called back from inside the loop below
        return;
    }
    const auto keep = shared_from_this();
    while (may_pass(way) && !one.inbox.empty()) {
        auto frame = std::move(one.inbox.front());
        one.inbox.pop_front();
        one.queued -= frame.bytes.size();
        pass(way, std::move(frame));
    }
    one.pumping = false;
    if (closed_) {
        return;
    }
    if (one.ended && one.inbox.empty() && may_pass(way) && !one.finished) {
        one.finished = true;
        departing last;
        last.due = clock::now();
        last.then_finish = true;
        one.outbox.push_back(std::move(last));
    }
    write(way);
}

void link::wake() {
    const auto keep = shared_from_this();
    connect();
    pump(direction::to_server);
    pump(direction::to_client);
    read(direction::to_server);
    read(direction::to_client);
}

void link::heal() {
    if (state_.hole(direction::to_server) || state_.hole(direction::to_client)) {
        wake();  // only one of two directions has healed
        return;
    }
    if (!state_.options.late_delivery &&
        (line(direction::to_server).ended || line(direction::to_client).ended ||
         peer_closed(client_) || peer_closed(server_))) {
        cut();
        return;
    }
    wake();
}

void link::release(std::optional<rule_id> rule) {
    for (auto& request : unanswered_) {
        if (request.rule && (!rule || request.rule->id == *rule) &&
            request.rule->what.what() == action::kind::hold_reply) {
            request.rule.reset();
        }
    }
    for (auto& one : halves_) {
        if (one.held_by && (!rule || *one.held_by == *rule)) {
            unhold(one);
        }
    }
    wake();
}

void link::unhold(half& one) {
    if (one.held_by) {
        one.held_by.reset();
        state_.log.count([](auto& statistics) { --statistics.held; });
    }
}

void link::hold(direction way, arrived frame, const frame_info& info, rule_id rule) {
    auto& one = line(way);
    state_.log.record(info, frame_fate::held);
    one.queued += frame.bytes.size();
    frame.decided = info;
    one.inbox.push_front(std::move(frame));
    one.held_by = rule;
    state_.log.count([](auto& statistics) { ++statistics.held; });
}

// --- closing -------------------------------------------------------------------------------------

void link::cut() {
    if (std::exchange(closed_, true)) {
        return;
    }
    const auto keep = shared_from_this();
    for (auto& one : halves_) {
        one.timer.cancel();
        one.inbox.clear();
        one.outbox.resize(one.writing ? 1 : 0);  // the one in flight is still referred to
        unhold(one);
    }
    unanswered_.clear();
    cut_when_all_answered_.reset();
    limit_.cancel();
    error_code ignored;
    server_.close(ignored);
    if (state_.options.style == cut_style::reset) {
        client_.set_option(asio::socket_base::linger{true, 0}, ignored);
        close_client();
    } else {
        // Closing a socket that holds unread data sends a reset: read until the client closes.
        client_.shutdown(tcp::socket::shutdown_send, ignored);
        limit_.expires_after(linger_limit);
        limit_.async_wait([self = weak_from_this()](const error_code& error) {
            if (const auto alive = self.lock(); alive && !error) {
                alive->close_client();
            }
        });
        drain_client();
    }
    state_.log.count([](auto& statistics) { --statistics.connections_open; });
    on_closed_(id_);
}

void link::drain_client() {
    auto& one = line(direction::to_server);
    if (one.ended) {
        close_client();
    } else if (!std::exchange(one.reading, true)) {
        client_.async_read_some(
            one.room(), [self = shared_from_this()](const error_code& error, std::size_t count) {
                self->on_read(direction::to_server, error, count);
            });
    }
}

void link::close_client() {
    error_code ignored;
    client_.close(ignored);
    limit_.cancel();
}

// --- writing -------------------------------------------------------------------------------------

void link::write(direction way) {
    auto& one = line(way);
    if (closed_ || one.writing || one.outbox.empty() || state_.hole(way) || !connected_) {
        return;
    }
    if (const auto due = one.outbox.front().due; due > clock::now()) {
        one.timer.expires_at(due);
        one.timer.async_wait([self = shared_from_this(), way](const error_code& error) {
            if (!error) {
                self->write(way);
            }
        });
        return;
    }
    one.writing = true;
    asio::async_write(sink(way),
                      asio::buffer(one.outbox.front().bytes),
                      [self = shared_from_this(), way](const error_code& error, std::size_t) {
                          self->on_written(way, error);
                      });
}

void link::on_written(direction way, const error_code& error) {
    auto& one = line(way);
    one.writing = false;
    if (closed_) {
        return;
    }
    if (error) {
        cut();
        return;
    }
    depart(way);
    if (!closed_) {
        write(way);
        read(way);
    }
}

void link::depart(direction way) {
    auto& one = line(way);
    const auto done = std::move(one.outbox.front());
    one.outbox.pop_front();
    one.queued -= done.bytes.size();
    state_.log.count([&](auto& statistics) {
        (way == direction::to_server ? statistics.bytes_to_server : statistics.bytes_to_client) +=
            done.bytes.size();
    });
    if (done.then_cut) {
        if (done.refusal.count() > 0) {
            state_.begin_refusal(done.refusal);
        }
        cut();
    } else if (done.then_finish) {
        error_code ignored;
        sink(way).shutdown(tcp::socket::shutdown_send, ignored);
        const bool both =
            line(direction::to_server).finished && line(direction::to_client).finished;
        const bool quiet = halves_[0].outbox.empty() && halves_[1].outbox.empty();
        const bool cut_decided = way == direction::to_client && no_more_requests_;
        if ((both && quiet) || cut_decided) {
            cut();
        }
    }
}

}  // namespace corozk::testing::detail
