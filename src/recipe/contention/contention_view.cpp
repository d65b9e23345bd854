// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/contention_view.hpp"

#include "recipe/toolkit/fault.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace corozk::detail {

namespace {

using stage = local_node::stage_type;

remote_node& as_remote(contention_node& n) noexcept {
    return static_cast<remote_node&>(n);
}

bool none(const contention_node&) noexcept {
    return false;
}

/// A local node that is being deleted.
bool leaving(const contention_node& n) noexcept {
    return n.local() && static_cast<const local_node&>(n).state == stage::releasing;
}

/// More are proved by the next request.
constexpr std::size_t most_to_prove = 64;

}  // namespace

/// The entries ahead of a contender, the nearest first, without those that are `gone`.
template <class Gone>
class contention_view::walk final : public ahead_of {
public:
    walk(contention_view& v, contention_node& n, Gone gone)
        : begin_(v.nodes_.begin()), at_(v.nodes_.iterator_to(n)), gone_(gone) {
        limit = v.limit_.value();
    }

    const contention_entry* next() override {
        while (at_ != begin_) {
            if (!gone_(*--at_))
                return &*at_;
        }
        return nullptr;
    }

private:
    node_set::iterator begin_;
    node_set::iterator at_;
    Gone gone_;
};

struct contention_view::listed_name {
    std::int64_t order;
    std::string_view text;
    node_name name;
};

contention_view::contention_view(const contention_settings& settings)
    : settings_(settings), limit_(settings) {}

// Events.

queue_step contention_view::entered(std::size_t creating) noexcept {
    queue_step step;
    // Contenders behind another local one are not decided on before that one has left.
    if (creating + local_.nodes - local_.releasing != 1)
        return step;
    // If no other client has entered for a while, the create alone is sufficient.
    bool alone = past_.latest && past_.followed;
    step.list = !alone && list();
    step.read_limit = limit_.ask();
    return step;
}

/// Relative to the latest local contender, as other names may be forged.
std::int64_t contention_view::order_of(const node_name& name) const noexcept {
    if (!name.ordered)
        return ahead_of_all;
    return origin_.order + sequence_distance(origin_.sequence, name.sequence);
}

void contention_view::placed(local_node& c,
                             std::string_view name,
                             bool (*exists)(const local_node&)) {
    c.order = origin_.order + sequence_distance(origin_.sequence, c.sequence);
    origin_ = {c.sequence, c.order};
    c.state = stage::waiting;
    renamed(c, name);
    auto here = nodes_.insert(c);
    ++local_.nodes;
    bool first = here == nodes_.begin();
    past_.followed = first && past_.latest && right_behind(*past_.latest, c.sequence, c.czxid);
    if (past_.followed)
        c.coverage = coverage_;
    if (!first) {
        const contention_node& ahead = *std::prev(here);
        if (ahead.local() && ahead.order + 1 == c.order) {
            const auto& before = static_cast<const local_node&>(ahead);
            if (existed(before, c) || exists(before))
                c.coverage = before.coverage;
        }
    }
    auto at = waiting_.end();
    while (at != waiting_.begin() && std::prev(at)->order > c.order)
        --at;
    waiting_.insert(at, c);
    if (c.try_only)
        ++local_.tries;
    if (c.except != no_order)
        ++local_.replacements;
}

/// Whether a node was there when the one with the next sequence was created (invariant 3), as far as
/// the two can tell.
bool contention_view::existed(const local_node& before, const local_node& c) {
    const bool limited = settings_.initial_limit > 0 || settings_.fixed_limit > 0;
    return right_behind({before.sequence, before.czxid}, c.sequence, c.czxid) ||
           (!limited && blocks(*settings_.rule, before, c, limit_.value(), scratch_));
}

void contention_view::renamed(const local_node& c, std::string_view name) noexcept {
    for (auto same = nodes_.lower_bound(c); same != nodes_.end() && same->order == c.order;) {
        contention_node& n = *same++;
        if (!n.local() && as_remote(n).name == name)
            take(as_remote(n));
    }
}

/// Whether a name in a listing belongs to this node.
bool contention_view::is_at(const contention_node& n,
                            const node_name& name,
                            std::string_view text) const {
    if (!n.local())
        return static_cast<const remote_node&>(n).name == text;
    const auto& c = static_cast<const local_node&>(n);
    return c.kind == name.kind && settings_.names.is_written(c.guid(), name.guid);
}

std::vector<contention_view::listed_name> contention_view::in_order(const name_list& names) const {
    std::vector<listed_name> listing;
    listing.reserve(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::string_view text = names[i];
        if (auto name = settings_.names.parse(text))
            listing.push_back({order_of(*name), text, *name});
    }
    std::sort(listing.begin(), listing.end(), [](const listed_name& a, const listed_name& b) {
        return a.order < b.order;
    });
    return listing;
}

