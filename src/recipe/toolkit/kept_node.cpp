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

/// The paths kept by objects of this session, with the queue for each: whatever view of it they use.
class kept_paths final : public service {
public:
    explicit kept_paths(port&) noexcept {}

    static kept_paths& of(port& p) { return p.whole().use_service<kept_paths>(); }

    bool claim(kept_node& node) {
        auto [at, inserted] = owners_.try_emplace(node.get_port().absolute(node.path()));
        if (inserted)
            return true;
        // It tries again whenever it wakes. Those that have given up are gone.
        std::erase_if(at->second, [](const auto& one) { return one.expired(); });
        const std::weak_ptr<kept_node> self = node.weak_from_this();
        const bool waits = std::any_of(
            at->second.begin(), at->second.end(), [&](const std::weak_ptr<kept_node>& w) {
                return !w.owner_before(self) && !self.owner_before(w);
            });
        if (!waits)
            at->second.push_back(self);
        return false;
    }

    void release(const kept_node& last) {
        auto at = owners_.find(last.get_port().absolute(last.path()));
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
    return attempt.again(ec) || (ec == zk_errc::not_read_only && attempt.possible());
}

}  // namespace

kept_node::kept_node(port& p, std::string path, acl entries, kept_node_kind kind)
    : recipe_core(p, "", std::move(path)),
      entries_(std::move(entries)),
      kind_(kind),
      wake_(p),
      watch_(wake_),
      touch_(p, wake_),
      hold_(p) {
    p.subscribe(*this);
}

kept_node::~kept_node() = default;

void kept_node::keep(std::string data, bool wait_for_predecessor, handler h, time_limit limit) {
    note_calls();  // a call that was just cancelled does not block the next one
    if (wish_.wanted || releasing())
        return refuse(this, std::move(h), errc::busy);
    wish_.wanted = true;
    wish_.refusal = error_code();
    wish_.wait_for_predecessor = wait_for_predecessor;
    wish_.data = std::move(data);
    wish_.keep_revision = ++wish_.revision;
    calls_.emplace_back(*this, purpose::keep, wish_.revision, std::move(h), limit);
    start();
}

bool kept_node::releasing() const noexcept {
    return std::any_of(calls_.begin(), calls_.end(), [](const call& c) {
        return c.why == purpose::release && c.ask.waiting();
    });
}

void kept_node::change(std::string data, handler h, time_limit limit) {
    change_for(purpose::change, std::move(data), std::move(h), limit);
}

void kept_node::join(std::string data, handler h, time_limit limit) {
    note_calls();
    const purpose why = keeping() ? purpose::keep : purpose::change;
    change_for(why, std::move(data), std::move(h), limit);
}

void kept_node::change_for(purpose why, std::string data, handler h, time_limit limit) {
    if (!wish_.wanted)
        return refuse(this, std::move(h), errc::not_a_member);
    wish_.data = std::move(data);
    ++wish_.revision;
    calls_.emplace_back(*this, why, wish_.revision, std::move(h), limit);
    start();
}

/// Whether a `keep`, or one that has joined it, waits.
bool kept_node::keeping() const noexcept {
    return std::any_of(calls_.begin(), calls_.end(), [](const call& c) {
        return c.why == purpose::keep && c.ask.waiting();
    });
}

void kept_node::release(handler h, time_limit limit) {
    if (!wish_.wanted && !running_)
        return refuse(this, std::move(h), errc::not_a_member);
    wish_.wanted = false;
    wish_.keep_revision = 0;
    for (call& c : calls_) {
        if (c.why != purpose::release)
            c.ask.fail(boost::asio::error::operation_aborted);
    }
    hold_.lose(error_code());
    calls_.emplace_back(*this, purpose::release, wish_.revision, std::move(h), limit);
    start();
}

void kept_node::abandon() {
    stop();
    observer_ = nullptr;
    hold_.follow(nullptr);
    wish_.wanted = false;
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
    const bool given_up = wish_.wanted && !waiting();
    std::erase_if(calls_, [](const call& c) { return c.ask.over(); });
    if (given_up) {
        wish_.wanted = false;
        hold_.lose(error_code());
    }
}

/// It is not wanted any more when all calls that are to establish it have ended early.
bool kept_node::waiting() const noexcept {
    const bool given_up = std::any_of(calls_.begin(), calls_.end(), [this](const call& c) {
        return c.why == purpose::keep && wish_.keep_revision != 0 &&
               c.revision >= wish_.keep_revision && c.ask.over();
    });
    return wish_.wanted && (!given_up || keeping());
}

