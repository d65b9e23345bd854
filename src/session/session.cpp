// SPDX-License-Identifier: Apache-2.0
// The turn of the loop, and what a port offers. Connecting and closing have files of their own.
#include "session/session.hpp"

#include "session/cancellable.hpp"
#include "session/internal_operation.hpp"
#include "session/request.hpp"
#include "session/session_tracker.hpp"
#include "session/trace.hpp"

#include <boost/asio/execution/context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <sys/socket.h>

namespace corozk::detail {

namespace {

// Bounds of one turn, so that the user's coroutines get theirs.
constexpr int rounds_per_turn = 4;
constexpr std::size_t packets_per_turn = 256;
constexpr std::size_t deferred_per_turn = 512;
constexpr std::size_t sends_per_turn = 512;
constexpr std::size_t chores_per_turn = 256;

// More would only grow buffers: the server is the limit long before.
constexpr std::size_t max_in_flight = 2048;
constexpr std::size_t max_rearming = 512;

/// The allocator joins small pieces of memory that were given back when it is next asked for a
/// larger one (glibc). Asked after each piece of work it never finds 100,000 of them, which would
/// stop the loop for 20 ms.
void join_free_memory() {
    constexpr std::size_t larger = 4096;
    void* volatile asked_for = ::operator new(larger);
    ::operator delete(asked_for);
}

/// How long one part of a turn may last. Some is always done.
class allowance {
public:
    bool spent() noexcept {
        constexpr unsigned steps_between_looks = 16;
        return ++steps_ % steps_between_looks == 0 && steady_clock::now() >= end_;
    }

private:
    unsigned steps_ = 0;
    time_point end_ = steady_clock::now() + std::chrono::milliseconds(1);
};

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

session::session(boost::asio::any_io_executor executor, client_options options)
    : executor_(std::move(executor)),
      options_(std::move(options)),
      monitor_(executor_),
      timer_(std::in_place, executor_),
      resolver_(std::in_place, executor_),
      timeout_(options_.session_timeout) {
    std::random_device source;
    std::seed_seq seed{source(), source(), source(), source(), source(), source()};
    random_.seed(seed);
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
    phase_ = phase_type::closed;
    if (status_.state != session_state::closed) {
        status_.state = session_state::closed;
        status_.reason = errc::closed;
        ++status_.revision;
    }
    retire_handle();
    monitor_.abandon();
    timer_.reset();
    resolver_.reset();
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
// One turn

void session::wake() noexcept {
    if (in_turn_ || abandoned_)
        return;
    turn_wanted_ = true;
    if (std::exchange(wake_posted_, true))
        return;
    boost::asio::post(executor_, [self = shared_from_this()] {
        self->wake_posted_ = false;
        if (self->turn_wanted_)
            self->turn();
    });
}

void session::turn() {
    if (abandoned_ || in_turn_)
        return;
    auto self = shared_from_this();
    in_turn_ = true;
    // First of all: a process that was stopped for too long must not act on old news.
    if (past_deadline())
        session_lost(zk_errc::session_expired);
    time_point long_enough = now() + std::chrono::milliseconds(2);
    read_packets();
    for (int i = 0; i < rounds_per_turn; ++i) {
        dispatch_arrivals();
        run_deferred();
        send_queued();
        run_completions();
        if (!arrivals_left() && deferred_.empty() && !sends_left())
            break;
        if (now() >= long_enough)
            break;
    }
    do_chores();
    wait_for_more();
    in_turn_ = false;
    turn_wanted_ = arrivals_left() || !deferred_.empty() || !completions_.empty() ||
                   (readable_ && monitor_.open()) || sends_left() || chores_left();
    if (turn_wanted_)
        wake();
}

const session_status& session::look() {
    if (!abandoned_ && !in_turn_ && past_deadline()) {
        in_turn_ = true;
        session_lost(zk_errc::session_expired);
        in_turn_ = false;
        wake();
    }
    return status_;
}

bool session::past_deadline() noexcept {
    return alive(status_.generation) && clock_.expired(now());
}

void session::read_packets() {
    if (phase_ == phase_type::parting) {
        if (readable_)
            part();
        return;
    }
    if (!handle_ || !handle_->open()) {
        readable_ = writable_ = false;
        return;
    }
    if (writable_) {
        writable_ = false;
        monitor_.cork(true);
        auto result = handle_->process(false, true);
        monitor_.cork(false);
        if (result == handle::progress::failed)
            return;
    }
    allowance time;
    for (std::size_t i = 0; readable_ && i < packets_per_turn; ++i) {
        if (handle_->process(true, false) != handle::progress::packet)
            readable_ = false;
        if (time.spent())
            break;
    }
}

void session::dispatch_arrivals() {
    if (next_arrival_ == batch_.size()) {
        batch_.clear();
        batch_.swap(inbox_);
        next_arrival_ = 0;
        if (!batch_.empty())
            arrived_at_ = now();
    }
    allowance time;
    while (next_arrival_ < batch_.size()) {
        arrival& a = batch_[next_arrival_++];
        switch (a.kind) {
            case arrival::kind_type::answer:
                dispatch_answer(*a.op);
                break;
            case arrival::kind_type::session_event:
                dispatch_session_event(a.session);
                break;
            case arrival::kind_type::watch_event:
                dispatch_watch_event(a.watch, a.path);
                break;
        }
        if (abandoned_ || time.spent())
            return;
    }
}

void session::dispatch_answer(operation& op) {
    op.unlink();
    if (op.state == operation::progress::sent) {
        --in_flight_;
        trace_end(op);
        if (op.error == zk_errc::connection_loss) {
            ++counters_.connection_losses;
        } else {
            ++counters_.answers;
            counters_.request_times.add(arrived_at_ - op.sent_at);
            if (!is_session_lost(op.error) && !is_recoverable(op.error)) {
                clock_.answered(op.sent_at);
            }
        }
    }
    bool too_late = false;
    if (op.watch) {
        bool missing = op.code == op_code::exists && op.error == zk_errc::no_node;
        if (op.state == operation::progress::sent && (!op.error || missing)) {
            watch_node* node = op.watcher();
            if (op.code == op_code::children) {
                watches_.armed(watch_kind::children, op.path, op.record.pzxid, node);
            } else if (missing) {
                watches_.armed(watch_kind::exists, op.path, 0, node);
            } else {
                watches_.armed(watch_kind::data, op.path, op.record.mzxid, node);
            }
            too_late = closing();
        }
        op.detach();
        read_ended(op.path);
    }
    op.state = operation::progress::done;
    op.inbox = nullptr;
    op.foreign.reset();
    op.finished();
    // Those that were armed before were dropped when the closing began.
    if (too_late)
        watches_.drop_all(errc::closed);
}

void session::dispatch_session_event(handle_state state) {
    followed_ = false;
    switch (state) {
        case handle_state::connected:
            established(false);
            break;
        case handle_state::read_only:
            established(true);
            break;
        case handle_state::expired:
            if (closing()) {
                finish_closing(error_code());
            } else {
                session_lost(zk_errc::session_expired);
            }
            break;
        case handle_state::auth_failed:
            authentication_failed();
            break;
        default:
            connection_down();
            break;
    }
}

void session::dispatch_watch_event(watch_event_type type, const std::string& path) {
    ++counters_.notifications;
    switch (type) {
        case watch_event_type::children_changed:
            watches_.fire(watch_kind::children, path, type);
            break;
        case watch_event_type::created:
        case watch_event_type::data_changed:
            watches_.fire(watch_kind::data, path, type);
            watches_.fire(watch_kind::exists, path, type);
            break;
        default:
            watches_.fire(watch_kind::data, path, type);
            watches_.fire(watch_kind::exists, path, type);
            watches_.fire(watch_kind::children, path, type);
            break;
    }
}

void session::run_deferred() {
    allowance time;
    for (std::size_t i = 0; i < deferred_per_turn && !deferred_.empty(); ++i) {
        deferred& d = deferred_.front();
        deferred_.pop_front();
        d.run();
        if (time.spent())
            break;
    }
}

void session::complete(completion handler) {
    if (in_turn_)
        completions_.push_back(std::move(handler));
    else
        boost::asio::post(executor_, std::move(handler));
}

/// What users do next goes out in the turn that has brought them the news: it does not wait for
/// what else is ready in the loop.
void session::run_completions() {
    if (completions_.empty())
        return;
    in_turn_ = false;  // what they complete themselves is not called inside of them
    allowance time;
    try {
        while (!completions_.empty() && !abandoned_) {
            completion next = std::move(completions_.front());
            completions_.pop_front();
            std::move(next)();
            ++completed_;
            if (time.spent())
                break;
        }
    } catch (...) {
        // It leaves the loop through whoever runs it; the others are called when that goes on.
        wake();
        throw;
    }
    in_turn_ = true;
}

bool session::can_send() const noexcept {
    return phase_ == phase_type::open && handle_ && handle_->connected() &&
           in_flight_ < max_in_flight;
}

void session::send_queued() {
    if (outbox_.empty() || !can_send())
        return;
    time_point sent_at = now();
    allowance time;
    monitor_.cork(true);
    for (std::size_t i = 0; i < sends_per_turn && !outbox_.empty() && can_send(); ++i) {
        operation& op = outbox_.front();
        outbox_.pop_front();
        if (op.generation != 0 && op.generation != status_.generation) {
            refuse(op, zk_errc::session_expired);
            continue;
        }
        op.state = operation::progress::sent;
        op.sent_at = sent_at;
        op.sent_in = status_.generation;
        if (!handle_->submit(op)) {
            op.state = operation::progress::queued;
            op.sent_in = 0;
            refuse(op, op.error);
            continue;
        }
        sent_.push_back(op);
        trace_start(op, status_.session_id);
        ++in_flight_;
        ++counters_.requests;
        if (op.code == op_code::children)
            ++counters_.listings;
        last_sent_ = sent_at;
        if (time.spent())
            break;
    }
    // Sending failed inside the C client, which now sits on requests of a dead connection.
    if (!handle_->open()) {
        handle_->abort();
        connection_down();
    }
    monitor_.cork(false);
}

void session::wait_for_more() {
    switch (phase_) {
        case phase_type::attempting:
        case phase_type::verifying:
        case phase_type::open:
        case phase_type::draining: {
            if (!handle_)
                break;
            if (handle_->open()) {
                auto interest = handle_->interest();
                // While it stays connected the C client keeps its socket.
                bool connected = handle_->connected();
                if (!connected || !followed_)
                    monitor_.follow(interest.descriptor);
                followed_ = connected;
                if (handle_->open()) {
                    auto self = shared_from_this();
                    if (handle_->state() == handle_state::associating)
                        silent_server_ = true;
                    if (!readable_)
                        monitor_.wait_readable(self);
                    if (interest.write)
                        monitor_.wait_writable(self);
                    break;
                }
            }
            // What the C client recorded about its end is dispatched in the next turn.
            if (!arrivals_left())
                connection_down();
            break;
        }
        case phase_type::parting:
            monitor_.wait_readable(shared_from_this());
            break;
        default:
            break;
    }
    if (phase_ == phase_type::draining)
        drain();
    arm_timer();
}

// ---------------------------------------------------------------------------------------------
// Time

void session::arm_timer() {
    using namespace std::chrono_literals;
    time_point due = time_point::max();
    auto sooner = [&due](time_point t) { due = std::min(due, t); };
    time_point current = now();
    switch (phase_) {
        case phase_type::attempting:
            sooner(attempt_deadline_);
            break;
        case phase_type::verifying:
        case phase_type::open:
        case phase_type::draining:
            // Often enough for heartbeats and for the C client to notice a silent server.
            sooner(current + std::max<std::chrono::milliseconds>(timeout_ / 10, 10ms));
            break;
        case phase_type::waiting:
            sooner(retry_at_);
            break;
        default:
            break;
    }
    if (!connect_calls_.empty())
        sooner(connect_deadline_);
    if (phase_ == phase_type::draining || phase_ == phase_type::parting)
        sooner(close_deadline_);
    if (alive(status_.generation))
        sooner(clock_.deadline());
    if (phase_ != phase_type::open && !outbox_.empty()) {
        auto limit = options_.queue_timeout.count() > 0 ? options_.queue_timeout : timeout_;
        sooner(outbox_.front().queued_at + limit);
    }
    if (!timers_.empty())
        sooner(timers_.begin()->when);
    if (due == time_point::max()) {
        if (timer_due_ != time_point::max()) {
            ++timer_epoch_;
            timer_->cancel();
            timer_due_ = time_point::max();
        }
        return;
    }
    // A timer that fires too early does no harm: it looks, and is set again.
    if (timer_due_ <= due)
        return;
    timer_due_ = due;
    ++timer_epoch_;
    timer_->expires_at(due);
    timer_->async_wait([self = shared_from_this(), epoch = timer_epoch_](const error_code& ec) {
        if (ec || epoch != self->timer_epoch_)
            return;
        self->timer_due_ = time_point::max();
        self->on_timer();
    });
}

void session::on_timer() {
    if (abandoned_)
        return;
    in_turn_ = true;
    time_point current = now();
    if (past_deadline())
        session_lost(zk_errc::session_expired);
    if (!connect_calls_.empty() && current >= connect_deadline_ && phase_ != phase_type::open) {
        connect_failed(connect_problem());
    }
    if (phase_ == phase_type::attempting && current >= attempt_deadline_ && !arrivals_left())
        attempt_failed();
    if (phase_ == phase_type::waiting && current >= retry_at_)
        begin_round();
    if (phase_ == phase_type::open)
        heartbeat();
    if ((phase_ == phase_type::draining || phase_ == phase_type::parting) &&
        current >= close_deadline_) {
        finish_closing(errc::session_left_to_expire);
    }
    if (phase_ != phase_type::open) {
        auto limit = options_.queue_timeout.count() > 0 ? options_.queue_timeout : timeout_;
        while (!outbox_.empty() && current >= outbox_.front().queued_at + limit) {
            operation& op = outbox_.front();
            outbox_.pop_front();
            refuse(op, errc::not_connected);
        }
    }
    while (!timers_.empty() && timers_.begin()->when <= current) {
        timer_node& t = *timers_.begin();
        t.cancel();
        t.expired();
    }
    in_turn_ = false;
    turn();
}

void session::heartbeat() {
    // Ours come before the C client's own pings, whose answers it keeps to itself.
    if (now() - last_sent_ < timeout_ * 3 / 10)
        return;
    if (heartbeat_ && heartbeat_->state != operation::progress::done &&
        heartbeat_->state != operation::progress::idle) {
        return;
    }
    heartbeat_ = std::make_unique<internal_operation>(op_code::exists, "/", [](operation&) {});
    start(*heartbeat_);
}

// ---------------------------------------------------------------------------------------------
// What a port offers

void session::start(operation& op) noexcept {
    op.state = operation::progress::queued;
    op.error = error_code();
    op.queued_at = now();
    if (op.watch)
        ++arming_[op.path];
    switch (phase_) {
        case phase_type::idle:
        case phase_type::draining:
        case phase_type::parting:
        case phase_type::closed:
            refuse(op, errc::closed);
            return;
        default:
            break;
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
    if (logs(log_level::info)) {
        std::string text("session ");
        text += to_string(state);
        if (!server_.empty() && state == session_state::connected)
            text += " at " + server_;
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

// ---------------------------------------------------------------------------------------------
// Watches

void session::watch_dropped(watch_kind kind, const std::string& path) noexcept {
    if (abandoned_ || !alive(status_.generation))
        return;
    if (phase_ != phase_type::open || arming_.contains(path)) {
        late_drops_[path].insert(kind);
        return;
    }
    constexpr std::int32_t children_watches = 1;
    constexpr std::int32_t data_watches = 2;
    bool children = kind == watch_kind::children;
    if (children) {
        if (!watches_.contains(kind, path) || watches_.has_waiters(kind, path))
            return;
    } else {
        // The server has one list for both.
        if (!watches_.contains(watch_kind::data, path) &&
            !watches_.contains(watch_kind::exists, path)) {
            return;
        }
        if (watches_.has_waiters(watch_kind::data, path) ||
            watches_.has_waiters(watch_kind::exists, path)) {
            return;
        }
    }
    if (!dropping_.emplace(children, path).second)
        return;
    auto finished = [this, children, kind](operation& op) {
        dropping_.erase({children, op.path});
        if (is_session_lost(op.error))
            return;
        if (is_recoverable(op.error) || op.error == errc::not_connected) {
            late_drops_[op.path].insert(kind);
            return;
        }
        if (children) {
            watches_.forget(watch_kind::children, op.path);
        } else {
            watches_.forget(watch_kind::data, op.path);
            watches_.forget(watch_kind::exists, op.path);
        }
    };
    auto* op = new detached_request<decltype(finished)>(op_code::remove_watches, path, finished);
    op->generation = status_.generation;
    op->version = children ? children_watches : data_watches;
    start(*op);
}

/// One of the reads that set a watch on this path is not on its way any more.
void session::read_ended(const std::string& path) {
    auto it = arming_.find(path);
    if (it == arming_.end() || --it->second > 0)
        return;
    arming_.erase(it);
    if (phase_ != phase_type::open)
        return;
    auto late = late_drops_.extract(path);
    if (late.empty())
        return;
    for (watch_kind kind : late.mapped())
        watch_dropped(kind, late.key());
}

void session::retry_drop() {
    auto late = drops_to_retry_.extract(drops_to_retry_.begin());
    for (watch_kind kind : late.mapped())
        watch_dropped(kind, late.key());
}

bool session::trim_watches() {
    // After a reconnect the C client sends all its watches in one packet. One that is larger than
    // what the servers accept would end every connection at once, for ever; and making a large one
    // takes long.
    constexpr std::size_t largest_packet = 256 * 1024;
    constexpr std::size_t paths_per_call = 256;
    std::size_t limit = std::min(options_.max_request_size * 3 / 4, largest_packet);
    if (!handle_ || watches_.c_client_bytes() <= limit)
        return true;
    for (const std::string& path : watches_.detach_surplus(limit, paths_per_call))
        handle_->forget_watches(path);
    return false;
}

// ---------------------------------------------------------------------------------------------
// What concerns all watches at once is done in pieces

bool session::chores_left() const noexcept {
    if (watches_.telling())
        return true;
    bool rearm_more = watches_.has_detached() && rearming_ < max_rearming;
    return phase_ == phase_type::open && (rearm_more || !drops_to_retry_.empty());
}

void session::do_chores() {
    // What many users have been told of leaves many small pieces, too.
    constexpr std::size_t many = 500;
    if (watches_.telling() || completed_ >= many) {
        join_free_memory();
        completed_ = 0;
    }
    // A C client that has nothing to take apart is freed at once.
    std::function<void(const std::string&)> forget;
    if (closing() && handle_)
        forget = [this](const std::string& path) { handle_->forget_watches(path); };
    allowance time;
    for (std::size_t i = 0; i < chores_per_turn && chores_left() && !time.spent(); ++i) {
        if (watches_.telling()) {
            constexpr std::size_t at_a_time = 4;
            watches_.tell_dropped(at_a_time, forget);
            if (!watches_.telling())
                complete_close_calls();
        } else if (watches_.has_detached() && rearming_ < max_rearming) {
            for (const auto& surplus : watches_.take_detached(1))
                rearm(surplus);
        } else {
            retry_drop();
        }
    }
}

void session::rearm(const watch_registry::surplus& watch) {
    auto finished = [this, watch](operation& op) {
        --rearming_;
        // Still the same? `dispatch_answer` has armed it again. Otherwise everybody looks again.
        bool same = false;
        switch (watch.kind) {
            case watch_kind::data:
                same = !op.error && op.record.mzxid == watch.zxid;
                break;
            case watch_kind::children:
                same = !op.error && op.record.pzxid == watch.zxid;
                break;
            case watch_kind::exists:
                same = op.error == zk_errc::no_node;
                break;
        }
        if (is_recoverable(op.error)) {
            watches_.detach_again(watch.kind, watch.path);
        } else if (!same) {
            watches_.fire(watch.kind, watch.path, watch_event_type::unknown);
            // Those who look again set their own.
            bool missing = op.code == op_code::exists && op.error == zk_errc::no_node;
            if (op.error && !missing)
                return;
            watch_kind now = missing ? watch_kind::exists : watch_kind::data;
            if (op.code == op_code::children)
                now = watch_kind::children;
            if (!watches_.contains(now, watch.path))
                watches_.armed(now, watch.path, 0, nullptr);
            watch_dropped(now, watch.path);
        }
    };
    op_code code = watch.kind == watch_kind::children ? op_code::children : op_code::exists;
    auto* op = new detached_request<decltype(finished)>(code, watch.path, finished);
    op->watch = true;
    op->generation = status_.generation;
    ++rearming_;
    start(*op);
}

}  // namespace corozk::detail
