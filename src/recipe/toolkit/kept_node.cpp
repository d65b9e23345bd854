// SPDX-License-Identifier: Apache-2.0
#include "recipe/toolkit/kept_node.hpp"

#include "driver/ensure_path.hpp"
#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/toolkit/node_view.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace corozk::detail {

/// The paths kept by objects of this session, with the queue for each.
class kept_paths final : public service {
public:
    explicit kept_paths(port&) noexcept {}

    bool claim(kept_node& node) {
        auto [at, inserted] = owners_.try_emplace(node.path());
        if (inserted)
            return true;
        // It tries again whenever it wakes.
        const std::weak_ptr<kept_node> self = node.weak_from_this();
        const bool waits = std::any_of(
            at->second.begin(), at->second.end(), [&](const std::weak_ptr<kept_node>& w) {
                return !w.owner_before(self) && !self.owner_before(w);
            });
        if (!waits)
            at->second.push_back(self);
        return false;
    }

    void release(const std::string& path) {
        auto at = owners_.find(path);
        if (at == owners_.end())
            return;
        auto waiting = std::move(at->second);
        owners_.erase(at);
        for (const auto& next : waiting) {
            if (auto node = next.lock())
                node->wake_.set();
        }
    }

private:
    std::map<std::string, std::vector<std::weak_ptr<kept_node>>> owners_;
};

namespace {

/// Whether to wait for the next state of the session, because the connection was lost or the server
/// is read-only.
bool not_now(retry& attempt, error_code& ec) noexcept {
    return attempt.again(ec) || ec == zk_errc::not_read_only;
}

}  // namespace

kept_node::kept_node(port& p, std::string path, acl entries, kept_node_kind kind)
    : recipe_core(p, "", std::move(path)),
      entries_(std::move(entries)),
      kind_(kind),
      wake_(p),
      watch_(wake_),
      touch_(p, wake_),
      term_timer_(*this) {}

kept_node::~kept_node() = default;

void kept_node::keep(std::string data, bool wait_for_predecessor, handler h, time_point deadline) {
    note_calls();  // a call that was just cancelled does not block the next one
    bool releasing = std::any_of(calls_.begin(), calls_.end(), [](const call& c) {
        return c.why == purpose::release && c.ask.waiting();
    });
    if (wanted_ || releasing) {
        immediate_result<>(executor(), std::move(h), errc::busy);
        return;
    }
    wanted_ = true;
    refusal_ = error_code();
    wait_for_predecessor_ = wait_for_predecessor;
    data_ = std::move(data);
    keep_revision_ = ++revision_;
    calls_.emplace_back(*this, purpose::keep, revision_, std::move(h), deadline);
    start();
}

void kept_node::change(std::string data, handler h) {
    if (!wanted_) {
        immediate_result<>(executor(), std::move(h), errc::not_a_member);
        return;
    }
    data_ = std::move(data);
    ++revision_;
    calls_.emplace_back(*this, purpose::change, revision_, std::move(h), no_deadline);
    start();
}

void kept_node::release(handler h) {
    if (!wanted_ && !running_) {
        immediate_result<>(executor(), std::move(h), errc::not_a_member);
        return;
    }
    wanted_ = false;
    keep_revision_ = 0;
    for (call& c : calls_) {
        if (c.why != purpose::release)
            c.ask.fail(boost::asio::error::operation_aborted);
    }
    lose(error_code());
    calls_.emplace_back(*this, purpose::release, revision_, std::move(h), no_deadline);
    start();
}

void kept_node::abandon() {
    stop();
    observer_ = nullptr;
    follower_ = nullptr;
    wanted_ = false;
    wake_.set();
}

void kept_node::start() {
    wake_.set();
    if (running_)
        return;
    running_ = true;
    get_port().spawn(run(shared_from_this()));
}

/// Handles calls that are over: a cancelled `keep` is undone.
void kept_node::note_calls() {
    for (auto c = calls_.begin(); c != calls_.end();) {
        if (c->revision == keep_revision_ && c->ask.over()) {
            wanted_ = false;
            lose(error_code());
        }
        c = c->ask.waiting() ? std::next(c) : calls_.erase(c);
    }
}

time_point kept_node::held_until() const noexcept {
    if (!hold_.held)
        return time_point::min();
    if (has_ttl())
        return term_.until();
    if (kind_.mode != create_mode::ephemeral)
        return time_point::max();
    return present() ? get_port().expiry_deadline() : time_point::min();
}