std::vector<local_node*> contention_view::listed(const name_list& names) {
    listing_.in_flight = false;
    ++listing_.count;
    // One pass, as both are sorted. Nodes that are not local are remote.
    auto at = nodes_.begin();
    for (const listed_name& f : in_order(names)) {
        while (at != nodes_.end() && at->order < f.order)
            ++at;
        auto same = at;
        while (same != nodes_.end() && same->order == f.order && !is_at(*same, f.name, f.text))
            ++same;
        if (same != nodes_.end() && same->order == f.order) {
            same->listing = listing_.count;
            continue;
        }
        auto* remote = new remote_node(f.text);
        remote->order = f.order;
        remote->kind = f.name.kind;
        remote->weight = f.name.weight;
        remote->listing = listing_.count;
        nodes_.insert(at, *remote);
    }
    // Everything that was created before the listed local nodes is known now. Remote nodes that are
    // not listed were deleted; local ones were deleted by another client.
    std::vector<local_node*> missing;
    for (at = nodes_.begin(); at != nodes_.end();) {
        contention_node& n = *at++;
        if (!n.local()) {
            if (n.listing != listing_.count)
                take(as_remote(n));
            continue;
        }
        auto& c = static_cast<local_node&>(n);
        if (c.listing == listing_.count) {
            c.coverage = coverage_;
        } else if (c.state != stage::releasing) {
            missing.push_back(&c);
        }
    }
    return missing;
}

void contention_view::listing_failed() noexcept {
    listing_.in_flight = false;
    listing_.stale = true;
}

/// @return it, unlinked
std::unique_ptr<remote_node> contention_view::take(remote_node& n) noexcept {
    nodes_.erase(nodes_.iterator_to(n));
    n.watch.reset();
    return std::unique_ptr<remote_node>(&n);
}

bool contention_view::touched(remote_node& n, watch_event_type type) noexcept {
    if (waiting_.empty() || announcement_.head)
        return false;
    // The head waits for its blockers only. If another node becomes one of them, it is read.
    auto blocks = [this](const remote_node& other) { return other.blocks_in == decision_; };
    const bool matters = head_.node != head() || blocks(n);
    bool alone = true;      // among those ahead of the head
    bool all_known = true;  // the others ahead have watches, too
    for (auto at = nodes_.begin(); at != nodes_.end() && at->order < waiting_.front().order; ++at) {
        if (at->local() || &*at == &n)
            continue;
        alone = false;
        all_known = all_known && blocks(as_remote(*at));
        if (!all_known)
            break;
    }
    const bool can_change = settings_.rule->can_be_converted(n) || n.order == ahead_of_all;
    if (type == watch_event_type::erased && !can_change) {
        take(n);
        // Otherwise a listing is more useful, which also proves the nodes of all waiters.
        if (matters && !all_known)
            outdated();
        return false;
    }
    if (alone && !can_change)
        return true;
    if (matters)
        outdated();
    return false;
}

void contention_view::answered(remote_node& n, const error_code& ec) noexcept {
    if (ec == zk_errc::no_node && !settings_.rule->can_be_converted(n)) {
        take(n);
    } else if (ec == zk_errc::no_auth) {
        n.unreadable = true;
    } else if (ec) {
        outdated();
    }
}

void contention_view::announced(local_node& c) noexcept {
    if (c.state == stage::waiting)
        announcement_.head = &c;
}

void contention_view::stop_waiting(local_node& c) noexcept {
    waiting_.erase(waiting_.iterator_to(c));
    if (c.try_only)
        --local_.tries;
    if (c.except != no_order)
        --local_.replacements;
    if (announcement_.head == &c)
        announcement_.head = nullptr;
    if (head_.node == &c)
        head_.node = nullptr;
}

void contention_view::releasing(local_node& c) noexcept {
    if (c.state == stage::waiting)
        stop_waiting(c);
    if (holder_ == &c)
        holder_ = nullptr;
    c.state = stage::releasing;
    ++local_.releasing;
}

void contention_view::left(local_node& c, bool deleted) noexcept {
    bool nothing_ahead = c.coverage == coverage_ && nodes_.iterator_to(c) == nodes_.begin();
    if (deleted && nothing_ahead)
        past_.latest = past_contender{c.sequence, c.czxid};
    if (c.state == stage::waiting)
        stop_waiting(c);
    if (c.state == stage::releasing)
        --local_.releasing;
    if (holder_ == &c)
        holder_ = nullptr;
    nodes_.erase(nodes_.iterator_to(c));
    --local_.nodes;
    c.state = stage::gone;
}

