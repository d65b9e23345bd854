// SPDX-License-Identifier: Apache-2.0
// The requests of a client for its members at a barrier, and their responses.
#include "driver/ensure_path.hpp"
#include "operation/path.hpp"
#include "recipe/barriers/double_barrier_room.hpp"
#include "recipe/toolkit/background_deleter.hpp"
#include "recipe/toolkit/renew_parent.hpp"
#include "recipe/toolkit/retry.hpp"

namespace corozk::detail {

namespace {

/// Replaces the parent if nobody is left. Otherwise some may wait for others that cannot come any
/// more: they look when the record is written.
task<> renew_or_tell(port& p, std::string parent) {
    // Without the record: compared with its number, new members would be inside.
    const bool keep_data = false;
    retry attempts(p);
    error_code ec;
    do
        ec = co_await renew_parent(p, parent, keep_data);
    while (attempts.again(ec));
    bool tell = ec == errc::sequence_exhausted;
    while (tell) {
        request read(p, op_code::get, parent);
        ec = co_await read;
        if (!ec) {
            request set(p, op_code::set, parent);
            set.data = read.answer;
            set.version = read.record.version;
            ec = co_await set;
        }
        tell = attempts.again(ec);  // after `bad_version`, they look already
    }
}

}  // namespace

/// The requests that each member needs.
void barrier_room::add_jobs(std::deque<job>& jobs, std::uint64_t generation, bool& list) {
    for (const seat_ptr& s : seats_) {
        if (s->unsure)
            continue;
        if (s->phase == phase::entering && s->node.empty()) {
            if (s->refuse_to_wait)
                list = true;
            add_create(jobs, s, generation);
        } else if (s->phase == phase::withdrawing || (s->phase == phase::leaving && s->erase_now)) {
            jobs.emplace_back(s, port_, op_code::erase, s->node);
        }
    }
}

void barrier_room::add_create(std::deque<job>& jobs, const seat_ptr& s, std::uint64_t generation) {
    std::string random = port_.new_guid();
    if (s->first_guid.empty())
        s->first_guid = random;
    s->guid = member_guid(s->first_guid, random);
    s->generation = generation;
    jobs.emplace_back(s, port_, op_code::create, join_path(parent_, member_prefix(s->guid)));
    request& ask = jobs.back().ask;
    ask.mode = create_mode::ephemeral_sequential;
    ask.entries = s->entries;
}

void barrier_room::note_answer(job& j, answers& all) {
    barrier_seat& s = *j.seat;
    error_code ec = j.ask.error;
    retry attempt(port_);
    const bool transient = attempt.again(ec);
    if (j.ask.code == op_code::create) {
        if (!ec) {
            std::optional<std::int32_t> sequence = parse_member(base_name(j.ask.answer));
            if (!sequence)
                withdraw(s, errc::foreign_data);
            has_node(s, j.ask.answer, sequence.value_or(0));
        } else if (attempt.doubtful()) {
            s.unsure = true;
            all.again = true;
        } else {
            s.forget_node();
            all.again = true;
            if (ec == zk_errc::no_node) {
                all.parent_missing = true;
            } else if (!transient && ec != zk_errc::not_read_only) {
                end(s, ec);
            }
        }
        return;
    }
    if (!ec || ec == zk_errc::no_node) {
        s.forget_node();
        if (s.phase == phase::withdrawing)
            end(s, s.verdict);
        all.refused = all.refused || s.verdict == errc::sequence_exhausted;
        return;
    }
    all.again = true;
    // Without a quorum: the node stays until there is one.
    if (transient || ec == zk_errc::not_read_only)
        return;
    port_.report(
        log_level::warning, "double barrier: could not delete ", s.node, ": ", ec.message());
    end(s, ec);
}

void barrier_room::renew_parent() {
    port_.spawn(renew_or_tell(port_, parent_));
}

void barrier_room::has_node(barrier_seat& s, std::string path, std::int32_t sequence) {
    s.node = std::move(path);
    s.sequence = sequence;
    if (sequence_spent(sequence))
        withdraw(s, errc::sequence_exhausted);
}

/// Deletes the node of a create that was lost, later: it may still be in flight.
void barrier_room::erase_late(const barrier_seat& s) {
    port_.use_service<background_deleter>().erase_late(
        parent_, member_prefix(s.guid), s.generation);
}

/// Finds nodes by their guid whose create's response was lost.
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
            has_node(*s, join_path(parent_, names[i]), *sequence);
            found = true;
        }
        if (!found) {
            erase_late(*s);
            s->forget_node();
        }
    }
    return any_unsure;
}

task<> barrier_room::make_parent() {
    acl entries = seats_.empty() ? acl() : seats_.front()->entries;
    error_code made = co_await ensure_path(port_, parent_, std::move(entries));
    if (made && made != zk_errc::not_read_only && !retry(port_).again(made))
        fail_all(made);
    drop_finished();
}

bool barrier_room::watched(const barrier_seat& s) const {
    return s.own_watch.armed() && s.own_watch_revision == port_.status().revision;
}

/// Watches the nodes of waiting members, which enter again if another client deletes them.
task<bool> barrier_room::watch_own() {
    std::deque<std::pair<seat_ptr, request>> reads;
    std::uint64_t revision = port_.status().revision;
    for (const seat_ptr& s : seats_) {
        if (s->phase != phase::entering || s->node.empty() || watched(*s))
            continue;
        s->own_watch.disarm();
        reads.emplace_back(std::piecewise_construct,
                           std::forward_as_tuple(s),
                           std::forward_as_tuple(port_, op_code::get, s->node, s->generation));
        request& read = reads.back().second;
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
            if (!retry(port_).again(ec))
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
    request read(port_, op_code::get, watched_target_, generation);
    read.attach(target_watch_);
    error_code ec = co_await read;
    if (ec)
        list_next_ = true;
    if (ec && ec != zk_errc::no_node && !retry(port_).again(ec))
        fail_all(ec);
    co_return static_cast<bool>(ec);
}

void barrier_room::forget_target() {
    forget_watch(port_, target_watch_, watched_target_);
    watched_target_.clear();
}

}  // namespace corozk::detail