/// The server has the node, so that its keeper may rely on it.
void kept_node::hold_it() {
    if (hold_.held || !wanted_)
        return;
    hold_.held = true;
    ++hold_.revision;
    if (follower_)
        follower_->hold_changed();
}

/// Its keeper must not rely on it any longer.
void kept_node::lose(error_code reason) {
    term_timer_.cancel();
    term_.end();
    if (!hold_.held)
        return;
    hold_.held = false;
    hold_.reason = reason;
    ++hold_.revision;
    if (follower_)
        follower_->hold_changed();
}

task<> kept_node::run(std::shared_ptr<kept_node> self) {
    port& p = self->get_port();
    kept_node& me = *self;
    session_signal session(p, me.wake_);
    while (p.status().state != session_state::closed) {
        me.note_calls();
        const std::uint64_t generation = p.status().generation;
        const bool alive = p.alive(generation);
        // What is queued in an outage would be sent before it is known whose the node is by then.
        const bool can_change = p.connected();
        if (!alive || me.generation_ != generation) {
            // The node of an earlier session has been or will be deleted; wait for that.
            if (me.session_ != 0)
                me.our_earlier_.insert(me.session_);
            if (me.kind_.mode == create_mode::ephemeral)
                me.lose(zk_errc::session_expired);
            // One of another kind may still be there.
            const bool outlives = me.kind_.mode != create_mode::ephemeral;
            me.perhaps_ = outlives && (me.perhaps_ || me.present_);
            me.present_ = false;
            me.watch_.disarm();
            me.generation_ = generation;
            me.session_ = p.status().session_id;
        }
        bool again = false;
        if (can_change && me.wanted_) {
            again = co_await me.pursue(generation);
        } else if (can_change) {
            again = co_await me.dismantle(generation);
        }
        if (!me.wanted_ && !me.present_ && !me.perhaps_) {
            me.settle_calls(error_code());
            break;
        }
        if (!again)
            co_await me.wake_.wait();
    }
    forget_watch(p, me.watch_, watch_kind::data, me.path());
    me.touch_.clear();
    me.lose(errc::closed);  // otherwise it was given up before
    me.present_ = me.perhaps_ = false;
    me.attempts_.clear();
    me.wanted_ = false;
    me.running_ = false;
    // Calls that were started after the client was closed.
    for (call& c : me.calls_)
        c.ask.fail(errc::closed);
    me.calls_.clear();
    if (me.registered_) {
        me.registered_ = false;
        p.use_service<kept_paths>().release(me.path());
    }
}

/// The node has the desired state, or was deleted.
void kept_node::settle_calls(error_code ec) {
    for (auto c = calls_.begin(); c != calls_.end();) {
        bool due = wanted_ ? c->why != purpose::release && c->revision <= written_ : true;
        // A change of a node whose `keep` was cancelled: there is nothing to change.
        bool in_vain = due && !wanted_ && c->why != purpose::release;
        if (due)
            c->ask.complete(in_vain ? make_error_code(errc::not_a_member) : ec);
        c = due ? calls_.erase(c) : std::next(c);
    }
}

/// The server reported a permanent error.
void kept_node::refused(error_code ec, const char* intent) {
    bool told = false;
    for (call& c : calls_) {
        told = told || c.ask.waiting();
        c.ask.fail(ec);
    }
    if (wanted_)
        refusal_ = ec;
    wanted_ = false;
    lose(ec);
    if (observer_)
        observer_->set();
    if (!told)
        port_.report(log_level::error, "could not ", intent, " ", path(), ": ", ec.message());
}

void kept_node::appeared() noexcept {
    present_ = true;
    if (observer_)
        observer_->set();
}

/// The server rejects the data. A node that is already kept retains its previous data.
void kept_node::data_refused(error_code ec, std::uint64_t revision) {
    bool joining = std::any_of(calls_.begin(), calls_.end(), [](const call& c) {
        return c.why == purpose::keep && c.ask.waiting();
    });
    if (joining || written_ == revision)
        return refused(ec);
    bool told = false;
    for (call& c : calls_) {
        if (c.why != purpose::change || c.revision > revision)
            continue;
        told = told || c.ask.waiting();
        c.ask.fail(ec);
    }
    if (revision == revision_) {
        data_ = written_data_;
        written_ = revision_;
    }
    if (!told)
        port_.report(log_level::error, "could not change the data of ", path(), ": ", ec.message());
}

