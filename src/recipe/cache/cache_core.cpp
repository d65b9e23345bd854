// SPDX-License-Identifier: Apache-2.0
// Calls, states, rounds and events; reading.cpp reads.
#include "recipe/cache/cache_core.hpp"

#include "driver/breather.hpp"
#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/cache/map_bin.hpp"

#include <iterator>
#include <utility>

namespace corozk::detail {

cache_core::cache_core(
    port& p, std::string root, std::size_t depth, bool names, cache_options options)
    : recipe_core(p),
      wake_(p),
      scope_{std::move(root), depth, names},
      options_(std::move(options)),
      watch_(*this),
      one_shot_(depth == 0 || options_.one_shot_watches),
      states_(p, options_.settle, copy_) {}

void cache_core::start() {
    if (path_problem(scope_.root))
        return;
    copy_.emplace(port_, scope_.root, scope_.depth);
    port_.spawn(run(shared_from_this()));
}

void cache_core::stop() noexcept {
    recipe_core::stop();
    copy_.reset();
    wake_.set();
}

void cache_core::next(cache_states::call_type call) {
    if (states_.add(std::move(call)) && refusal_)
        mark(*entries_.at(scope_.root));  // it may have become readable
}

void cache_core::publish() {
    if (refusal_ || (!changed_ && !states_.none()))
        return;
    changed_ = false;
    states_.publish(entries_.at(scope_.root)->present,
                    port_.use_service<session_map_bin>().share(nodes_.map()));
}

// ---------------------------------------------------------------------------------------------
// Events

void cache_core::changed(watch_event_type type, const std::string& path) noexcept {
    entry* e = find(path);
    if (!e) {
        if (type == watch_event_type::created)
            appear(path);
    } else if (type == watch_event_type::erased) {
        remove_missing(*e);
        note_change();
    } else {
        if (type == watch_event_type::created)
            e->since = clock_;
        mark(*e);
    }
}

/// A node that was just created: it has no children that events will not report.
void cache_core::appear(const std::string& path) {
    entry* parent = find(parent_path(path));
    if (!parent || parent->unread || parent->level == scope_.depth || !selects(path))
        return;
    entry& e = add(path, parent->level + 1);
    e.listed = true;
    mark(e);
}

void cache_core::read_all_again() noexcept {
    behind_ = true;
    note_change();
}

/// It has changed or, for a `next`, may have.
void cache_core::mark(entry& e) noexcept {
    e.too_large = false;
    mark_stale(e);
}

void cache_core::mark_stale(entry& e) noexcept {
    if (e.stale || e.removed)
        return;
    e.stale = true;
    stale_.emplace_back(&e);
    note_change();
}

void cache_core::note_change() noexcept {
    if (copy_)
        copy_->mark();
    wake_.set();
}

// ---------------------------------------------------------------------------------------------
// Rounds

task<> cache_core::run(std::shared_ptr<cache_core> self) {
    co_await self->work();
    self->watch_.disarm();
    self->copy_.reset();
    self->states_.end();
    co_await self->forget_all();
}

/// States that users may still ask for remain.
task<> cache_core::forget_all() {
    round_.listings.clear();
    round_.doomed.clear();
    if (stopped())
        states_.forget();
    breather others(port_);
    while (!entries_.empty() || !stale_.empty() || !round_.entries.empty()) {
        for (std::size_t i = 0; i < piece_of_work; ++i) {
            if (!stale_.empty())
                stale_.pop_front();
            if (!round_.entries.empty())
                round_.entries.pop_front();
            if (entries_.empty())
                continue;
            entry& e = *entries_.begin()->second;
            forget_watches(e);
            e.removed = true;
            entries_.erase(entries_.begin());
        }
        if (!entries_.empty() || !stale_.empty() || !round_.entries.empty())
            co_await others;
    }
    while (!nodes_.drop_some(piece_of_work))
        co_await others;
}

task<> cache_core::work() {
    session_signal states(port_, wake_);
    read_again(add(scope_.root, 0));
    std::uint64_t synced = 0;  // the connection on which everything was read
    for (;;) {
        const session_status& status = port_.status();
        if (stopped() || status.state == session_state::closed)
            co_return;
        bool connected =
            status.state == session_state::connected || status.state == session_state::read_only;
        if (connected && (behind_ || synced != status.revision)) {
            synced = status.revision;
            behind_ = false;
            co_await mark_all();
            if (co_await watch_tree())
                continue;
            // The new server may lag behind the previous one.
            request sync(port_, op_code::sync, scope_.root);
            error_code ec = co_await sync;
            if (ec == zk_errc::throttled)
                behind_ = true;
            begin_round();
            continue;
        }
        if (connected && !has_work()) {
            end_round();
            if (copy_ && copy_->marked()) {
                begin_round();  // perhaps with nothing to read, after a deletion
                continue;
            }
        }
        if (connected && has_work())
            co_await read_some();
        else
            co_await wake_.wait();
    }
}

/// What was listed before is listed again.
task<> cache_core::mark_all() {
    round_.listings.clear();
    breather others(port_);
    std::size_t marked = 0;
    for (auto at = entries_.begin(); at != entries_.end();) {
        entry& e = *at->second;
        e.listed = false;
        mark_stale(e);
        ++at;
        if (++marked % piece_of_work == 0 && at != entries_.end()) {
            const std::string last = e.path;
            co_await others;
            at = entries_.upper_bound(last);
        }
    }
}

void cache_core::begin_round() {
    round_.entries.insert(round_.entries.end(),
                          std::make_move_iterator(stale_.begin()),
                          std::make_move_iterator(stale_.end()));
    stale_.clear();
    if (copy_)
        copy_->begin_round();
}

void cache_core::end_round() {
    publish();
    if (copy_)
        copy_->end_round();
    states_.report();
}

}  // namespace corozk::detail