/// Before its calls, which are over then, too.
void kept_node::session_changed(const session_status& status) noexcept {
    owed_ = status.state == session_state::closed && !waiting();
    wake_.set();
}

time_point kept_node::held_until() const noexcept {
    if (!hold_.state().held)
        return time_point::min();
    if (has_ttl())
        return hold_.term_ends();
    if (kind_.mode != create_mode::ephemeral)
        return time_point::max();
    return present() ? get_port().expiry_deadline() : time_point::min();
}

task<> kept_node::run(std::shared_ptr<kept_node> self) {
    port& p = self->get_port();
    kept_node& me = *self;
    while (p.status().state != session_state::closed) {
        me.note_calls();
        const std::uint64_t generation = p.status().generation;
        const bool alive = p.alive(generation);
        // What is queued in an outage would be sent before it is known whose the node is by then.
        const bool can_change = p.connected();
        if (!alive || me.session_.generation != generation) {
            // The node of an earlier session has been or will be deleted; wait for that.
            if (me.session_.id != 0)
                me.session_.earlier.insert(me.session_.id);
            if (me.kind_.mode == create_mode::ephemeral)
                me.hold_.lose(zk_errc::session_expired);
            // One of another kind may still be there.
            const bool outlives = me.kind_.mode != create_mode::ephemeral;
            me.node_.perhaps = outlives && (me.node_.perhaps || me.node_.present);
            me.node_.present = false;
            me.watch_.disarm();
            me.session_.generation = generation;
        }
        me.session_.id = p.status().session_id;  // a read-only server has given another one
        bool again = false;
        if (can_change && me.wish_.wanted) {
            again = co_await me.pursue(generation);
        } else if (can_change) {
            again = co_await me.dismantle(generation);
        }
        if (!me.wish_.wanted && !me.node_.present && !me.node_.perhaps) {
            me.settle_calls(error_code());
            break;
        }
        if (!again)
            co_await me.wake_.wait();
    }
    me.note_calls();
    // What was given up before is deleted nevertheless, while there is a connection; what is bound to the
    // session only if that does not end.
    const bool bound = me.kind_.mode == create_mode::ephemeral;
    const std::uint64_t generation = bound ? me.session_.generation : 0;
    while (me.owed_ && !me.wish_.wanted && (me.node_.present || me.node_.perhaps))
        co_await me.dismantle(generation);
    forget_watch(p, me.watch_, me.path());
    me.touch_.clear();
    me.hold_.lose(errc::closed);  // otherwise it was given up before
    me.node_.present = me.node_.perhaps = false;
    me.node_.attempts.clear();
    me.wish_.wanted = false;
    me.running_ = false;
    // Calls that were started after the client was closed.
    for (call& c : me.calls_)
        c.ask.fail(errc::closed);
    me.calls_.clear();
    if (me.registered_) {
        me.registered_ = false;
        kept_paths::of(p).release(me);
    }
}

/// The node has the desired state, or was deleted.
void kept_node::settle_calls(error_code ec) {
    for (auto c = calls_.begin(); c != calls_.end();) {
        bool due = wish_.wanted ? c->why != purpose::release && c->revision <= node_.written : true;
        // A change of a node whose `keep` was cancelled: there is nothing to change.
        bool in_vain = due && !wish_.wanted && c->why != purpose::release;
        if (due && wish_.wanted && c->why == purpose::keep)
            wish_.keep_revision = 0;  // it is kept: those that have joined it only change it
        if (due)
            c->ask.complete(in_vain ? make_error_code(errc::not_a_member) : ec);
        c = due ? calls_.erase(c) : std::next(c);
    }
}

/// Logs an error that has completed no call. That the client was closed is no error, and ends
/// everything.
void kept_node::report_unseen(error_code ec, const char* intent) {
    if (ec != errc::closed)
        port_.report(log_level::error, "could not ", intent, " ", path(), ": ", ec.message());
}

/// The server reported a permanent error. That of a request to keep the node does not end its
/// release, which may have begun meanwhile.
void kept_node::refused(error_code ec, purpose why) {
    if (why == purpose::keep && !wanted())
        return;
    bool reported = false;
    for (call& c : calls_) {
        reported = reported || c.ask.waiting();
        c.ask.fail(ec);
    }
    if (wish_.wanted)
        wish_.refusal = ec;
    wish_.wanted = false;
    hold_.lose(ec);
    if (observer_)
        observer_->set();
    if (!reported)
        report_unseen(ec, why == purpose::release ? "delete" : "keep");
}

