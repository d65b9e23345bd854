// SPDX-License-Identifier: Apache-2.0
// What is decided for a line, from what is known of it.
#include "recipe/contention/contention_queue_parts.hpp"
#include "recipe/toolkit/recipe_core.hpp"

#include <algorithm>
#include <utility>

namespace corozk::detail {

contention_queue::contention_queue(contention_queues& owner,
                                   port& p,
                                   contention_settings settings,
                                   std::string key)
    : queues_(owner),
      port_(p),
      settings_(std::make_shared<const contention_settings>(std::move(settings))),
      key_(std::move(key)),
      head_timer_(*this),
      limit_(settings_->fixed_limit),
      limit_watch_(*this),
      folder_watch_(*this) {
    port_.subscribe(*this);
}

contention_queue::~contention_queue() {
    // Users may hold contenders for longer; they find the line gone.
    auto dismiss = [](contender& c) {
        c.queue_ = nullptr;
        c.stage_ = contender::stage_type::gone;
        auto last = std::move(c.self_);
    };
    while (!waiting_.empty())
        waiting_.pop_front();
    while (!creating_.empty()) {
        contender& c = creating_.front();
        creating_.pop_front();
        dismiss(c);
    }
    while (!nodes_.empty()) {
        contention_node& n = *nodes_.begin();
        nodes_.erase(nodes_.begin());
        if (n.local()) {
            dismiss(static_cast<contender&>(n));
        } else {
            delete static_cast<remote_node*>(&n);
        }
    }
}

/// Relative to our own latest contender: other names may be anything.
std::int64_t contention_queue::order_of(const node_name& name) noexcept {
    if (!name.ordered)
        return ahead_of_all;
    return base_order_ + sequence_distance(base_, name.sequence);
}

void contention_queue::look(bool watch) {
    if (listing_)
        return;
    listing_ = true;
    stale_ = false;
    auto& op = launch<listing_operation>(settings_->directory);
    if (watch) {
        watching_ = true;
        op.attach(folder_watch_);
    }
    port_.start(op);
}

void contention_queue::listed(operation& answer) {
    listing_ = false;
    if (answer.error && answer.error != zk_errc::no_node) {
        stale_ = true;
        if (is_recoverable(answer.error) || answer.error == errc::not_connected ||
            is_session_lost(answer.error)) {
            return;
        }
        // Listing is forbidden: nobody can ever be granted.
        while (!waiting_.empty()) {
            auto c = waiting_.front().shared_from_this();
            c->call_.fail(answer.error);
            release(*c);
        }
        return;
    }
    merge_listing(answer);
    evaluating_listing_ = true;
    evaluate();
    evaluating_listing_ = false;
}

/// Whether a name in a listing is this node's.
bool contention_queue::is_at(const contention_node& n,
                             const node_name& name,
                             std::string_view text) const {
    if (!n.local())
        return static_cast<const remote_node&>(n).name_ == text;
    const auto& c = static_cast<const contender&>(n);
    return c.kind == name.kind && settings_->names.is_written(c.guid(), name.guid);
}

void contention_queue::merge_listing(const operation& answer) {
    ++listings_;
    struct found {
        std::int64_t order;
        std::string_view text;
        node_name name;
    };
    std::vector<found> listing;
    listing.reserve(answer.names.size());
    for (std::size_t i = 0; i < answer.names.size(); ++i) {
        std::string_view text = answer.names[i];
        if (auto name = settings_->names.parse(text)) {
            listing.push_back({order_of(*name), text, *name});
        }
    }
    std::sort(listing.begin(), listing.end(), [](const found& a, const found& b) {
        return a.order < b.order;
    });

    // Both are in order: one pass. What is not ours is foreign.
    auto at = nodes_.begin();
    for (const found& f : listing) {
        while (at != nodes_.end() && at->order < f.order)
            ++at;
        auto same = at;
        while (same != nodes_.end() && same->order == f.order && !is_at(*same, f.name, f.text)) {
            ++same;
        }
        if (same != nodes_.end() && same->order == f.order) {
            same->listing = listings_;
            continue;
        }
        auto* foreign = new remote_node(*this, std::string(f.text));
        foreign->order = f.order;
        foreign->kind = f.name.kind;
        foreign->weight = f.name.weight;
        foreign->listing = listings_;
        nodes_.insert(at, *foreign);
    }

    // Everything is known now that was created before any of the local ones that are listed. What
    // is foreign and not listed has gone; what is ours was erased by somebody else.
    std::vector<contender_ptr> missing;
    for (at = nodes_.begin(); at != nodes_.end();) {
        contention_node& n = *at++;
        if (!n.local()) {
            if (n.listing != listings_)
                erase_foreign(static_cast<remote_node&>(n));
            continue;
        }
        auto& c = static_cast<contender&>(n);
        if (c.listing == listings_) {
            c.coverage_ = coverage_;
        } else if (c.stage_ != contender::stage_type::releasing) {
            missing.push_back(c.shared_from_this());
        }
    }
    for (const auto& c : missing)
        prove(*c);
}

head_state contention_queue::examine(contender& c) {
    head_state s;
    s.connected = port_.alive(c.generation_) && port_.now() < port_.expiry_deadline();
    s.covered = c.coverage_ == coverage_;
    s.stale = stale_;
    s.proved =
        c.watch_.armed() || checked_ == &c || (evaluating_listing_ && c.listing == listings_);
    if (head_ != &c) {
        head_ = &c;
        head_since_ = port_.now();
    }
    blockers_.clear();
    if (announced_ == &c) {
        s.announced = true;
        return s;
    }
    auto at = nodes_.iterator_to(c);
    bool follows = false;
    if (at != nodes_.begin() && std::prev(at)->local()) {
        const auto& ahead = static_cast<const contender&>(*std::prev(at));
        follows =
            ahead.stage_ == contender::stage_type::granted && settings_->rule->follows(ahead, c);
    }
    if (!follows) {
        walk ahead(nodes_, c);
        ahead.limit = limit_;
        settings_->rule->blockers(ahead, c, blockers_);
    }
    s.blocked = !blockers_.empty();
    s.blocked_by_local = std::any_of(blockers_.begin(), blockers_.end(), [](const auto* e) {
        return static_cast<const contention_node*>(e)->local();
    });
    s.blocked_by_leaving =
        s.blocked && std::all_of(blockers_.begin(), blockers_.end(), [](const auto* e) {
            auto* n = static_cast<const contention_node*>(e);
            return n->local() &&
                   static_cast<const contender*>(n)->stage_ == contender::stage_type::releasing;
        });
    auto patience_ends = head_since_ + (s.blocked_by_local ? time_point::duration(watch_delay)
                                                           : announcement_patience);
    s.patient = s.blocked && port_.now() < patience_ends;
    if (s.patient && !s.proved)
        port_.start_timer(head_timer_, patience_ends);
    return s;
}

void contention_queue::evaluate() {
    if (lacks_limit()) {
        if (!waiting_.empty())
            look_for_limit();
        return;
    }
    if (replacements_ > 0)
        refuse_hopeless();
    bool blocked = false;
    while (!waiting_.empty()) {
        contender& c = waiting_.front();
        head_state s = examine(c);
        blocked = s.blocked && (s.blocked_by_local || !s.stale);
        if (limit_known_ && c.weight > limit_) {
            c.abandon(errc::bad_option);
            continue;
        }
        if (s.blocked && c.request_.try_only) {
            try_step step = decide_try(s, c.listing != 0);
            if (step == try_step::refuse) {
                c.abandon(errc::would_block);
                continue;
            }
            blocked = false;
            if (step == try_step::look)
                look();
            break;
        }
        switch (decide(s)) {
            case head_step::grant:
                grant(c);
                continue;
            case head_step::prove:
                prove(c);
                watch_others(c, s);
                break;
            case head_step::look:
                look();
                break;
            case head_step::wait:
                watch_others(c, s);
                break;
        }
        break;
    }
    // Whoever is behind one that is blocked is blocked.
    if (tries_ > 0 && blocked)
        refuse_tries();
}

/// Who would rather not wait, and is not even the first who waits.
void contention_queue::refuse_tries() {
    std::vector<contender_ptr> refused;
    for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
        if (at != waiting_.begin() && at->request_.try_only) {
            refused.push_back(at->shared_from_this());
        }
    }
    for (const auto& c : refused)
        c->abandon(errc::would_block);
}