void contention_view::exchange(local_node& a, local_node& b) noexcept {
    nodes_.erase(nodes_.iterator_to(a));
    nodes_.erase(nodes_.iterator_to(b));
    std::swap(a.order, b.order);
    std::swap(a.kind, b.kind);
    std::swap(a.listing, b.listing);
    std::swap(a.coverage, b.coverage);
    std::swap(a.guid_text, b.guid_text);
    std::swap(a.sequence, b.sequence);
    std::swap(a.czxid, b.czxid);
    nodes_.insert(a);
    nodes_.insert(b);
}

void contention_view::distrust_sequences() noexcept {
    ++coverage_;
    past_.latest.reset();
}

void contention_view::session_ended() noexcept {
    forget_remote();
    distrust_sequences();
    limit_.changed();
    outdated();
}

void contention_view::forget_remote() noexcept {
    for (auto at = nodes_.begin(); at != nodes_.end();) {
        contention_node& n = *at++;
        if (!n.local())
            take(as_remote(n));
    }
}

void contention_view::announcement_failed(const error_code& ec) noexcept {
    // Otherwise the next one has left, the limit has changed, or there is no connection or quorum.
    if (fault_of(ec) == fault::refused && ec != zk_errc::no_node && ec != zk_errc::bad_version &&
        ec != zk_errc::not_read_only)
        announcement_.possible = false;  // not again for each release
}

// Decisions.

void contention_view::heed_announcement() {
    if (!announcement_.head || announcement_.head != head() || limit_.missing())
        return passed_.clear();
    // Its blockers have left.
    const local_node& c = *announcement_.head;
    while (!nodes_.empty() && !nodes_.begin()->local()) {
        remote_node& n = as_remote(*nodes_.begin());
        if (n.order > c.order || !blocks(*settings_.rule, n, c, limit_.value(), scratch_))
            return;
        passed_.push_back(take(n));
    }
}

void contention_view::announcement_heeded() noexcept {
    if (std::exchange(announcement_.head, nullptr))
        outdated();  // disconnected, or another local contender is ahead of it
}

bool contention_view::list() noexcept {
    if (std::exchange(listing_.in_flight, true))
        return false;
    listing_.stale = false;
    return true;
}

bool contention_view::look_behind(const local_node& c) noexcept {
    return announcement_.possible && std::next(nodes_.iterator_to(c)) == nodes_.end() && list();
}

/// A contender that waits for one that waits for the place it is to replace. Searches all
/// contenders, as the head may be the other one.
local_node* contention_view::hopeless_one(queue_step& step) {
    if (local_.replacements == 0)
        return nullptr;
    for (local_node& c : waiting_) {
        if (c.except == no_order)
            continue;
        if (c.listing == 0) {
            step.list = list() || step.list;  // earlier knowledge is not sufficient
            continue;
        }
        walk ahead(*this, c, leaving);
        if (settings_.rule->hopeless(ahead, c))
            return &c;
    }
    return nullptr;
}

queue_step contention_view::next(const decision_facts& facts) {
    queue_step step;
    auto refuse = [&step](local_node& c, errc reason) {
        step.what = queue_step::type::refuse;
        step.who = &c;
        step.reason = reason;
        return step;
    };
    if (limit_.missing()) {
        step.read_limit = head() && limit_.ask();
        return step;
    }
    // What is ahead may be an upgrade that was given up, whose node is being searched for.
    if (local_node* c = facts.searching ? nullptr : hopeless_one(step))
        return refuse(*c, errc::would_deadlock);
    if (!head())
        return step;
    local_node& c = *head();
    head_state s = examine(c, facts, step);
    if (s.blocked && c.try_only) {
        try_step what = decide_try(s, c.listing != 0);
        if (what == try_step::refuse)
            return refuse(c, errc::would_block);
        if (what == try_step::look)
            step.list = list() || step.list;
        return step;
    }
    switch (decide(s)) {
        case head_step::grant:
            stop_waiting(c);
            c.state = stage::granted;
            holder_ = &c;
            step.what = queue_step::type::grant;
            step.who = &c;
            return step;
        case head_step::prove:
            step.prove = true;
            choose_watches(c, s, facts.now, step);
            break;
        case head_step::look: step.list = list() || step.list; break;
        case head_step::wait: choose_watches(c, s, facts.now, step); break;
    }
    // Contenders behind a blocked one are blocked as well.
    bool blocked = s.blocked && (s.blocked_by_local || !s.stale);
    if (local_.tries > 0 && blocked) {
        auto other = std::find_if(
            std::next(waiting_.begin()), waiting_.end(), [](const auto& w) { return w.try_only; });
        if (other != waiting_.end())
            return refuse(*other, errc::would_block);
    }
    return step;
}

