// SPDX-License-Identifier: Apache-2.0
// What a client does for its members at a barrier.
#include "recipe/double_barrier_room.hpp"

#include "block/parents.hpp"
#include "session/path.hpp"

#include <algorithm>
#include <vector>

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
    forget_watch(p, self->record_watch_, watch_kind::data, self->folder_);
    self->running_ = false;
}

/// What belonged to an earlier session is gone with it.
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

/// Calls that are over: their nodes have to go.
void barrier_room::note_calls() {
    for (const seat_ptr& s : seats_) {
        if (s->phase == phase::entering && !s->call->waiting())
            s->phase = phase::withdrawing;
        if (s->phase == phase::leaving && s->call->over())
            withdraw(*s, {});
        bool nothing_there = s->node.empty() && !s->unsure;
        bool over =
            s->phase == phase::withdrawing || (s->phase == phase::entering && s->call->late());
        if (over && nothing_there)
            end(*s, s->verdict ? s->verdict : late_error());
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

/// One pass: do what is due, look at the server, decide.
/// @return whether there is more to do at once; otherwise something wakes us.
task<bool> barrier_room::step() {
    const std::uint64_t generation = port_.status().generation;
    std::deque<job> jobs;
    bool list = std::exchange(list_next_, false) || any(phase::leaving);
    add_jobs(jobs, generation, list);
    const bool unsure = any_unsure();
    for (job& j : jobs)
        j.ask.send();
    // A server that lags behind must not make us believe that a create was lost.
    request sync(port_, op_code::sync, folder_);
    sync.generation = generation;
    if (unsure)
        sync.send();
    request look(port_, op_code::get, folder_);
    look.generation = generation;
    const bool watched = any(phase::entering);
    if (watched) {
        record_watch_.disarm();
        look.attach(record_watch_);
    } else {
        forget_watch(port_, record_watch_, watch_kind::data, folder_);
    }
    look.send();
    request listing(port_, op_code::children, folder_);
    listing.generation = generation;
    if (unsure || list)
        listing.send();

    bool again = false;
    bool folder_missing = false;
    for (job& j : jobs) {
        co_await j.ask;
        note_answer(j, folder_missing, again);
    }
    error_code synced;
    if (unsure)
        synced = co_await sync;
    error_code ec = co_await look;
    if (ec && ec != zk_errc::no_node && watched)
        forget_watch(port_, record_watch_, watch_kind::data, folder_);
    if (!ec)
        ec = synced;
    if (unsure || list) {
        if (error_code e = co_await listing; e && !ec)
            ec = e;
    }
    drop_finished();
    if (ec == zk_errc::no_node) {
        note_missing_folder();
        folder_missing = folder_missing || any(phase::entering);
    }
    if (folder_missing) {
        co_await make_folder();
        co_return true;
    }
    if (ec == zk_errc::no_node)
        co_return again;
    if (ec) {
        if (!worth_asking_again(port_, ec))
            fail_all(ec);
        if (list)
            list_next_ = true;
        drop_finished();
        co_return true;
    }
    std::optional<round_record> record = parse_round(look.answer);
    if (!record) {
        for (const seat_ptr& s : seats_)
            withdraw(*s, errc::foreign_data);
        co_return true;
    }
    record_ = *record;
    version_ = look.record.version;
    if (unsure)
        again = find_unsure(listing.names) || again;

    std::optional<barrier_view> view;
    if (unsure || list)
        view = view_barrier(listing.names, record_);
    else if (look.record.num_children == 0)
        view.emplace();  // a listing, which came after it, knows better
    bool more = co_await decide(std::move(view), look.record.num_children);
    again = again || more;
    if (!again)
        again = co_await watch_target(generation);
    drop_finished();
    co_return again;
}

/// What each member needs done.
void barrier_room::add_jobs(std::deque<job>& jobs, std::uint64_t generation, bool& list) {
    for (const seat_ptr& s : seats_) {
        if (s->unsure)
            continue;
        if (s->phase == phase::entering && s->node.empty()) {
            if (s->refuse_to_wait)
                list = true;
            add_create(jobs, s, generation);
        } else if (s->phase == phase::entering && s->call->late() && version_) {
            add_checked_erase(jobs, s);
        } else if (s->phase == phase::withdrawing || (s->phase == phase::leaving && s->erase_now)) {
            jobs.emplace_back(job::kind_type::erase, s, port_, op_code::erase, s->node);
            jobs.back().ask.generation = s->generation;
        }
    }
}

void barrier_room::add_create(std::deque<job>& jobs, const seat_ptr& s, std::uint64_t generation) {
    std::string random = port_.new_guid();
    if (s->first_guid.empty())
        s->first_guid = random;
    s->guid = member_guid(s->first_guid, random);
    s->generation = generation;
    jobs.emplace_back(
        kind::create, s, port_, op_code::create, join_path(folder_, member_prefix(s->guid)));
    request& ask = jobs.back().ask;
    ask.mode = create_mode::ephemeral_sequential;
    ask.entries = s->entries;
    ask.generation = generation;
}

/// Only if no round has begun since we looked.
void barrier_room::add_checked_erase(std::deque<job>& jobs, const seat_ptr& s) {
    jobs.emplace_back(kind::checked_erase, s, port_, op_code::multi, folder_);
    transaction steps;
    steps.check(folder_, *version_).erase(s->node);
    jobs.back().ask.steps = steps.steps();
    jobs.back().ask.generation = s->generation;
}

void barrier_room::note_answer(job& j, bool& folder_missing, bool& again) {
    barrier_seat& s = *j.seat;
    const error_code& ec = j.ask.error;
    if (j.kind == kind::create) {
        if (!ec) {
            std::optional<std::int32_t> sequence = parse_member(base_name(j.ask.answer));
            s.node = j.ask.answer;
            s.sequence = sequence.value_or(0);
            if (!sequence)
                withdraw(s, errc::foreign_data);
        } else if (is_outcome_unknown(ec)) {
            s.unsure = true;
            again = true;
        } else {
            s.forget_node();
            again = true;
            if (ec == zk_errc::no_node) {
                folder_missing = true;
            } else if (!worth_asking_again(port_, ec)) {
                end(s, ec);
            }
        }
        return;
    }
    if (!ec || ec == zk_errc::no_node) {
        s.forget_node();
        if (s.phase == phase::withdrawing) {
            end(s, s.verdict ? s.verdict : late_error());
        } else if (s.phase == phase::entering) {
            end(s, late_error());
        }
        return;
    }
    again = true;
    if (ec == zk_errc::bad_version || worth_asking_again(port_, ec))
        return;
    if (port_.logs(log_level::warning)) {
        port_.log(log_level::warning,
                  "double barrier: could not erase " + s.node + ": " + ec.message());
    }
    end(s, ec);
}

/// Without the folder there are no nodes.
void barrier_room::note_missing_folder() {
    version_.reset();
    for (const seat_ptr& s : seats_) {
        s->forget_node();
        if (s->phase == phase::leaving)
            end(*s, error_code());
    }
    drop_finished();
}

task<> barrier_room::make_folder() {
    acl entries = seats_.empty() ? acl() : seats_.front()->entries;
    error_code made = co_await ensure_folder(port_, folder_, std::move(entries));
    if (made && !worth_asking_again(port_, made))
        fail_all(made);
    drop_finished();
}

void barrier_room::fail_all(error_code ec) {
    for (const seat_ptr& s : seats_) {
        if (s->node.empty() && !s->unsure) {
            end(*s, ec);
        } else if (s->phase == phase::withdrawing) {
            end(*s, s->verdict ? s->verdict : ec);
        } else {
            withdraw(*s, ec);
        }
    }
}

/// Creates whose answer was lost: the guid tells.
bool barrier_room::find_unsure(const name_list& names) {
    bool any_unsure = false;
    for (const seat_ptr& s : seats_) {
        if (!s->unsure)
            continue;
        any_unsure = true;
        s->unsure = false;
        std::string prefix = member_prefix(s->guid);
        bool found = false;
        for (std::size_t i = 0; i < names.size() && !found; ++i) {
            if (!names[i].starts_with(prefix))
                continue;
            std::optional<std::int32_t> sequence = parse_member(names[i]);
            if (!sequence)
                continue;
            s->node = join_path(folder_, names[i]);
            s->sequence = *sequence;
            found = true;
        }
        if (!found)
            s->forget_node();
    }
    return any_unsure;
}

bool barrier_room::watched(const barrier_seat& s) const {
    return s.own_watch.armed() && s.own_watch_revision == port_.status().revision;
}

task<bool> barrier_room::decide(std::optional<barrier_view> view, std::int32_t children) {
    bool again = decide_inside(view);
    target_.clear();
    if (any(phase::leaving))
        again = decide_leaving(view) || again;
    if (any(phase::entering)) {
        bool more = co_await decide_waiting(view, children);
        again = again || more;
    }
    co_return again;
}

/// Who is in? A node that is not there any more was not counted, or is counted as gone.
bool barrier_room::decide_inside(const std::optional<barrier_view>& view) {
    bool again = false;
    for (const seat_ptr& s : seats_) {
        if (s->node.empty() || s->unsure)
            continue;
        if (s->phase != phase::entering)
            continue;
        if (view && !view->has(s->sequence)) {
            s->forget_node();
            again = true;
        } else if (is_inside(record_, s->sequence)) {
            if (view || watched(*s)) {
                admit(*s);
            } else {
                list_next_ = true;
                again = true;
            }
        }
    }
    return again;
}

void barrier_room::admit(barrier_seat& s) {
    if (!s.call->waiting()) {
        withdraw(s, {});
        wake_.set();
        return;
    }
    if (record_.size != size_) {
        withdraw(s, errc::limit_mismatch);
        wake_.set();
        return;
    }
    s.round = record_.round;
    s.last = record_.last;
    s.phase = phase::inside;
    s.own_watch.disarm();
    s.call->complete(error_code());
}

bool barrier_room::decide_leaving(const std::optional<barrier_view>& view) {
    if (!view) {
        list_next_ = true;
        return true;
    }
    bool again = false;
    std::map<std::int32_t, std::vector<barrier_seat*>> rounds;
    for (const seat_ptr& s : seats_) {
        if (s->phase == phase::leaving)
            rounds[s->last].push_back(s.get());
    }
    for (auto& [last, leavers] : rounds) {
        std::vector<std::int32_t> own;
        for (barrier_seat* s : leavers) {
            if (!s->node.empty() && !view->has(s->sequence))
                s->forget_node();
            if (!s->node.empty())
                own.push_back(s->sequence);
        }
        std::sort(own.begin(), own.end(), sequence_less);
        leave_plan plan = plan_leave(*view, last, own);
        for (barrier_seat* s : leavers) {
            if (plan.done) {
                end(*s, error_code());
            } else if (!s->node.empty() &&
                       std::binary_search(
                           plan.erase.begin(), plan.erase.end(), s->sequence, sequence_less)) {
                s->erase_now = true;
                again = true;
            }
        }
        if (plan.watch)
            target_ = join_path(folder_, *plan.watch);
    }
    return again;
}

task<bool> barrier_room::decide_waiting(const std::optional<barrier_view>& view,
                                        std::int32_t children) {
    bool waiting = false;
    for (const seat_ptr& s : seats_) {
        if (s->phase != phase::entering || s->node.empty() || s->call->over())
            continue;
        waiting = true;
        if (view && s->refuse_to_wait && !view->inside.empty()) {
            withdraw(*s, errc::would_block);
            co_return true;
        }
    }
    if (!waiting)
        co_return any_late();
    if (!view) {
        if (children >= 0 && static_cast<std::uint32_t>(children) >= size_) {
            list_next_ = true;
            co_return true;
        }
        bool again = co_await watch_own();
        co_return again || any_late();
    }
    barrier_view counted = *view;
    std::set<std::int32_t> going = own_going();
    std::erase_if(counted.waiting,
                  [&going](const barrier_member& m) { return going.contains(m.sequence); });
    if (auto next = next_round(counted, record_, size_)) {
        counted.waiting.resize(size_);
        co_return co_await begin(*next, counted.waiting);
    }
    if (!view->inside.empty() && target_.empty()) {
        target_ = join_path(folder_, view->inside.front().name);
    }
    bool again = co_await watch_own();
    co_return again || any_late();
}

bool barrier_room::any_unsure() const {
    return std::any_of(seats_.begin(), seats_.end(), [](const seat_ptr& s) { return s->unsure; });
}

bool barrier_room::any_late() const {
    return std::any_of(seats_.begin(), seats_.end(), [](const seat_ptr& s) {
        return s->phase == phase::entering && !s->node.empty() && s->call->late();
    });
}

/// The nodes of ours whose members have given up.
std::set<std::int32_t> barrier_room::own_going() const {
    std::set<std::int32_t> going;
    for (const seat_ptr& s : seats_) {
        bool over = s->phase == phase::withdrawing || s->call->over();
        if (over && !s->node.empty())
            going.insert(s->sequence);
    }
    return going;
}

/// Begins a round with these members, if they are all still there.
task<bool> barrier_room::begin(round_record next, std::vector<barrier_member> members) {
    constexpr std::size_t overhead = 32;
    request open(port_, op_code::multi, folder_);
    transaction steps;
    steps.set(folder_, format_round(next), *version_);
    std::size_t size = members.size() * (folder_.size() + members.front().name.size() + overhead);
    // A transaction that the server would not accept: then the members may have changed since
    // the listing, as on the page.
    if (size + 1024 < port_.max_request_size()) {
        for (const barrier_member& m : members)
            steps.check(join_path(folder_, m.name));
    }
    open.steps = steps.steps();
    open.generation = port_.status().generation;
    error_code ec = co_await open;
    if (ec) {
        bool look_again =
            ec == zk_errc::bad_version || ec == zk_errc::no_node || worth_asking_again(port_, ec);
        if (!look_again)
            fail_all(ec);
        list_next_ = true;
        co_return true;
    }
    record_ = next;
    version_ = *version_ + 1;
    for (const seat_ptr& s : seats_) {
        if (s->phase == phase::entering && !s->node.empty() && !s->unsure &&
            is_inside(record_, s->sequence)) {
            admit(*s);
        }
    }
    drop_finished();
    co_return any(phase::entering);
}

/// A waiting member whose node is taken away comes again.
task<bool> barrier_room::watch_own() {
    std::deque<std::pair<seat_ptr, request>> reads;
    std::uint64_t revision = port_.status().revision;
    for (const seat_ptr& s : seats_) {
        if (s->phase != phase::entering || s->node.empty() || watched(*s))
            continue;
        s->own_watch.disarm();
        reads.emplace_back(std::piecewise_construct,
                           std::forward_as_tuple(s),
                           std::forward_as_tuple(port_, op_code::get, s->node));
        request& read = reads.back().second;
        read.generation = s->generation;
        read.attach(s->own_watch);
        read.send();
    }
    bool again = false;
    for (auto& [seat, read] : reads) {
        error_code ec = co_await read;
        seat->own_watch_revision = revision;
        if (ec == zk_errc::no_node) {
            seat->forget_node();
            again = true;
        } else if (ec) {
            again = true;
            if (!worth_asking_again(port_, ec))
                withdraw(*seat, ec);
        }
    }
    co_return again;
}

task<bool> barrier_room::watch_target(std::uint64_t generation) {
    if (target_.empty()) {
        forget_target();
        co_return false;
    }
    if (target_watch_.armed() && watched_target_ == target_)
        co_return false;
    forget_target();
    watched_target_ = target_;
    request read(port_, op_code::get, watched_target_);
    read.generation = generation;
    read.attach(target_watch_);
    error_code ec = co_await read;
    if (ec)
        list_next_ = true;
    if (ec && ec != zk_errc::no_node && !worth_asking_again(port_, ec))
        fail_all(ec);
    co_return static_cast<bool>(ec);
}

void barrier_room::forget_target() {
    forget_watch(port_, target_watch_, watch_kind::data, watched_target_);
    watched_target_.clear();
}

}  // namespace corozk::detail
