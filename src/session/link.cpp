// SPDX-License-Identifier: Apache-2.0
#include "session/link.hpp"

#include "network/fork_guard.hpp"
#include "session/agenda.hpp"
#include "session/wire_request.hpp"

#include <utility>

namespace corozk::detail {

namespace {

/// Of an earlier attempt.
void forget_response(operation& op) {
    op.answer.clear();
    op.names.clear();
    op.results.assign(op.steps.size(), {});
}

/// Whether how long its response is depends on what others have stored.
bool is_long_read(const operation& op) noexcept {
    return op.code == op_code::get || op.code == op_code::children ||
           op.code == op_code::read_all || op.code == op_code::ephemerals;
}

}  // namespace

link::link(const boost::asio::any_io_executor& executor,
           const client_options& options,
           std::vector<arrival>& inbox,
           relay::callback ready)
    : streams_(executor, options),
      relay_(relay::make(
          streams_, std::move(ready), [this](const reception& what) { received(what); })),
      inbox_(inbox),
      process_(forks()) {}

void link::received(const reception& what) {
    if (what.what == reception::kind::event)
        inbox_.push_back(to_arrival(what));
    else
        finish(what.op == wire_op::auth ? credentials_ : sent_, what);
}

void link::finish(std::deque<operation*>& from, const reception& what) {
    if (from.empty())
        return;
    operation& op = *from.front();
    from.pop_front();
    take_response(op, what, client_ ? client_->session_id() : 0);
    inbox_.emplace_back(op);
}

bool link::can_ask(const operation& op) const noexcept {
    return can_be_asked(op, relay_->abilities());
}

bool link::submit(operation& op) {
    if (!can_ask(op)) {
        op.error = zk_errc::unimplemented;
        return false;
    }
    forget_response(op);
    (op.code == op_code::add_auth ? credentials_ : sent_).push_back(&op);
    write_request(relay_->begin_request(), op, relay_->abilities());
    relay_->end_request();
    return true;
}

void link::look_after_client() {
    if (connected())
        relay_->vouch_for_server();
    look_after_client_ = true;
}

void link::close() {
    const bool too_long =
        relay_->received_too_much() && !sent_.empty() && is_long_read(*sent_.front());
    const operation* asked_too_much = too_long ? sent_.front() : nullptr;
    for (auto* unanswered : {&credentials_, &sent_}) {
        for (operation* op : std::exchange(*unanswered, {})) {
            op->error = zk_errc::connection_loss;
            if (op == asked_too_much)
                op->error = errc::too_large;  // and would be, again and again on each retry
            inbox_.emplace_back(*op);
        }
    }
    relay_->close();
}

/// The server has accepted the connection: the C client requests a session.
bool link::start() {
    int descriptor = client_->open_socket(server_);
    if (descriptor < 0) {
        given_up_ = "the C client cannot begin to connect, on this machine: " +
                    client_->failure().message();
        return false;
    }
    bool attached = relay_->attach(descriptor);
    client_->process(false, true);
    requested_at_ = steady_clock::now();
    relay_->collect();
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
        switch (client_->process(true, false)) {
            case handle::progress::packet: relay_->packet_read(); break;
            case handle::progress::nothing: relay_->all_read(); break;
            case handle::progress::failed: return;
        }
    }
}

bool link::wait() {
    if (relay_->connecting())
        return true;
    if (std::exchange(look_after_client_, false) && client_->open()) {
        client_->look_after_session();
        relay_->collect();
    }
    if (!client_->open())
        return false;
    relay_->wait();
    return true;
}

void link::drop() {
    if (client_)
        client_->abort();
    close();
}

void link::give_up(std::string why) {
    given_up_ = std::move(why);
    client_->abort();
}

std::string link::problem() const {
    if (!given_up_.empty())
        return given_up_;
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
    credentials_.clear();
    sent_.clear();
    relay_->abandon();
}

}  // namespace corozk::detail
