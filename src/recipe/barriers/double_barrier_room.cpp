// SPDX-License-Identifier: Apache-2.0
// The driver for a client's members at a barrier, and their states.
#include "recipe/barriers/double_barrier_room.hpp"

#include <algorithm>

namespace corozk::detail {

void barrier_room::add(seat_ptr seat) {
    if (!std::exchange(seat->listed, true))
        seats_.push_back(std::move(seat));
    wake_.set();
    if (!running_) {
        running_ = true;
        port_.spawn(run(shared_from_this()));
    }
}

task<> barrier_room::run(std::shared_ptr<barrier_room> self) {
    port& p = self->port_;
    session_signal session(p, self->wake_);
    while (!self->seats_.empty()) {
        if (p.status().state == session_state::closed) {
            for (const seat_ptr& s : self->seats_)
                s->finish(errc::closed);
            self->seats_.clear();
            break;
        }
        self->note_session();
        self->note_calls();
        if (self->seats_.empty())
            break;
        bool again = false;
        if (p.alive(p.status().generation)) {
            again = co_await self->step();
        }
        if (!again && !self->seats_.empty()) {
            co_await self->wake_.wait();
        }
    }
    self->forget_target();
    forget_watch(p, self->record_watch_, watch_kind::data, self->parent_);
    self->running_ = false;
}

/// The nodes of an earlier session were deleted with it.
void barrier_room::note_session() {
    for (const seat_ptr& s : seats_) {
        if (s->guid.empty() || port_.alive(s->generation))
            continue;
        bool had_node = !s->node.empty();
        s->forget_node();
        if (s->phase == phase::leaving && had_node)
            end(*s, zk_errc::session_expired);
    }
    if (record_generation_ != port_.status().generation) {
        record_generation_ = port_.status().generation;
        version_.reset();
    }
    drop_finished();
}

/// The nodes of calls that are over must be deleted.
void barrier_room::note_calls() {
    for (const seat_ptr& s : seats_) {
        if (s->phase == phase::entering && !s->call->waiting())
            s->phase = phase::withdrawing;
        if (s->phase == phase::leaving && s->call->over())
            withdraw(*s, {});
        bool nothing_there = s->node.empty() && !s->unsure;
        if (s->phase == phase::withdrawing && nothing_there)
            end(*s, s->verdict);
    }
    drop_finished();
}

void barrier_room::withdraw(barrier_seat& s, error_code verdict) {
    s.phase = phase::withdrawing;
    s.verdict = verdict;
}

void barrier_room::end(barrier_seat& s, error_code ec) {
    s.phase = phase::outside;
    s.finish(ec);
}

void barrier_room::drop_finished() {
    std::erase_if(seats_, [](const seat_ptr& s) {
        s->listed = s->phase != phase::outside && s->phase != phase::inside;
        return !s->listed;
    });
}

bool barrier_room::any(phase wanted) const {
    return std::any_of(
        seats_.begin(), seats_.end(), [wanted](const seat_ptr& s) { return s->phase == wanted; });
}

/// One pass: send due requests, read, decide.
/// @return whether there is more to do at once; otherwise wait for the signal
task<bool> barrier_room::step() {
    const std::uint64_t generation = port_.status().generation;
    std::deque<job> jobs;
    bool list = std::exchange(list_next_, false) || any(phase::leaving);
    add_jobs(jobs, generation, list);
    const bool unsure = any_unsure();
    for (job& j : jobs)
        j.ask.send();
    // The server may lag behind and not have the nodes yet.
    request sync(port_, op_code::sync, parent_, generation);
    if (unsure)
        sync.send();
    request look(port_, op_code::get, parent_, generation);
    const bool watched = any(phase::entering);
    if (watched) {
        record_watch_.disarm();
        look.attach(record_watch_);
    } else {
        forget_watch(port_, record_watch_, watch_kind::data, parent_);
    }
    look.send();
    const bool listed = unsure || list;
    request listing(port_, op_code::children, parent_, generation);
    if (listed)
        listing.send();

    bool again = false;
    bool parent_missing = false;
    for (job& j : jobs) {
        co_await j.ask;
        note_answer(j, parent_missing, again);
    }
    error_code synced;
    if (unsure)
        synced = co_await sync;
    error_code ec = co_await look;
    if (ec && ec != zk_errc::no_node && watched)
        forget_watch(port_, record_watch_, watch_kind::data, parent_);
    if (!ec)
        ec = synced;
    if (listed) {
        if (error_code e = co_await listing; e && !ec)
            ec = e;
    }
    drop_finished();
    if (ec == zk_errc::no_node) {
        note_missing_parent();
        parent_missing = parent_missing || any(phase::entering);
    }
    if (parent_missing) {
        co_await make_parent();
        co_return true;
    }
    if (ec == zk_errc::no_node)
        co_return again;
    if (ec) {
        if (!retry(port_).again(ec))
            fail_all(ec);
        if (list)
            list_next_ = true;
        drop_finished();
        co_return true;
    }
    if (listed && listing.record.czxid != look.record.czxid) {
        // The parent was re-created in between: the record does not refer to these members.
        list_next_ = true;
        co_return true;
    }
    // Whatever the record is: a member that is refused must know its node, to delete it.
    if (unsure)
        again = find_unsure(listing.names) || again;
    std::optional<round_record> record = parse_round(look.answer);
    if (!record) {
        for (const seat_ptr& s : seats_)
            withdraw(*s, errc::foreign_data);
        co_return true;
    }
    record_ = *record;
    version_ = look.record.version;
    parent_czxid_ = look.record.czxid;

    std::optional<barrier_view> view;
    if (listed)
        view = view_barrier(listing.names, record_);
    else if (look.record.num_children == 0)
        view.emplace();  // a subsequent listing is more recent
    bool more = co_await decide(std::move(view), look.record.num_children);
    again = again || more;
    if (!again)
        again = co_await watch_target(generation);
    drop_finished();
    co_return again;
}

/// Without the parent there are no nodes.
void barrier_room::note_missing_parent() {
    version_.reset();
    for (const seat_ptr& s : seats_) {
        s->forget_node();
        if (s->phase == phase::leaving)
            end(*s, error_code());
    }
    drop_finished();
}

void barrier_room::fail_all(error_code ec) {
    for (const seat_ptr& s : seats_) {
        if (s->node.empty() && !s->unsure) {
            end(*s, ec);
        } else if (s->phase == phase::withdrawing) {
            if (s->unsure)
                erase_late(*s);
            end(*s, s->verdict ? s->verdict : ec);
        } else {
            withdraw(*s, ec);
        }
    }
}

bool barrier_room::any_unsure() const {
    return std::any_of(seats_.begin(), seats_.end(), [](const seat_ptr& s) { return s->unsure; });
}

}  // namespace corozk::detail