head_state contention_view::examine(local_node& c, const decision_facts& facts, queue_step& step) {
    head_state s;
    s.connected = facts.connected;
    s.covered = c.coverage == coverage_ && replaced_is_listed(c);
    s.listing = listing_.in_flight;
    s.stale = listing_.stale;
    s.proved = facts.exists || (facts.listed && c.listing == listing_.count);
    if (std::exchange(head_.node, &c) != &c)
        head_.since = facts.now;
    blockers_.clear();
    ++decision_;
    s.announced = announcement_.head == &c;
    if (s.announced)
        return s;
    find_blockers(c);
    s.blocked = !blockers_.empty();
    s.blocked_by_leaving = s.blocked;
    for (const contention_entry* e : blockers_) {
        auto* n = const_cast<contention_node*>(static_cast<const contention_node*>(e));
        if (!n->local())
            as_remote(*n).blocks_in = decision_;
        s.blocked_by_local = s.blocked_by_local || n->local();
        s.blocked_by_leaving = s.blocked_by_leaving && leaving(*n);
    }
    time_point patience_ends = head_.since;
    if (s.blocked_by_local)
        patience_ends += watch_delay;
    else
        patience_ends += announcement_patience;
    s.patient = s.blocked && facts.now < patience_ends;
    if (s.patient && !s.proved)
        step.again_at = patience_ends;
    return s;
}

/// Whether the listing that showed what is ahead of a contender also showed the node that it is to
/// replace, if there is one. Otherwise that was deleted, and others may have been granted since. Until
/// this is confirmed, the contender lists again.
bool contention_view::replaced_is_listed(const local_node& c) const {
    if (c.except == no_order)
        return true;
    for (const contention_node& n : nodes_) {
        if (n.local() && n.order == c.except)
            return n.listing >= c.listing;
    }
    return false;
}

/// Whether the node directly ahead of a waiter is enough to know that nothing blocks it.
/// @param granted  a waiter that counts as granted
bool contention_view::follows(const local_node& c, const local_node* granted) const {
    auto at = nodes_.iterator_to(c);
    if (at == nodes_.begin() || !std::prev(at)->local())
        return false;
    const auto& ahead = static_cast<const local_node&>(*std::prev(at));
    return (ahead.state == stage::granted || &ahead == granted) &&
           settings_.rule->follows(ahead, c);
}

void contention_view::find_blockers(local_node& c) {
    if (follows(c))
        return;
    walk ahead(*this, c, none);
    settings_.rule->blockers(ahead, c, blockers_);
}

void contention_view::choose_watches(const local_node& c,
                                     const head_state& s,
                                     time_point now,
                                     queue_step& step) {
    if (!s.blocked)
        return;
    if (is_in_no_hurry(c, now)) {
        step.again_at = holder_->since + watch_delay;
        return;
    }
    step.listen = !s.blocked_by_local;
    for (const contention_entry* e : blockers_) {
        const auto* n = static_cast<const contention_node*>(e);
        if (n->local())
            continue;
        bool readable = !static_cast<const remote_node*>(n)->unreadable;
        (readable ? step.watch_blockers : step.watch_parent) = true;
    }
}

/// Whether a local contender has held for such a short time that its release is likely to follow
/// soon: requests for those behind it would delay it.
bool contention_view::is_in_no_hurry(const local_node& c, time_point now) const {
    std::vector<const contention_entry*> scratch;
    return holder_ && holder_->order < c.order && now < holder_->since + watch_delay &&
           blocks(*settings_.rule, *holder_, c, limit_.value(), scratch);
}

const remote_node* contention_view::successor_of(local_node& holder) {
    auto behind = std::next(nodes_.iterator_to(holder));
    if (!announcement_.possible || limit_.missing() || behind == nodes_.end() || behind->local())
        return nullptr;
    walk before(*this, *behind, none);
    walk after(*this, *behind, [&holder](const contention_node& n) { return &n == &holder; });
    if (!is_next(*settings_.rule, before, after, *behind))
        return nullptr;
    return &as_remote(*behind);
}

std::vector<local_node*> contention_view::to_prove(bool (*known)(const local_node&)) {
    std::vector<local_node*> found;
    if (limit_.missing())
        return found;
    for (local_node& c : waiting_) {
        if (known(c))
            continue;  // those behind a blocked one are blocked as well
        scratch_.clear();
        if (found.empty() || !follows(c, found.back())) {
            walk ahead(*this, c, leaving);
            settings_.rule->blockers(ahead, c, scratch_);
        }
        if (!scratch_.empty() || found.size() == most_to_prove)
            break;
        found.push_back(&c);
    }
    return found;
}

}  // namespace corozk::detail
