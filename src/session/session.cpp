// SPDX-License-Identifier: Apache-2.0
// A session from outside: what a port offers, and the states that it tells. Connecting, the turn of the
// loop, timers, watches and closing have files of their own.
#include "session/session.hpp"

#include "c_client/fork_guard.hpp"
#include "driver/cancellable.hpp"
#include "operation/step_path.hpp"
#include "session/internal_operation.hpp"
#include "session/request_size.hpp"
#include "session/tracker.hpp"

#include <boost/asio/execution/context.hpp>
#include <boost/asio/query.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

namespace corozk::detail {

namespace {

std::mt19937_64 seeded() {
    std::random_device source;
    std::seed_seq seed{source(), source(), source(), source(), source(), source()};
    return std::mt19937_64(seed);
}

}  // namespace

std::shared_ptr<session> session::make(boost::asio::any_io_executor executor,
                                       client_options options) {
    std::shared_ptr<session> s(new session(std::move(executor), std::move(options)));
    auto& context = boost::asio::query(s->executor_, boost::asio::execution::context);
    boost::asio::use_service<session_tracker>(context).add(s);
    return s;
}

boost::asio::any_io_executor executor_of(const session* s) noexcept {
    return s ? s->executor() : boost::asio::any_io_executor(boost::asio::system_executor());
}

port& port_of(session& s) noexcept {
    return s;
}

session::session(boost::asio::any_io_executor executor, client_options options)
    : executor_(std::move(executor)),
      options_(std::move(options)),
      random_(seeded()),
      connector_(options_, parse_hosts(options_.hosts), random_),
      monitor_(executor_),
      process_(forks()),
      timer_(std::in_place, executor_) {
    handle::raise_log_level(options_.logger.level);
    monitor_.on_ready(
        [this] {
            readable_ = true;
            turn();
        },
        [this] {
            writable_ = true;
            turn();
        });
}

session::~session() {
    abandon();
}

void session::abandon() noexcept {
    abandoned_ = true;
    if (status_.state != session_state::closed) {
        status_.state = session_state::closed;
        status_.reason = errc::closed;
        ++status_.revision;
    }
    retire_handle();
    if (std::exchange(process_, forks()) != forks())
        monitor_.leave_to_parent();
    monitor_.abandon();
    timer_.reset();
    stop_connecting();
    stop_looking();
    // Handlers may own coroutines that own us: they are taken out before they are destroyed.
    auto connecting = std::move(connect_calls_);
    auto closing = std::move(close_calls_);
    auto waiting = std::move(state_calls_);
    auto completions = std::move(completions_);
    completions.clear();
    connecting.clear();
    closing.clear();
    waiting.clear();
    destroy_drivers();
    watches_.drop_all(errc::closed);
    watches_.tell_dropped(std::numeric_limits<std::size_t>::max(), nullptr);
    inbox_.clear();
    batch_.clear();
    next_arrival_ = 0;
    for (operation_list* list : {&outbox_, &sent_, &refused_}) {
        while (!list->empty()) {
            operation& op = list->front();
            list->pop_front();
            op.detach();
            op.abandoned();
        }
    }
}

// ---------------------------------------------------------------------------------------------
// What a port offers

void session::start(operation& op) noexcept {
    op.state = operation::progress::queued;
    op.error = error_code();
    op.queued_at = now();
    if (op.watch)
        ++arming_[op.path];
    if (connector_.idle())
        return refuse(op, errc::closed);
    // The server would close the connection, and whoever asks again would make it do so for ever.
    if (request_size(op, connector_.hosts().chroot.size()) > options_.max_request_size) {
        refuse(op, errc::too_large);
        return;
    }
    // The C client would refuse it, too, and not free what it has made of the steps before.
    auto bad = [](const transaction::step& step) { return path_problem(step) != nullptr; };
    if (std::any_of(op.steps.begin(), op.steps.end(), bad)) {
        refuse(op, errc::bad_path);
        return;
    }
    if (op.generation != 0 && !alive(op.generation)) {
        refuse(op, zk_errc::session_expired);
        return;
    }
    outbox_.push_back(op);
    wake();
}

void session::refuse(operation& op, error_code reason) noexcept {
    op.error = reason;
    refused_.push_back(op);
    inbox_.emplace_back(op);
    wake();
}

bool session::withdraw(operation& op) noexcept {
    if (op.state != operation::progress::queued || !op.is_linked())
        return false;
    if (op.error)
        return false;  // refused already
    op.unlink();
    if (op.watch) {
        read_ended(op.path);
        op.detach();
    }
    op.state = operation::progress::idle;
    return true;
}

void session::defer(deferred& d) noexcept {
    if (d.is_linked())
        return;
    deferred_.push_back(d);
    wake();
}

void session::start_timer(timer_node& timer, time_point when) noexcept {
    timer.cancel();
    timer.when = when;
    timers_.insert(timer);
    if (when < timer_due_)
        wake();
}

void session::subscribe(session_observer& observer) noexcept {
    observers_.push_back(observer);
}

std::string session::new_guid() {
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
    auto bytes = monitor_.bytes();
    result.bytes_sent = bytes.sent;
    result.bytes_received = bytes.received;
    result.in_flight = in_flight_;
    result.queued = outbox_.size();
    result.watches = watches_.size();
    return result;
}

bool session::logs(log_level level) const noexcept {
    return level <= options_.logger.level && level != log_level::off;
}

void session::log(log_level level, std::string_view text) noexcept {
    if (!logs(level))
        return;
    if (options_.logger.write) {
        options_.logger.write(level, text);
    } else {
        std::string_view name = to_string(level);
        std::fprintf(stderr,
                     "corozk %.*s: %.*s\n",
                     static_cast<int>(name.size()),
                     name.data(),
                     static_cast<int>(text.size()),
                     text.data());
    }
}

void session::set_state(session_state state, error_code reason) {
    if (status_.state == state && status_.reason == reason)
        return;
    status_.state = state;
    status_.reason = reason;
    ++status_.revision;
    stop_looking();
    if (logs(log_level::info)) {
        std::string text("session ");
        text += to_string(state);
        if (state == session_state::connected)
            text += " at " + to_text(connector_.tried().back());
        if (reason)
            text += ": " + reason.message();
        log(log_level::info, text);
    }
    // Observers may unlink themselves or others.
    decltype(observers_) round;
    round.swap(observers_);
    while (!round.empty()) {
        session_observer& o = round.front();
        round.pop_front();
        observers_.push_back(o);
        o.session_changed(status_);
    }
    auto calls = std::move(state_calls_);
    state_calls_.clear();
    for (state_call& c : calls) {
        if (c.call->waiting())
            c.call->complete(error_code(), status_);
    }
}

void session::next_state(const session_status& seen, user_call<session_status> call) {
    call.ahead_of_copies();
    if (seen.revision != status_.revision) {
        call.complete(error_code(), status_);
        return;
    }
    // Nothing will happen any more; `seen` is the end.
    if (status_.state == session_state::closed) {
        call.complete(errc::closed, status_);
        return;
    }
    std::erase_if(state_calls_, [](const state_call& c) { return !c.call->waiting(); });
    auto shared = cancellable(std::move(call), any_cancellation);
    state_calls_.push_back({seen, std::move(shared)});
}

}  // namespace corozk::detail