/// Whether an existing node is the one to keep, given that no other object of this client keeps it.
bool kept_node::ours(const stat& record) const noexcept {
    if (kind_.mode == create_mode::ephemeral)
        return record.ephemeral_owner == get_port().status().session_id;
    return session_of(record) == 0;
}

/// Whether it is the node that this object has created or adopted, or may have created.
bool kept_node::known(const operation& read) const noexcept {
    if (!ours(read.record))
        return false;
    return kind_.mode == create_mode::ephemeral || read.record.czxid == czxid_ ||
           (read.record.version == 0 && attempts_.contains(read.answer));
}

/// Whether the node was seen in this connection. In an outage another session may have taken its
/// place, with the same version.
bool kept_node::seen() const noexcept {
    return seen_in_ == get_port().status().revision;
}

/// The server has executed a create or write, from which the TTL counts.
void kept_node::touched(const operation& write) {
    if (!has_ttl())
        return;
    const time_point now = get_port().now();
    touch_.set(renewal_time(write.sent_at, kind_.ttl));
    lease_term next = term_;
    if (!next.confirmed(write.sent_at, now, kind_.ttl))
        lose(errc::lease_expired);
    term_ = next;
    if (!term_.holds(now))
        return;
    get_port().start_timer(term_timer_, term_.until());
    hold_it();
}

task<bool> kept_node::pursue(std::uint64_t generation) {
    if (!registered_) {
        registered_ = get_port().use_service<kept_paths>().claim(*this);
        if (!registered_) {
            if (!wait_for_predecessor_)
                refused(errc::already_exists);
            co_return !wanted_;
        }
    }
    if (occupied_ && watch_.armed())
        co_return false;
    occupied_ = false;
    // One co_await per statement: g++ 12.2 miscompiles them inside conditions here.
    bool good = present_;
    if (!good) {
        good = co_await make(generation);
        if (!good)
            co_return !occupied_;
    }
    if (written_ != revision_ || touch_.rang()) {
        if (!seen()) {
            good = co_await look(generation);
            if (!good)
                co_return true;
        }
        if (!wanted())
            co_return true;
        good = co_await write(generation);
        if (!good)
            co_return true;
    }
    if (!watch_.armed()) {
        good = co_await look(generation);
        if (!good)
            co_return true;
    }
    // It may have been released or cancelled since: then there is more to do.
    note_calls();
    if (wanted_)
        settle_calls(error_code());
    co_return written_ != revision_ || !wanted_;
}

/// @return whether the node exists and belongs to this object
task<bool> kept_node::make(std::uint64_t generation) {
    port& p = get_port();
    request create(p, op_code::create, path(), generation);
    create.mode = kind_.mode;
    create.ttl = kind_.ttl;
    create.data = data_;
    create.entries = entries_;
    const std::uint64_t revision = revision_;
    const std::uint64_t connection = p.status().revision;
    error_code ec = co_await create;
    if (!ec) {
        our_earlier_.clear();
        attempts_.clear();
        perhaps_ = false;
        appeared();
        found_ = false;
        seen_in_ = connection;
        czxid_ = create.record.czxid;
        version_ = 0;
        written_ = revision;
        written_data_ = std::move(create.data);
        lose(errc::ownership_lost);  // that of an earlier session was missing
        touched(create);
        if (!has_ttl())
            hold_it();
        co_return true;
    }
    retry attempt(p);
    if (not_now(attempt, ec)) {
        if (attempt.doubtful()) {
            perhaps_ = true;
            found_ = false;
            attempts_.insert(std::move(create.data));
        }
    } else if ((ec == zk_errc::no_node || ec == zk_errc::node_exists) && !wanted()) {
        // Cancelled, or late: what others have there stays as it is.
    } else if (ec == zk_errc::no_node) {
        ec = co_await ensure_path(p, std::string(parent_path(path())), entries_, kind_.parents);
        if (ec && !not_now(attempt, ec))
            refused(ec);
    } else if (ec == zk_errc::node_exists) {
        bool found = co_await look(generation);
        co_return found;
    } else {
        data_refused(ec, revision);
    }
    co_return false;
}

