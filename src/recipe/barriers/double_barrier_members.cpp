// SPDX-License-Identifier: Apache-2.0
#include "recipe/barriers/double_barrier_members.hpp"

#include "recipe/toolkit/fault.hpp"
#include "recipe/toolkit/take_if.hpp"

#include <algorithm>
#include <set>

namespace corozk::detail {

namespace {

/// Whether the next pass asks again. Without a quorum nothing changes: they wait for a server with one.
bool passes(const error_code& ec) noexcept {
    return is_transient(ec) || ec == zk_errc::not_read_only;
}

bool is_listed(const barrier_view& view, const local_member& m) noexcept {
    return view.has({m.name, m.sequence});
}

}  // namespace

void local_members::add(pointer m, phase wanted) {
    m->phase = wanted;
    if (wanted == phase::withdrawing)
        withdraw(*m, {});
    members_.push_back(std::move(m));
}

/// The nodes of an earlier session were deleted with it.
void local_members::session_is(std::uint64_t generation, bool alive) {
    for (const pointer& m : members_) {
        if (m->node == member_node::none || (alive && m->session == generation))
            continue;
        forget_node(*m);
        if (m->phase == phase::leaving)
            end(*m, zk_errc::session_expired);
    }
    if (std::exchange(session_, generation) != generation)
        lagging_ = any(phase::leaving);
}

void local_members::give_up(local_member& m) {
    if (m.phase == phase::entering || m.phase == phase::leaving)
        withdraw(m, {});
}

barrier_reads local_members::begin_pass() {
    bool in_doubt = false, entering = false, impatient = false;
    bool leaving = false, staying = false, deleting = false;
    for (const pointer& m : members_) {
        in_doubt = in_doubt || m->node == member_node::in_doubt;
        if (m->phase == phase::entering) {
            entering = true;
            impatient = impatient || (m->refuse_to_wait && m->node == member_node::none);
        } else if (m->phase == phase::leaving) {
            leaving = true;
            staying = staying || m->node == member_node::exists;
            deleting = deleting || m->node == member_node::unwanted;
        }
    }
    // The last listing may have shown all that there is to do: which nodes to delete and to watch.
    const bool shown = deleting && !staying && !entering && !target_.empty();
    reads_.sync = in_doubt || (leaving && lagging_);
    reads_.record = in_doubt || entering;
    reads_.list = list_ || in_doubt || impatient || (leaving && !shown);
    list_ = false;
    due_ = false;
    return reads_;
}

const std::string& local_members::name_node(local_member& m,
                                            std::string random,
                                            std::uint64_t session) {
    if (m.participant.empty())
        m.participant = random;
    m.name = member_prefix(member_guid(m.participant, random));
    m.session = session;
    return m.name;
}

void local_members::created(local_member& m, const error_code& ec, std::string_view name) {
    if (!ec)
        return place(m, name);
    due_ = true;
    if (fault_of(ec) == fault::unknown) {
        m.node = member_node::in_doubt;
        return;
    }
    forget_node(m);
    if (ec != zk_errc::no_node && !passes(ec))
        end(m, ec);
}

void local_members::place(local_member& m, std::string_view name) {
    const std::optional<std::int32_t> sequence = parse_member(name);
    m.node = member_node::exists;
    m.name = name;
    m.sequence = sequence.value_or(0);
    if (!sequence)
        withdraw(m, errc::foreign_data);
    else if (sequence_spent(*sequence))
        withdraw(m, errc::sequence_exhausted);
    else if (m.phase == phase::withdrawing)
        withdraw(m, m.result);
}

void local_members::deleted(local_member& m, const error_code& ec) {
    if (!ec || ec == zk_errc::no_node)
        return forget_node(m);
    due_ = true;
    if (!passes(ec))
        end(m, ec);
}

/// Without the parent there are no nodes, but one in doubt may still follow when it exists again.
void local_members::parent_missing() {
    for (const pointer& m : members_) {
        if (m->node == member_node::in_doubt)
            late_.push_back({m->name, m->session});
        forget_node(*m);
        if (m->phase == phase::leaving)
            end(*m, {});
    }
}

void local_members::failed(const error_code& ec) {
    list_ = list_ || reads_.list;
    due_ = ec != zk_errc::not_read_only;
    if (passes(ec) || ec == zk_errc::no_node || ec == zk_errc::bad_version)
        return;
    for (const pointer& m : members_) {
        if (m->phase != phase::withdrawing) {
            withdraw(*m, ec);
        } else if (m->node == member_node::in_doubt) {
            late_.push_back({m->name, m->session});
            end(*m, m->result ? m->result : ec);
        }  // otherwise the next pass deletes its node
    }
}

std::optional<barrier_start> local_members::read(const response_fields* record,
                                                 const response_fields* listing) {
    if (!record && !listing)
        return std::nullopt;
    const stat& parent = record ? record->record : listing->record;
    if (listing && listing->record.czxid != parent.czxid) {
        // The parent was re-created in between: the record does not refer to these members.
        list_again();
        return std::nullopt;
    }
    // Whatever the record is: a member that is refused must know its node, to delete it.
    if (listing && reads_.sync)
        find_in_doubt(listing->names);
    lagging_ = lagging_ && !reads_.sync;
    if (record) {
        const std::optional<round_record> parsed = parse_round(record->answer);
        if (!parsed) {
            for (const pointer& m : members_)
                withdraw(*m, errc::foreign_data);
            return std::nullopt;
        }
        record_ = *parsed;
        version_ = parent.version;
    }
    czxid_ = parent.czxid;
    target_.clear();

    std::optional<barrier_view> view;
    if (listing)
        view = view_barrier(listing->names, record_);
    else if (parent.num_children == 0)
        view.emplace();  // a subsequent listing is more recent
    decide_entering(view);
    decide_leaving(view);
    return decide_waiting(view, listing ? listing->record : parent);
}

/// Finds nodes by their guid whose create's response was lost.
void local_members::find_in_doubt(const name_list& names) {
    for (const pointer& m : members_) {
        if (m->node != member_node::in_doubt)
            continue;
        std::size_t i = 0;
        while (i < names.size() && !(names[i].starts_with(m->name) && parse_member(names[i])))
            ++i;
        due_ = true;
        if (i < names.size()) {
            place(*m, names[i]);
        } else {
            late_.push_back({m->name, m->session});
            forget_node(*m);
        }
    }
}

/// Admits members of the current round. A node that does not exist any more was not counted, or
/// counts as having left.
void local_members::decide_entering(const std::optional<barrier_view>& view) {
    for (const pointer& m : members_) {
        if (!m->waits())
            continue;
        if (view && !is_listed(*view, *m)) {
            forget_node(*m);
            due_ = true;
        } else if (is_inside(record_, m->sequence)) {
            if (view || m->watched)
                admit(*m);
            else
                list_again();
        }
    }
}

void local_members::admit(local_member& m) {
    if (record_.size != size_)
        return withdraw(m, errc::limit_mismatch);
    m.round = {record_.round, record_.last, czxid_};
    m.phase = phase::inside;
    m.result = {};
}

void local_members::decide_leaving(const std::optional<barrier_view>& view) {
    std::optional<std::int32_t> last;
    std::set<std::int32_t> own;
    for (const pointer& m : members_) {
        if (m->phase != phase::leaving)
            continue;
        // All nodes of its round were deleted: before the parent was, or before the next round.
        if (m->round.parent != czxid_ || m->round.number < record_.round) {
            end(*m, {});
            continue;
        }
        last = m->round.last;
        if (view && !is_listed(*view, *m))
            forget_node(*m);
        if (m->node != member_node::none)
            own.insert(m->sequence);
    }
    if (!last)
        return;
    if (!view)
        return list_again();
    const leave_plan plan = plan_leave(*view, *last, own);
    for (const pointer& m : members_) {
        if (m->phase != phase::leaving)
            continue;
        if (plan.done) {
            end(*m, {});
        } else if (m->node != member_node::none && plan.erase.contains(m->sequence)) {
            m->node = member_node::unwanted;
            due_ = true;
        }
    }
    if (plan.watch)
        target_ = *plan.watch;
}

std::optional<barrier_start> local_members::decide_waiting(const std::optional<barrier_view>& view,
                                                           const stat& parent) {
    const bool in_progress = view && !view->inside.empty();
    std::vector<local_member*> waiting;
    std::set<std::int32_t> unwanted;
    bool impatient = false;
    for (const pointer& m : members_) {
        if (m->node == member_node::unwanted)
            unwanted.insert(m->sequence);
        if (!m->waits())
            continue;
        waiting.push_back(m.get());
        impatient = impatient || m->refuse_to_wait;
        if (in_progress && m->refuse_to_wait)
            withdraw(*m, errc::would_block);
    }
    if (waiting.empty() || (in_progress && impatient))
        return std::nullopt;
    if (!view) {
        // Of a round in progress there may be a single member left.
        if (impatient || static_cast<std::uint32_t>(parent.num_children) >= size_ ||
            sequence_spent(parent))
            list_again();
        return std::nullopt;
    }
    barrier_view counted = *view;
    std::erase_if(counted.waiting,
                  [&](const barrier_member& m) { return unwanted.contains(m.sequence); });
    if (const auto next = next_round(counted, record_, size_)) {
        counted.waiting.resize(size_);
        return barrier_start{*next, version_, std::move(counted.waiting)};
    }
    if (sequence_spent(parent) && counted.waiting.size() < size_) {
        // All whose numbers count are there already, and they are too few. Unless a round has started
        // since the record was read.
        if (parent.version != version_)
            list_again();
        else
            for (local_member* m : waiting)
                withdraw(*m, errc::sequence_exhausted);
    } else if (in_progress && target_.empty()) {
        target_ = view->inside.front().name;
    }
    return std::nullopt;
}

void local_members::started(const round_record& record) {
    record_ = record;
    for (const pointer& m : members_) {
        if (m->waits() && is_inside(record_, m->sequence))
            admit(*m);
    }
    due_ = due_ || entering();
}

void local_members::watched(local_member& m, const error_code& ec) {
    if (!ec)
        return;
    due_ = true;
    if (ec == zk_errc::no_node)
        forget_node(m);
    else if (!passes(ec))
        withdraw(m, ec);
}

std::vector<local_members::pointer> local_members::take_finished() {
    return take_if(members_, [](const pointer& m) {
        return m->phase == phase::inside || m->phase == phase::outside;
    });
}

void local_members::withdraw(local_member& m, const error_code& reason) {
    m.phase = phase::withdrawing;
    m.result = reason;
    due_ = true;
    if (m.node == member_node::exists)
        m.node = member_node::unwanted;
    else if (m.node == member_node::none)
        end(m, reason);
}

void local_members::end(local_member& m, const error_code& ec) {
    m.phase = phase::outside;
    m.result = ec;
}

void local_members::forget_node(local_member& m) {
    m.node = member_node::none;
    m.name.clear();
    m.watched = false;
    if (m.phase == phase::withdrawing)
        end(m, m.result);
}

void local_members::list_again() noexcept {
    list_ = true;
    due_ = true;
}

bool local_members::any(phase wanted) const noexcept {
    return std::any_of(members_.begin(), members_.end(), [wanted](const pointer& m) {
        return m->phase == wanted;
    });
}

}  // namespace corozk::detail
