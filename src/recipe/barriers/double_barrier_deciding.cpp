// SPDX-License-Identifier: Apache-2.0
// The decisions for a client's members after a read: entering, leaving, starting a round.
#include "operation/path.hpp"
#include "recipe/barriers/double_barrier_room.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace corozk::detail {

task<bool> barrier_room::decide(std::optional<barrier_view> view, stat parent) {
    bool again = decide_inside(view);
    target_.clear();
    if (any(phase::leaving))
        again = decide_leaving(view) || again;
    if (any(phase::entering)) {
        bool more = co_await decide_waiting(view, parent);
        again = again || more;
    }
    co_return again;
}

/// Completes `enter` of members of the current round. A node that does not exist any more was not
/// counted, or counts as having left.
bool barrier_room::decide_inside(const std::optional<barrier_view>& view) {
    bool again = false;
    for (const seat_ptr& s : seats_) {
        if (s->node.empty() || s->unsure)
            continue;
        if (s->phase != phase::entering)
            continue;
        if (view && !is_listed(*view, *s)) {
            s->forget_node();
            again = true;
        } else if (is_inside(known_.record, s->sequence)) {
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

bool barrier_room::is_listed(const barrier_view& view, const barrier_seat& s) {
    return view.has({base_name(s.node), s.sequence});
}

void barrier_room::admit(barrier_seat& s) {
    if (!s.call->waiting()) {
        withdraw(s, {});
        return;
    }
    if (known_.record.size != size_) {
        withdraw(s, errc::limit_mismatch);
        return;
    }
    s.round = {known_.record.round, known_.record.last, known_.czxid};
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
        if (s->phase != phase::leaving)
            continue;
        if (s->round.parent != known_.czxid)
            end(*s, error_code());  // all nodes were deleted before the parent was re-created
        else
            rounds[s->round.last].push_back(s.get());
    }
    for (auto& [last, leavers] : rounds) {
        std::set<std::int32_t> own;
        for (barrier_seat* s : leavers) {
            if (!s->node.empty() && !is_listed(*view, *s))
                s->forget_node();
            if (!s->node.empty())
                own.insert(s->sequence);
        }
        leave_plan plan = plan_leave(*view, last, own);
        for (barrier_seat* s : leavers) {
            if (plan.done) {
                end(*s, error_code());
            } else if (!s->node.empty() && plan.erase.contains(s->sequence)) {
                s->erase_now = true;
                again = true;
            }
        }
        if (plan.watch)
            target_ = join_path(parent_, *plan.watch);
        planned_ = rounds.size() == 1 && plan.watch && !plan.erase.empty();
    }
    return again;
}

task<bool> barrier_room::decide_waiting(const std::optional<barrier_view>& view,
                                        const stat& parent) {
    bool waiting = false;
    bool impatient = false;
    const bool in_progress = view && !view->inside.empty();
    for (const seat_ptr& s : seats_) {
        if (s->phase != phase::entering || s->node.empty() || s->call->over())
            continue;
        waiting = true;
        impatient = impatient || s->refuse_to_wait;
        if (in_progress && s->refuse_to_wait)
            withdraw(*s, errc::would_block);
    }
    if (!waiting)
        co_return false;
    if (in_progress && impatient)
        co_return true;
    if (!view) {
        // Of a round in progress there may be a single member left.
        if (impatient || static_cast<std::uint32_t>(parent.num_children) >= size_ ||
            sequence_spent(parent)) {
            list_next_ = true;
            co_return true;
        }
        co_return co_await watch_own();
    }
    barrier_view counted = *view;
    std::set<std::int32_t> going = own_going();
    std::erase_if(counted.waiting,
                  [&going](const barrier_member& m) { return going.contains(m.sequence); });
    if (auto next = next_round(counted, known_.record, size_)) {
        counted.waiting.resize(size_);
        co_return co_await begin(*next, counted.waiting);
    }
    if (sequence_spent(parent) && counted.waiting.size() < size_) {
        // Unless a round has started since the record was read.
        if (parent.version == known_.version)
            refuse_waiting();
        else
            list_next_ = true;
        co_return true;
    }
    if (!view->inside.empty() && target_.empty()) {
        target_ = join_path(parent_, view->inside.front().name);
    }
    co_return co_await watch_own();
}

/// All whose numbers count are there already, and they are too few.
void barrier_room::refuse_waiting() {
    for (const seat_ptr& s : seats_) {
        if (s->phase == phase::entering && !s->node.empty())
            withdraw(*s, errc::sequence_exhausted);
    }
}

/// The nodes of this client's members that have given up.
std::set<std::int32_t> barrier_room::own_going() const {
    std::set<std::int32_t> going;
    for (const seat_ptr& s : seats_) {
        bool over = s->phase == phase::withdrawing || s->call->over();
        if (over && !s->node.empty())
            going.insert(s->sequence);
    }
    return going;
}

/// Starts a round with these members, if all of their nodes still exist.
task<bool> barrier_room::begin(round_record next, std::vector<barrier_member> members) {
    constexpr std::size_t overhead = 32;
    request open(port_, op_code::multi, parent_);
    transaction steps;
    steps.set(parent_, format_round(next), *known_.version);
    std::size_t size = members.size() * (parent_.size() + members.front().name.size() + overhead);
    // If the transaction is too large, the record is replaced without checking the members, which
    // may have changed since the listing, as on the page.
    if (size + 1024 < port_.max_request_size()) {
        for (const barrier_member& m : members)
            steps.check(join_path(parent_, m.name));
    }
    open.steps = std::move(steps).steps();
    open.generation = port_.status().generation;
    error_code ec = co_await open;
    if (ec) {
        bool look_again = ec == zk_errc::bad_version || ec == zk_errc::no_node ||
                          ec == zk_errc::not_read_only || retry(port_).again(ec);
        if (!look_again)
            fail_all(ec);
        list_next_ = true;
        co_return true;
    }
    known_.record = next;
    known_.version = *known_.version + 1;
    for (const seat_ptr& s : seats_) {
        if (s->phase == phase::entering && !s->node.empty() && !s->unsure &&
            is_inside(known_.record, s->sequence)) {
            admit(*s);
        }
    }
    drop_finished();
    co_return any(phase::entering);
}

}  // namespace corozk::detail