/// Reads and watches the node, and adopts it if it has no owner.
/// @return whether it exists and belongs to this object
task<bool> kept_node::look(std::uint64_t generation) {
    port& p = get_port();
    watch_.disarm();
    request read(p, op_code::get, path(), generation);
    read.attach(watch_);
    const std::uint64_t connection = p.status().revision;
    // After an outage the server may lag behind.
    error_code ec = co_await behind_sync(p, read, present_ && !seen());
    if (retry(p).again(ec))
        co_return false;
    if (ec && ec != zk_errc::no_node) {
        refused(ec);
        co_return false;
    }
    const bool found = !ec && ours(read.record) && (wanted() || known(read));
    if (found) {
        const bool same = read.record.czxid == czxid_ || (present_ && czxid_ == 0);
        if (!same) {
            lose(errc::ownership_lost);
            // One with a TTL is written again, as it may be about to expire.
            const bool good = read.answer == data_ && !has_ttl();
            written_ = good ? revision_ : 0;
            found_ = !good && !known(read);
        }
        czxid_ = read.record.czxid;
        version_ = read.record.version;
        written_data_ = std::move(read.answer);
        seen_in_ = connection;
    } else if (!ec && wanted()) {
        occupied_ = true;
        bool strangers = !our_earlier_.contains(read.record.ephemeral_owner);
        bool joining = !calls_.empty() && calls_.front().why == purpose::keep;
        if (strangers && joining && !wait_for_predecessor_) {
            refused(errc::already_exists);
        }
    }
    attempts_.clear();
    perhaps_ = false;
    if (found && !present_)
        appeared();
    present_ = found;
    if (!found)
        lose(errc::ownership_lost);
    else if (!has_ttl())
        hold_it();
    co_return found;
}

/// @return whether the server has the desired data
task<bool> kept_node::write(std::uint64_t generation) {
    port& p = get_port();
    request set(p, op_code::set, path(), generation);
    // One that only has to last longer keeps what others have written.
    set.data = written_ == revision_ ? written_data_ : data_;
    set.version = version_;
    const std::uint64_t revision = revision_;
    error_code ec = co_await set;
    if (!ec && !ours(set.record)) {
        present_ = false;  // replaced since it was seen
        lose(errc::ownership_lost);
        co_return false;
    }
    if (!ec) {
        version_ = set.record.version;
        found_ = false;
        written_ = revision;
        written_data_ = std::move(set.data);
        touched(set);
        co_return true;
    }
    retry attempt(p);
    if (ec == zk_errc::no_node) {
        present_ = false;
        lose(errc::ownership_lost);
    } else if (ec == zk_errc::bad_version || not_now(attempt, ec)) {
        // Written by a request whose response was lost, or by another client: write it again.
        co_await look(generation);
    } else {
        data_refused(ec, revision);
    }
    co_return false;
}

/// Deletes the node if it belongs to this object.
/// @return whether to try again at once
task<bool> kept_node::dismantle(std::uint64_t generation) {
    port& p = get_port();
    if (found_) {
        // That of others stays.
        found_ = present_ = perhaps_ = false;
        co_return wanted_;
    }
    if (perhaps_ || (present_ && !seen())) {
        // The server may lag behind and not have the node yet, or have one that is gone.
        const bool by_data = !attempts_.empty() && kind_.mode != create_mode::ephemeral;
        request read(p, by_data ? op_code::get : op_code::exists, path(), generation);
        const std::uint64_t connection = p.status().revision;
        error_code ec = co_await behind_sync(p, read);
        if (retry(p).again(ec))
            co_return true;
        present_ = !ec && known(read);
        perhaps_ = false;
        attempts_.clear();
        version_ = read.record.version;
        seen_in_ = connection;
        if (ec && ec != zk_errc::no_node)
            refused(ec, "delete");
    }
    if (!present_ || wanted_)
        co_return wanted_;
    request erase(p, op_code::erase, path(), generation);
    erase.version = version_;
    error_code ec = co_await erase;
    if (ec == zk_errc::bad_version) {
        seen_in_ = 0;
        co_return true;
    }
    retry attempt(p);
    if (not_now(attempt, ec)) {
        perhaps_ = true;
        co_return true;
    }
    present_ = false;
    if (ec && ec != zk_errc::no_node)
        refused(ec, "delete");
    co_return false;
}

}  // namespace corozk::detail
