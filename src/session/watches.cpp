// SPDX-License-Identifier: Apache-2.0
// Watches that nobody waits for any more are taken from the server. What concerns all watches at once is
// done in pieces.
#include "driver/request.hpp"
#include "session/allowance.hpp"
#include "session/session.hpp"

#include <algorithm>
#include <functional>
#include <new>
#include <string>
#include <utility>

namespace corozk::detail {

namespace {

constexpr std::size_t chores_per_turn = 256;
constexpr std::size_t max_rearming = 512;

/// The allocator joins small pieces of memory that were given back when it is next asked for a
/// larger one (glibc). Asked after each piece of work it never finds 100,000 of them, which would
/// stop the loop for 20 ms.
void join_free_memory() {
    constexpr std::size_t larger = 4096;
    void* volatile asked_for = ::operator new(larger);
    ::operator delete(asked_for);
}

}  // namespace

void session::watch_dropped(watch_kind kind, const std::string& path) noexcept {
    if (abandoned_ || !alive(status_.generation))
        return;
    if (!connector_.open() || arming_.contains(path)) {
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
    if (!connector_.open())
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
// In pieces

bool session::chores_left() const noexcept {
    if (watches_.telling())
        return true;
    bool rearm_more = watches_.has_detached() && rearming_ < max_rearming;
    return connector_.open() && (rearm_more || !drops_to_retry_.empty());
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
    if (closing_.active() && handle_)
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