void kept_node::appeared() noexcept {
    node_.present = true;
    if (observer_)
        observer_->set();
}

/// The server rejects the data. A node that is already kept retains its previous data.
void kept_node::data_refused(error_code ec, std::uint64_t revision) {
    bool keeping = false;  // perhaps by a call that is over
    bool joining = false;
    for (const call& c : calls_) {
        keeping = keeping || c.why == purpose::keep;
        joining = joining || (c.why == purpose::keep && c.ask.waiting());
    }
    if (joining || node_.written == revision)
        return refused(ec);
    bool reported = false;
    for (call& c : calls_) {
        if (c.why != purpose::change || c.revision > revision)
            continue;
        reported = reported || c.ask.waiting();
        c.ask.fail(ec);
    }
    if (revision == wish_.revision) {
        wish_.data = node_.data;
        node_.written = wish_.revision;
    }
    if (!reported)
        report_unseen(ec, keeping ? "keep" : "change the data of");
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
    return kind_.mode == create_mode::ephemeral || read.record.czxid == node_.czxid ||
           (read.record.version == 0 && node_.attempts.contains(read.answer));
}

/// Whether the node was seen in this connection. In an outage another session may have taken its
/// place, with the same version.
bool kept_node::seen() const noexcept {
    return node_.seen_in == get_port().status().revision;
}

/// The server has executed a create or write, from which the TTL counts.
void kept_node::touched(const operation& write) {
    if (!has_ttl())
        return;
    touch_.set(renewal_time(write.sent_at, kind_.ttl));
    hold_.renew(write.sent_at, kind_.ttl, wish_.wanted);
}

/// It is held from now on, unless a TTL counts, or the session has ended meanwhile.
void kept_node::seen_present(std::uint64_t generation) {
    if (!has_ttl() && wish_.wanted && get_port().alive(generation))
        hold_.begin();
}