/// Who waits for one that waits for the place that is to be replaced. Looked for among all, not
/// only at the first one who waits: that may be the other.
void contention_queue::refuse_hopeless() {
    std::vector<contender_ptr> refused;
    for (contender& c : waiting_) {
        if (c.except == no_order)
            continue;
        if (c.listing == 0) {
            look();  // what was known of others before it came is not enough
            continue;
        }
        walk ahead(nodes_, c);
        if (settings_->rule->hopeless(ahead, c))
            refused.push_back(c.shared_from_this());
    }
    for (const auto& c : refused)
        c->abandon(errc::would_deadlock);
}

void contention_queue::session_changed(const session_status& status) noexcept {
    switch (status.state) {
        case session_state::connected:
            reconnected_ = true;
            break;
        case session_state::lost:
        case session_state::closed:
            session_over_ = true;
            break;
        default:
            break;
    }
    wake();
}

void contention_queue::wake() noexcept {
    port_.defer(*this);
}

void contention_queue::run() noexcept {
    if (session_over_) {
        session_over_ = false;
        error_code reason = port_.status().reason;
        std::vector<contender_ptr> over;
        for (contention_node& n : nodes_) {
            if (!n.local())
                continue;
            auto& c = static_cast<contender&>(n);
            if (!port_.alive(c.generation_))
                over.push_back(c.shared_from_this());
        }
        if (!reason)
            reason = zk_errc::session_expired;
        for (const auto& c : over) {
            bool granted = c->stage_ == contender::stage_type::granted;
            auto release_call = std::move(c->release_call_);
            if (granted)
                hold_ends(*c, reason);
            fail(*c, reason);
            if (granted)
                c->held().lose(reason);
            if (release_call)
                release_call->complete(reason);
        }
        forget_foreign();
        distrust_sequences();
        stale_ = true;
    }
    if (reconnected_) {
        reconnected_ = false;
        // Watches are set again by the session; what was asked and not answered is asked again.
        stale_ = true;
        for (contention_node& n : nodes_) {
            if (!n.local())
                continue;
            auto& c = static_cast<contender&>(n);
            if (c.stage_ == contender::stage_type::granted && !c.watch_.armed())
                prove(c);
        }
    }
    if (announced_ && announced_ == &waiting_.front() && !lacks_limit())
        forget_passed(*announced_);
    else
        passed_.clear();
    evaluate();
    if (std::exchange(announced_, nullptr))
        stale_ = true;  // not connected any more, or another one of ours stands before it
    if (waiting_.empty())
        head_timer_.cancel();
    if (watching_ && waiting_.empty())
        stop_watching();
    if (members_ == 0 && operations_ == 0) {
        forget_watch(port_, limit_watch_, watch_kind::data, settings_->directory);
        limit_known_ = false;
        queues_.retire(*this);
    }
}

