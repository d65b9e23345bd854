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
        self->wake_.clear();
        self->note_session();
        self->note_calls();
        if (self->seats_.empty())
            break;
        bool again = false;
        // A server without a quorum changes nothing.
        if (p.alive(p.status().generation) && p.status().state != session_state::read_only) {
            again = co_await self->step();
        }
        if (!again && !self->seats_.empty()) {
            co_await self->wake_.wait();
        }
    }
    self->forget_target();
    forget_watch(p, self->record_watch_, self->parent_);
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
    if (known_.generation != port_.status().generation) {
        known_.generation = port_.status().generation;
        known_.version.reset();
        known_.caught_up = false;
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
    wake_.set();  // its node has to be deleted
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

/// What one pass reads: the record for members that enter, the members for those that leave.
struct barrier_room::pass {
    pass(port& p, const std::string& parent, std::uint64_t generation)
        : sync(p, op_code::sync, parent, generation),
          look(p, op_code::get, parent, generation),
          listing(p, op_code::children, parent, generation) {}

    void send() {
        // The server may lag behind and not have the nodes yet.
        if (syncs)
            sync.send();
        if (looks)
            look.send();
        if (lists)
            listing.send();
    }

    task<error_code> finish() {
        error_code synced, looked, listed;
        if (syncs)
            synced = co_await sync;
        if (looks)
            looked = co_await look;
        if (lists)
            listed = co_await listing;
        if (synced)
            co_return synced;
        co_return looked ? looked : listed;
    }

    bool unsure = false;
    bool syncs = false;
    bool looks = false;
    bool watches = false;  ///< the record
    bool lists = false;
    request sync;
    request look;
    request listing;
};

/// Whether all that there is to do are the deletes that follow from the last listing.
bool barrier_room::all_planned() const {
    return std::all_of(seats_.begin(), seats_.end(), [](const seat_ptr& s) {
        return s->phase != phase::entering &&
               (s->phase != phase::leaving || s->erase_now || s->node.empty());
    });
}

/// One pass: send due requests, read, decide.
/// @return whether there is more to do at once; otherwise wait for the signal
task<bool> barrier_room::step() {
    const std::uint64_t generation = port_.status().generation;
    const bool entering = any(phase::entering);
    const bool planned = std::exchange(planned_, false) && all_planned() && !list_next_;
    std::deque<job> jobs;
    pass reads(port_, parent_, generation);
    reads.lists = std::exchange(list_next_, false) || (any(phase::leaving) && !planned);
    add_jobs(jobs, generation, reads.lists);
    reads.unsure = any_unsure();
    reads.syncs = reads.unsure || (!known_.caught_up && leaves_late(generation));
    reads.lists = reads.lists || reads.unsure;
    reads.looks = entering || reads.unsure;
    // A change of the record most likely means that nobody waits any more.
    const bool changed = std::exchange(record_watched_, false) && !record_watch_.armed();
    reads.watches = entering && !changed;
    for (job& j : jobs)
        j.ask.send();
    if (reads.watches) {
        record_watch_.disarm();
        reads.look.attach(record_watch_);
    } else {
        forget_watch(port_, record_watch_, parent_);
    }
    reads.send();

    answers all;
    for (job& j : jobs) {
        co_await j.ask;
        note_answer(j, all);
    }
    if (all.refused)
        renew_parent();
    error_code ec = co_await reads.finish();
    known_.caught_up = known_.caught_up || (reads.syncs && !reads.sync.error);
    if (reads.looks)
        record_watched_ = reads.watches && !reads.look.error;
    if (ec && ec != zk_errc::no_node && reads.watches)
        forget_watch(port_, record_watch_, parent_);
    drop_finished();
    if (ec == zk_errc::no_node) {
        note_missing_parent();
        all.parent_missing = all.parent_missing || any(phase::entering);
    }
    if (all.parent_missing) {
        co_await make_parent();
        co_return true;
    }
    if (ec == zk_errc::no_node)
        co_return all.again;
    if (ec) {
        // A server without a quorum cannot catch up: they wait for one that can.
        const bool later = ec == zk_errc::not_read_only;
        if (!later && !retry(port_).again(ec))
            fail_all(ec);
        if (reads.lists)
            list_next_ = true;
        drop_finished();
        co_return !later;
    }
    bool more = co_await read(reads);
    bool again = all.again || more || (any(phase::entering) && !record_watched_);
    if (!again)
        again = co_await watch_target(generation);
    drop_finished();
    co_return again;
}

/// @return as above
task<bool> barrier_room::read(const pass& reads) {
    if (!reads.looks && !reads.lists)
        co_return false;
    const stat& parent = reads.looks ? reads.look.record : reads.listing.record;
    if (reads.looks && reads.lists && reads.listing.record.czxid != parent.czxid) {
        // The parent was re-created in between: the record does not refer to these members.
        list_next_ = true;
        co_return true;
    }
    bool again = false;
    // Whatever the record is: a member that is refused must know its node, to delete it.
    if (reads.unsure)
        again = find_unsure(reads.listing.names);
    if (reads.looks) {
        std::optional<round_record> record = parse_round(reads.look.answer);
        if (!record) {
            for (const seat_ptr& s : seats_)
                withdraw(*s, errc::foreign_data);
            co_return true;
        }
        known_.record = *record;
        known_.version = parent.version;
    }
    known_.czxid = parent.czxid;

    std::optional<barrier_view> view;
    if (reads.lists)
        view = view_barrier(reads.listing.names, known_.record);
    else if (parent.num_children == 0)
        view.emplace();  // a subsequent listing is more recent
    const stat& seen = reads.lists ? reads.listing.record : parent;
    bool more = co_await decide(std::move(view), seen);
    co_return again || more;
}

/// Without the parent there are no nodes.
void barrier_room::note_missing_parent() {
    known_.version.reset();
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

/// Whether a member goes on leaving in a later session than that of its node.
bool barrier_room::leaves_late(std::uint64_t generation) const {
    return std::any_of(seats_.begin(), seats_.end(), [generation](const seat_ptr& s) {
        return s->phase == phase::leaving && s->generation != generation;
    });
}

bool barrier_room::any_unsure() const {
    return std::any_of(seats_.begin(), seats_.end(), [](const seat_ptr& s) { return s->unsure; });
}

}  // namespace corozk::detail
