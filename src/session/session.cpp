// SPDX-License-Identifier: Apache-2.0
// The session's interface: the port, and its states. Connecting, the turn, watches and closing are
// in other files.
#include "session/session.hpp"

#include "operation/path.hpp"
#include "operation/step_path.hpp"
#include "session/request_size.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

namespace corozk::detail {

boost::asio::any_io_executor executor_of(const session_view* s) noexcept {
    return s ? s->executor() : boost::asio::any_io_executor(boost::asio::system_executor());
}

port& port_of(session_view& s) noexcept {
    return s;
}

session& session_view::core() noexcept {
    return static_cast<session&>(whole());
}

session::session(boost::asio::any_io_executor executor, client_options options)
    : executor_(std::move(executor)),
      handlers_executor_(executor_),
      options_(std::move(options)),
      identity_(options_.session),
      random_(seeded()),
      connector_(options_, parse_hosts(options_.hosts), random_),
      link_(executor_, options_, traffic_.arriving(), [this] { turn(); }),
      watches_([this] { wake(); }),
      timers_(executor_) {
    handle::raise_log_level(options_.logger.level);
}

session::~session() {
    abandon();
}

void session::abandon() noexcept {
    agenda_.stop();
    if (status().state != session_state::closed)
        board_.set(session_state::closed, errc::closed);
    retire_client();
    link_.abandon();
    timers_.abandon();
    stop_connecting();
    stop_looking();
    {
        // Handlers may own coroutines that own the session: move them out before destroying them.
        auto calls = std::move(calls_);
        auto waiting = board_.take_calls();
    }
    agenda_.drop_handlers();
    destroy_drivers();
    if (views_.front)
        views_.front->abandon();
    for (auto& [prefix, view] : views_.others)
        view->abandon();
    watches_.drop_all(errc::closed);
    watches_.notify_dropped(std::numeric_limits<std::size_t>::max());
    traffic_.abandon();
}

// ---------------------------------------------------------------------------------------------
// The port

void session::start(operation& op) noexcept {
    op.state = operation::progress::queued;
    op.error = error_code();
    op.queued_at = now();
    if (op.watch)
        watches_.read_started(op.path);
    if (op.code == op_code::add_watch)
        watches_.add_started(op.path);
    const bool owed = still_sends(op);
    if (connector_.idle() && !owed)
        return refuse(op, errc::closed);
    // The server would close the connection, again and again on each retry.
    if (request_size(op) > options_.max_request_size)
        return refuse(op, errc::too_large);
    auto bad = [](const transaction::step& step) { return path_problem(step) != nullptr; };
    if (std::any_of(op.steps.begin(), op.steps.end(), bad))
        return refuse(op, errc::bad_path);
    if (op.generation != 0 && !owed && !alive(op.generation))
        return refuse(op, zk_errc::session_expired);
    traffic_.queue(op);
    wake();
}

void session::refuse(operation& op, error_code reason) noexcept {
    traffic_.refuse(op, reason);
    wake();
}

bool session::withdraw(operation& op) noexcept {
    if (op.state != operation::progress::queued || !op.is_linked() || op.error)
        return false;
    op.unlink();
    if (op.watch) {
        read_ended(op.path);
        op.detach();
    }
    if (op.code == op_code::add_watch) {
        watches_.add_withdrawn(op.path);
        op.detach();
    }
    op.state = operation::progress::idle;
    return true;
}

void session::defer(deferred& d) noexcept {
    if (d.is_linked())
        return;
    agenda_.defer(d);
    wake();
}

void session::start_timer(timer_node& timer, time_point when) noexcept {
    if (timers_.start(timer, when))
        wake();
}

std::mt19937_64 session::seeded() {
    std::random_device source;
    std::seed_seq seed{source(), source(), source(), source(), source(), source()};
    return std::mt19937_64(seed);
}

std::string session::new_guid() {
    heed_fork();  // a child would continue its parent's sequence
    char text[33];
    std::snprintf(text,
                  sizeof text,
                  "%016llx%016llx",
                  static_cast<unsigned long long>(random_()),
                  static_cast<unsigned long long>(random_()));
    return std::string(text, 32);
}

client_counters session::snapshot() const {
    client_counters result = counters_;
    auto bytes = link_.wire().bytes();
    result.bytes_sent = bytes.sent;
    result.bytes_received = bytes.received;
    result.in_flight = traffic_.in_flight();
    result.queued = traffic_.queued();
    result.watches = watches_.size() + watches_.persistent();
    return result;
}

bool session::logs(log_level level) const noexcept {
    return level <= options_.logger.level && level != log_level::off;
}

void session::log(log_level level, std::string_view text) noexcept {
    if (!logs(level))
        return;
    // Paths come from users: a message is one line nevertheless.
    const std::string shown = printable(text);
    if (options_.logger.write) {
        options_.logger.write(level, shown);
    } else {
        std::string_view name = to_string(level);
        std::fprintf(
            stderr, "corozk %.*s: %s\n", static_cast<int>(name.size()), name.data(), shown.c_str());
    }
}

void session::set_state(session_state state, error_code reason) {
    if (!board_.set(state, reason))
        return;
    stop_looking();
    if (logs(log_level::info)) {
        std::string text("session ");
        text += to_string(state);
        if (state == session_state::connected || state == session_state::read_only)
            text += " at " + to_text(connector_.tried().back());
        if (reason)
            text += ": " + reason.message();
        log(log_level::info, text);
    }
    board_.publish();
}

std::shared_ptr<session_view> session::below(const std::string& path) {
    std::string prefix = path == "/" ? std::string() : path;
    auto& view = views_.others[prefix];
    if (!view)
        view = std::make_unique<subtree>(*this, std::move(prefix), false);
    return std::shared_ptr<session_view>(shared_from_this(), view.get());
}

void session::next_status(const session_status& seen, user_call<session_status> call) {
    board_.next(seen, std::move(call));
}

}  // namespace corozk::detail