contention_queues::~contention_queues() = default;

contention_queue& contention_queues::get(const contention_settings& settings) {
    std::string key = settings.directory;
    key += '\0';
    key += settings.names.before_guid;
    for (const std::string& infix : settings.names.infixes)
        (key += '\0') += infix;
    // Those who create with other rights queue for themselves: at the server they meet all the
    // same.
    for (const acl_entry& e : settings.entries) {
        key += '\0';
        key += static_cast<char>(e.allowed);
        (key += e.scheme) += ':';
        key += e.id;
    }
    // So do those who were told of another limit than the others,
    if (settings.fixed_limit > 0)
        key += '\0' + std::to_string(settings.fixed_limit);
    // and those who are asked for a release in other words.
    key += settings.request_replaces_data ? '\1' : '\0';
    key += settings.release_request;
    auto& slot = queues_[key];
    if (!slot)
        slot = std::make_unique<contention_queue>(*this, port_, settings, key);
    if (std::exchange(slot->idle_, false))
        idle_.remove(slot.get());
    return *slot;
}

void contention_queues::retire(contention_queue& q) {
    if (!std::exchange(q.idle_, true))
        idle_.push_front(&q);
    q.forget_foreign();
    if (idle_.size() <= idle_queues)
        return;
    contention_queue& oldest = *idle_.back();
    idle_.pop_back();
    queues_.erase(std::string(oldest.key_));
}

}  // namespace corozk::detail
