// SPDX-License-Identifier: Apache-2.0
#include "session/link.hpp"

#include "network/fork_guard.hpp"
#include "session/agenda.hpp"
#include "session/own_request.hpp"

#include <utility>

namespace corozk::detail {

namespace {

/// Of an earlier attempt.
void forget_response(operation& op) {
    op.answer.clear();
    op.names.clear();
    op.results.assign(op.steps.size(), {});
}

}  // namespace

link::link(stream_factory& streams, std::vector<arrival>& inbox, relay::callback ready)
    : relay_(relay::make(streams,
                         std::move(ready),
                         [this](const reception& what) { received(what); })),
      inbox_(inbox),
      process_(forks()) {}

void link::received(const reception& what) {
    if (what.what == reception::kind::event) {
        inbox_.push_back(to_arrival(what));
    } else if (!own_.empty()) {
        operation& op = *own_.front();
        own_.pop_front();
        take_response(op, what, client_ ? client_->session_id() : 0);
        // It knows those that were set before, and not yet those that were set after.
        if (client_ && replaces_watches(op))
            client_->forget_watches(op.path);
        inbox_.emplace_back(op);
    }
}

bool link::overtakes(const operation& op) const noexcept {
    return is_own(op) || op.code == op_code::add_auth;
}

bool link::can_ask(const operation& op) const noexcept {
    return can_be_asked(op, relay_->abilities());
}

bool link::submit(operation& op) {
    if (!can_ask(op)) {
        // The server keeps the watch until it fires, into nothing. Those that share the path with a
        // persistent one are still waited for.
        if (op.code == op_code::remove_watches && op.version != all_watches)
            client_->forget_watches(op.path, op.version);
        op.error = zk_errc::unimplemented;
        return false;
    }
    if (!is_own(op))
        return submit_by_client(op);
    forget_response(op);
    own_.push_back(&op);
    if (op.code == op_code::add_watch) {
        relay_->report_events();
        reports_events_ = true;
    }
    write_request(relay_->begin_request(), op, relay_->abilities());
    relay_->end_request();
    return true;
}

bool link::submit_by_client(operation& op) {
    forget_response(op);
    writing_ = writing::requests;
    return client_->submit(op);
}

bool link::clear() {
    return !finish_writing() && relay_->carries();
}

void link::flush() {
    relay_->flush();
    if (writing_ != writing::requests)
        return;
    relay_->collect();
    writing_ = writing::collected;
}

void link::look_after_client() {
    relay_->vouch_for_server();
    writing_ = writing::anything;
}

void link::close() {
    for (operation* op : std::exchange(own_, {})) {
        op->error = zk_errc::connection_loss;
        inbox_.emplace_back(*op);
    }
    relay_->close();
}

/// The server has accepted the connection: the C client requests a session.
bool link::start() {
    int descriptor = client_->open_socket();
    if (descriptor < 0)
        return false;
    bool attached = relay_->attach(descriptor);
    client_->process(false, true);
    relay_->collect();
    writing_ = writing::anything;
    return attached;
}

void link::process() {
    constexpr std::size_t packets_per_turn = 256;
    if (!client_)
        return;
    if (relay_->connected() && !start())
        return drop();
    if (!client_->open())
        return;
    allowance time;
    for (std::size_t i = 0; i < packets_per_turn && !time.spent() && relay_->deliver(); ++i) {
        writing_ = writing::anything;
        switch (client_->process(true, false)) {
            case handle::progress::packet:
                relay_->packet_read();
                break;
            case handle::progress::nothing:
                relay_->all_read();
                break;
            case handle::progress::failed:
                return;
        }
    }
}

bool link::wait() {
    if (relay_->connecting())
        return true;
    if (client_->open())
        finish_writing();
    if (!client_->open())
        return false;
    relay_->wait();
    return true;
}

/// @return whether something is left
bool link::finish_writing() {
    if (writing_ == writing::nothing)
        return false;
    // A read-only session's C client does not say so.
    bool left = read_only() || client_->wants_to_write();
    if (writing_ != writing::collected)
        relay_->collect();
    while (left && client_->open() && relay_->carries()) {
        client_->process(false, true);
        left = client_->wants_to_write();
        relay_->collect();
    }
    writing_ = left || relay_->congested() ? writing::anything : writing::nothing;
    return left;
}

void link::drop() {
    if (client_)
        client_->abort();
    close();
}

std::string link::problem() const {
    std::string known = relay_->problem();
    if (!known.empty() || !client_ || !client_->failure())
        return known.empty() ? "it closed the connection" : known;
    return client_->failure().message();
}

bool link::send_close_request() {
    bool sent = relay_->send_close_request();
    relay_->wait();
    return sent;
}

bool link::leave_to_parent() noexcept {
    if (std::exchange(process_, forks()) == forks())
        return false;
    relay_->leave_to_parent();
    return true;
}

void link::abandon() noexcept {
    leave_to_parent();
    own_.clear();
    relay_->abandon();
}

}  // namespace corozk::detail
