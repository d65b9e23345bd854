// SPDX-License-Identifier: Apache-2.0
// What the line hears of others' contenders: watches on what blocks the first one that waits, and
// announcements of its turn.
#include "recipe/contention/contention_queue_parts.hpp"
#include "recipe/toolkit/recipe_core.hpp"

#include <algorithm>
#include <utility>

namespace corozk::detail {

void contention_queue::watch_others(contender& c, const head_state& s) {
    if (!s.blocked)
        return;
    if (is_in_no_hurry(c))
        return port_.start_timer(head_timer_, holder_->since_ + watch_delay);
    watch_blockers();
    if (!s.blocked_by_local)
        listen(c);
}

/// Whether one of ours holds since so recently that its release is likely to come soon: what is
/// asked for those behind it should not be in its way.
bool contention_queue::is_in_no_hurry(const contender& c) {
    return holder_ && holder_->order < c.order && port_.now() < holder_->since_ + watch_delay &&
           blocks(*settings_->rule, *holder_, c, limit_);
}

void contention_queue::watch_blockers() {
    for (const contention_entry* e : blockers_) {
        auto* n = const_cast<contention_node*>(static_cast<const contention_node*>(e));
        if (n->local())
            continue;
        auto& f = static_cast<remote_node&>(*n);
        if (f.unreadable_) {
            if (!folder_watch_.armed())
                look(true);
        } else if (!f.armed() && !f.looking()) {
            f.look();
        }
    }
}

/// Something happened to it. If it was the only one ahead, a look at it alone tells whether it has
/// gone; otherwise the listing tells more, also of what may stand in its place.
void contention_queue::confirm_foreign(remote_node& f) {
    if (waiting_.empty() || announced_)
        return;
    if (settings_->rule->can_be_converted(f)) {
        stale_ = true;
        return wake();
    }
    std::size_t foreign_ahead = 0;
    for (auto at = nodes_.begin(); at != nodes_.end() && at->order < waiting_.front().order; ++at) {
        if (!at->local() && ++foreign_ahead > 1)
            break;
    }
    if (foreign_ahead == 1) {
        f.look();
    } else {
        stale_ = true;
        wake();
    }
}

void contention_queue::foreign_looked_at(remote_node& f, operation& answer) {
    error_code ec = answer.error;
    f.look_.reset();
    if (f.doomed()) {
        delete &f;
        return;
    }
    if (ec == zk_errc::no_node && !settings_->rule->can_be_converted(f)) {
        erase_foreign(f);
    } else if (ec == zk_errc::no_auth) {
        f.unreadable_ = true;
    } else if (ec) {
        stale_ = true;
    }
}

/// @return it, if nothing refers to it any more
std::unique_ptr<contention_queue::remote_node> contention_queue::take_foreign(
    remote_node& f) noexcept {
    nodes_.erase(nodes_.iterator_to(f));
    f.disarm();
    if (!f.looking())
        return std::unique_ptr<remote_node>(&f);
    f.doom();
    return nullptr;
}

void contention_queue::erase_foreign(remote_node& f) noexcept {
    take_foreign(f);
}

void contention_queue::forget_foreign() noexcept {
    for (auto at = nodes_.begin(); at != nodes_.end();) {
        contention_node& n = *at++;
        if (!n.local())
            erase_foreign(static_cast<remote_node&>(n));
    }
}

/// Nobody waits any more: what the server would tell of others is of no use.
void contention_queue::stop_watching() noexcept {
    watching_ = folder_watch_.arming();
    forget_watch(port_, folder_watch_, watch_kind::children, settings_->directory);
    for (contention_node& n : nodes_) {
        if (n.local())
            continue;
        auto& f = static_cast<remote_node&>(n);
        if (f.looking())
            watching_ = true;  // later
        if (!f.armed())
            continue;
        f.disarm();
        port_.watch_dropped(watch_kind::data, f.path());
    }
}

/// A holder for which others wait: whoever is right behind it should be known when it releases.
void contention_queue::look_behind(const contender& c) {
    if (announces_ && std::next(nodes_.iterator_to(c)) == nodes_.end())
        look();
}

/// Leaves a watch on what announces the turn of the first one that waits.
void contention_queue::listen(contender& c) {
    auto& turn = c.more().turn;
    if (!turn)
        turn.emplace(c);
    if (turn->armed() || turn->arming())
        return;
    auto& op =
        launch<contender_operation>(op_code::exists,
                                    announcement_of(c.path()),
                                    c.shared_from_this(),
                                    [](contention_queue& q, contender_ptr who, operation& answer) {
                                        if (who->stage_ != contender::stage_type::waiting)
                                            q.stop_listening(*who, answer.path);
                                    });
    op.generation = c.generation_;
    op.attach(*turn);
    port_.start(op);
}

/// If the watch is still on its way the answer to that takes it back.
void contention_queue::stop_listening(contender& c) noexcept {
    if (c.listens())
        stop_listening(c, announcement_of(c.path()));
}

/// @param announcement  what is watched: the contender may have another node by now
void contention_queue::stop_listening(contender& c, const std::string& announcement) noexcept {
    if (announced_ == &c)
        announced_ = nullptr;
    forget_watch(port_, *c.extras_->turn, watch_kind::exists, announcement);
}

void contention_queue::announced(contender& c) noexcept {
    if (c.stage_ != contender::stage_type::waiting)
        return;
    announced_ = &c;
    wake();
}

/// What would have blocked a contender whose turn it is has gone.
void contention_queue::forget_passed(const contender& c) noexcept {
    blocks_alone blocks_it(*settings_->rule, c, limit_);
    while (!nodes_.empty() && !nodes_.begin()->local()) {
        auto& f = static_cast<remote_node&>(*nodes_.begin());
        if (f.order > c.order || !blocks_it(f))
            return;
        passed_.push_back(take_foreign(f));
    }
}

}  // namespace corozk::detail