task<bool> kept_node::pursue(std::uint64_t generation) {
    if (!registered_) {
        registered_ = kept_paths::of(get_port()).claim(*this);
        if (!registered_) {
            if (!wish_.wait_for_predecessor)
                refused(errc::already_exists);
            co_return !wish_.wanted;
        }
    }
    if (node_.occupied && watch_.armed())
        co_return false;
    node_.occupied = false;
    // One co_await per statement: g++ 12.2 miscompiles them inside conditions here.
    bool good = node_.present;
    if (!good) {
        good = co_await make(generation);
        if (!good)
            co_return !node_.occupied;
    }
    if (node_.written != wish_.revision || touch_.rang()) {
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
    if (wish_.wanted)
        settle_calls(error_code());
    co_return node_.written != wish_.revision || !wish_.wanted;
}

/// @return whether the node exists and belongs to this object
task<bool> kept_node::make(std::uint64_t generation) {
    port& p = get_port();
    request create(p, op_code::create, path(), generation);
    create.mode = kind_.mode;
    create.ttl = kind_.ttl;
    create.data = wish_.data;
    create.entries = entries_;
    const std::uint64_t revision = wish_.revision;
    const std::uint64_t connection = p.status().revision;
    error_code ec = co_await create;
    if (!ec) {
        session_.earlier.clear();
        node_.attempts.clear();
        node_.perhaps = false;
        appeared();
        node_.found = false;
        node_.seen_in = connection;
        node_.czxid = create.record.czxid;
        node_.version = 0;
        node_.written = revision;
        node_.data = std::move(create.data);
        hold_.lose(errc::ownership_lost);  // that of an earlier session was missing
        touched(create);
        seen_present(generation);
        co_return true;
    }
    retry attempt(p);
    if (not_now(attempt, ec)) {
        if (attempt.doubtful()) {
            node_.forget_found();
            node_.perhaps = true;
            node_.attempts.insert(std::move(create.data));
        }
    } else if ((ec == zk_errc::no_node || ec == zk_errc::node_exists) && !wanted()) {
        // Cancelled, or late: what others have there stays as it is.
    } else if (ec == zk_errc::no_node) {
        hold_.lose(errc::ownership_lost);
        ec = co_await ensure_path(
            p, std::string(parent_path(path())), entries_, kind_.parents, this);
        if (ec && wanted() && !not_now(attempt, ec))
            refused(ec);
    } else if (ec == zk_errc::node_exists) {
        co_return co_await look(generation);
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
    error_code ec = co_await behind_sync(p, read, node_.present && !seen());
    retry attempt(p);
    if (not_now(attempt, ec)) {
        watch_.disarm();  // by a read that may have succeeded, and shows nothing without its sync
        co_return false;
    }
    if (ec && ec != zk_errc::no_node) {
        refused(ec);
        co_return false;
    }
    const bool found = !ec && ours(read.record) && (wanted() || known(read));
    if (found) {
        const bool same = read.record.czxid == node_.czxid || (node_.present && node_.czxid == 0);
        if (!same) {
            hold_.lose(errc::ownership_lost);
            // One with a TTL is written again, as it may be about to expire.
            const bool good = read.answer == wish_.data && !has_ttl();
            node_.written = good ? wish_.revision : 0;
            node_.found = !good && !known(read);
        }
        node_.czxid = read.record.czxid;
        node_.version = read.record.version;
        node_.data = std::move(read.answer);
        node_.seen_in = connection;
    } else if (!ec && wanted()) {
        node_.occupied = true;
        bool strangers = !session_.earlier.contains(read.record.ephemeral_owner);
        bool joining = !calls_.empty() && calls_.front().why == purpose::keep;
        const bool has_end = kind_.waits_for_any || session_of(read.record) != 0;
        if (strangers && joining && !(wish_.wait_for_predecessor && has_end))
            refused(errc::already_exists);
        else if (strangers && !joining && node_.occupant != read.record.czxid)
            port_.report(
                log_level::warning,
                path(),
                " now belongs to another client; it is created again once that node is gone");
        node_.occupant = read.record.czxid;
    }
    node_.attempts.clear();
    node_.perhaps = false;
    if (found && !node_.present)
        appeared();
    node_.present = found;
    if (found)
        seen_present(generation);
    else
        hold_.lose(errc::ownership_lost);
    co_return found;
}

/// @return whether the server has the desired data
task<bool> kept_node::write(std::uint64_t generation) {
    port& p = get_port();
    request set(p, op_code::set, path(), generation);
    // One that only has to last longer keeps what others have written.
    set.data = node_.written == wish_.revision ? node_.data : wish_.data;
    set.version = node_.version;
    const std::uint64_t revision = wish_.revision;
    error_code ec = co_await set;
    if (!ec && !ours(set.record)) {
        node_.present = false;  // replaced since it was seen
        hold_.lose(errc::ownership_lost);
        co_return false;
    }
    if (!ec) {
        node_.version = set.record.version;
        node_.found = false;
        node_.written = revision;
        node_.data = std::move(set.data);
        touched(set);
        co_return true;
    }
    retry attempt(p);
    if (ec == zk_errc::no_node) {
        node_.present = false;
        hold_.lose(errc::ownership_lost);
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
    if (node_.found) {
        // That of others stays.
        node_.forget_found();
        node_.present = node_.perhaps = false;
        co_return wish_.wanted;
    }
    if (node_.perhaps || (node_.present && !seen())) {
        // The server may lag behind and not have the node yet, or have one that is gone.
        const bool by_data = !node_.attempts.empty() && kind_.mode != create_mode::ephemeral;
        request read(p, by_data ? op_code::get : op_code::exists, path(), generation);
        read.owed = true;
        const std::uint64_t connection = p.status().revision;
        error_code ec = co_await behind_sync(p, read);
        retry looking(p);
        if (not_now(looking, ec))
            co_return true;
        node_.present = !ec && known(read);
        node_.perhaps = false;
        node_.attempts.clear();
        node_.version = read.record.version;
        node_.seen_in = connection;
        if (ec && ec != zk_errc::no_node)
            refused(ec, purpose::release);
    }
    if (!node_.present || wish_.wanted)
        co_return wish_.wanted;
    if (!seen())
        co_return true;  // the state has changed since
    request erase(p, op_code::erase, path(), generation);
    erase.version = node_.version;
    erase.owed = true;
    error_code ec = co_await erase;
    if (ec == zk_errc::bad_version) {
        node_.seen_in = 0;
        co_return true;
    }
    retry attempt(p);
    if (not_now(attempt, ec)) {
        node_.perhaps = true;
        co_return true;
    }
    node_.present = false;
    if (ec && ec != zk_errc::no_node)
        refused(ec, purpose::release);
    co_return false;
}

}  // namespace corozk::detail
