// SPDX-License-Identifier: Apache-2.0
// The steps to a grant: a contender enters, its node is created, and missing information is
// requested until the view of the queue decides that it is its turn.
#include "recipe/contention/contention_queue.hpp"

#include "operation/path.hpp"
#include "recipe/contention/limit.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include "recipe/toolkit/renew_parent.hpp"
#include "recipe/toolkit/retry.hpp"
#include "recipe/toolkit/sequence_end.hpp"
#include <corozk/tracer.hpp>

#include <algorithm>

namespace corozk::detail {

using stage = local_node::stage_type;

/// On a remote blocker.
class contention_queue::blocker_watch final : public watch_node {
public:
    blocker_watch(contention_queue& q, remote_node& n) noexcept : node(n), queue_(q) {}

    remote_node& node;
    bool reading = false;  ///< the read that arms it is in flight

private:
    void fired(watch_event_type type) noexcept override {
        auto keep = node.watch;  // it may be destroyed with the node
        queue_.blocker_touched(node, type);
    }
    void dropped(const error_code&) noexcept override {}

    contention_queue& queue_;
};

contention_queue::contention_queue(contention_queues& owner,
                                   port& p,
                                   contention_settings settings,
                                   std::string key)
    : queues_(owner),
      port_(p),
      settings_(std::make_shared<const contention_settings>(std::move(settings))),
      key_(std::move(key)),
      view_(*settings_),
      limit_watch_(*this),
      parent_watch_(*this) {
    port_.subscribe(*this);
}

std::shared_ptr<contender> contention_queue::enter(const acquire_request& request,
                                                   contender_data data,
                                                   user_call<ownership> call) {
    auto c = std::make_shared<contender>(*this, request, std::move(data), std::move(call));
    // A weak reference: the contender may be destroyed before the call.
    c->call_.on_cancel([weak = std::weak_ptr(c)](cancellation_type) {
        if (auto cancelled = weak.lock())
            cancelled->abandon(boost::asio::error::operation_aborted);
    });
    c->self_ = c;
    creation_.add(*c);
    create_some();
    // Directly after the create, so that an uncontended acquire costs one round trip.
    carry_out(view_.entered(creation_.size()));
    return c;
}

void contention_queue::create_some() {
    while (local_node* c = creation_.next())
        create(static_cast<contender&>(*c));
}

void contention_queue::create(contender& c) {
    // A new guid for each attempt, so that nodes of earlier ones are not mistaken for it.
    std::string guid = port_.new_guid();
    std::copy_n(guid.begin(), c.guid_text.size(), c.guid_text.begin());
    operation& op = ask_about<&contention_queue::created>(
        c, op_code::create, path_of(settings_->names.format(guid, c.kind, c.weight)));
    op.generation = 0;  // in any session
    op.mode = create_mode::ephemeral_sequential;
    op.data = *c.data_;
    op.entries = settings_->entries;
    c.create_ = &op;
    port_.start(op);
}

void contention_queue::created(contender& c, operation& answer) {
    c.create_ = nullptr;
    auto step = creation_.answered(c, answer.error, answer.sent_in);
    create_some();
    switch (step) {
        case node_creation::step::place:
            place(c, base_name(answer.answer), answer.record);
            // The others are decided on in this turn, too, by `run`.
            if (c.state == stage::waiting && head() == &c)
                evaluate({{c.shared_from_this()}});
            break;
        case node_creation::step::find: start_driver(recover()); break;
        case node_creation::step::wait: break;
        case node_creation::step::again:
            creation_.again(c);
            create(c);
            break;
        case node_creation::step::make_parent:
            start_driver(create_under_new_parent(c.shared_from_this()));
            break;
        case node_creation::step::fail: fail(c, answer.error); break;
    }
}

void contention_queue::place(contender& c, std::string_view name, const stat& record) {
    auto parsed = settings_->names.parse(name);
    if (!parsed || !parsed->ordered || record.ephemeral_owner != port_.status().session_id) {
        // Cannot happen: the response contains the name.
        return fail(c, zk_errc::runtime_inconsistency);
    }
    bool unwanted = c.state == stage::unwanted;
    c.sequence = parsed->sequence;
    c.czxid = record.czxid;
    creation_.remove(c);
    view_.placed(c, name, [](const local_node& other) {
        return static_cast<const contender&>(other).watch_.certain();
    });
    // The session may have ended before the node was found.
    if (!port_.alive(c.session))
        session_ended();
    const bool spent = sequence_spent(c.sequence);
    if (unwanted)
        release(c);
    else if (spent)
        c.abandon(errc::sequence_exhausted);
    else if (view_.limit().known() && c.weight > view_.limit().value())
        c.abandon(errc::bad_option);  // it would block those behind it for ever
    if (spent) {
        // Behind the delete.
        port_.spawn(try_renew_parent(port_, settings_->parent));
    }
    wake();
}

/// @param seen    contenders whose nodes are known to exist now
/// @param listed  whether a listing was just merged
void contention_queue::evaluate(std::span<const contender_ptr> seen, bool listed) {
    if (session_over_)
        return;  // the head may be one of that session
    doubt_limit();
    for (;;) {
        decision_facts facts;
        facts.now = port_.now();
        facts.listed = listed;
        facts.searching = creation_.searching();
        if (contender* c = head()) {
            facts.connected = port_.alive(c->session) && facts.now < port_.expiry_deadline();
            facts.exists = c->watch_.certain() ||
                           std::any_of(seen.begin(), seen.end(), [c](const contender_ptr& s) {
                               return s.get() == c;
                           });
        }
        queue_step step = view_.next(facts);
        carry_out(step);
        auto* c = static_cast<contender*>(step.who);
        switch (step.what) {
            case queue_step::type::grant: grant(*c); break;
            case queue_step::type::refuse: c->abandon(step.reason); break;
            case queue_step::type::settled: return;
        }
    }
}

void contention_queue::carry_out(const queue_step& step) {
    if (step.list)
        list(false);
    if (step.read_limit)
        start_driver(read_limit());
    if (step.prove)
        prove_some();
    if (step.again_at)
        port_.start_timer(*this, *step.again_at);
    if (step.watch_parent && !parent_watch_.armed() && view_.list())
        list(true);
    if (step.watch_blockers)
        view_.for_each_blocker([this](remote_node& n) {
            auto* watch = static_cast<blocker_watch*>(n.watch.get());
            if (!watch || !watch->armed())
                watch_blocker(n);
        });
    if (step.listen)
        listen(*head());
}

void contention_queue::list(bool watch) {
    operation& op =
        ask(op_code::children, settings_->parent, [this](operation& answer) { listed(answer); });
    if (watch) {
        watching_ = true;
        op.attach(parent_watch_);
    }
    port_.start(op);
}

void contention_queue::listed(const operation& answer) {
    error_code ec = answer.error;
    if (session_over_)
        return view_.listing_failed();  // those of that session would be missing
    if (ec && ec != zk_errc::no_node) {
        view_.listing_failed();
        if (fault_of(ec) != fault::refused)
            return;
        // Not permitted to list: no contender can ever be granted.
        return abandon_waiting(ec);
    }
    for (local_node* missing : view_.listed(answer.names))
        prove(static_cast<contender&>(*missing));
    evaluate({}, true);
}

task<> contention_queue::read_limit() {
    known_limit found;
    error_code ec = co_await find_limit(port_, *settings_, &limit_watch_, found, this);
    if (!ec) {
        view_.limit().answered(found, limit_watch_.certain());
        abandon_waiting(errc::bad_option, found.value);
    } else {
        view_.limit().not_answered();
        if (!nobody_waited(ec) && fault_of(ec) == fault::refused)
            abandon_waiting(ec);
    }
    driver_ended();
}

/// Whether a contender is left for which to read the limit.
bool contention_queue::waiting() const noexcept {
    return view_.has_waiting() || creation_.has_wanted();
}

/// A change might not have been reported.
void contention_queue::doubt_limit() noexcept {
    if (!limit_watch_.certain())
        view_.limit().changed();
}

void contention_queue::limit_changed(watch_event_type) noexcept {
    view_.limit().changed();
    wake();
}

void contention_queue::parent_changed(watch_event_type) noexcept {
    view_.outdated();
    wake();
}

/// The head and those behind it whose turn it is as well, so that they need not wait for each other.
void contention_queue::prove_some() {
    if (head()->proving || head()->converting)
        return;
    prove(*head());
    for (const contender_ptr& c : to_prove())
        prove(*c);
}

std::vector<contention_queue::contender_ptr> contention_queue::to_prove() {
    std::vector<contender_ptr> found;
    for (local_node* n : view_.to_prove(&contender::will_be_proved))
        found.push_back(static_cast<contender&>(*n).shared_from_this());
    return found;
}

/// Reads and watches the contender's node.
void contention_queue::prove(contender& c) {
    if (c.proving || c.converting)
        return;
    c.proving = true;
    operation& op = ask_about<&contention_queue::proved>(c, op_code::get, c.path());
    op.attach(c.watch_);
    port_.start(op);
}

void contention_queue::proved(contender& c, operation& answer) {
    c.proving = false;
    if (c.state != stage::waiting && c.state != stage::granted)
        return;
    if (answer.path != c.path()) {
        // Its node was replaced since.
        c.watch_.disarm();
        return prove(c);
    }
    if (!answer.error && answer.record.czxid == c.czxid)
        return c.inspect(answer);
    if (answer.error == zk_errc::throttled)
        return prove(c);
    if (retry(port_, c.session).again(answer.error))
        return;  // read again after the reconnect
    if (is_session_lost(answer.error))
        return;  // handled at the end of the session
    if (answer.error && answer.error != zk_errc::no_node) {
        if (c.state == stage::waiting)
            c.abandon(answer.error);
        return;
    }
    // Deleted by another client.
    view_.distrust_sequences();
    auto keep = c.shared_from_this();
    if (c.state == stage::granted) {
        hold_ends(c, errc::ownership_lost);
        remove(c);
        c.more().held.lose(errc::ownership_lost);
    } else {
        fail(c, errc::ownership_lost);
    }
}

void contention_queue::watch_blocker(remote_node& n) {
    if (!n.watch)
        n.watch = std::make_shared<blocker_watch>(*this, n);
    auto watch = std::static_pointer_cast<blocker_watch>(n.watch);
    if (std::exchange(watch->reading, true))
        return;
    watching_ = true;
    operation& op =
        ask(op_code::get, path_of(n.name), [this, weak = std::weak_ptr(watch)](operation& answer) {
            if (auto w = weak.lock()) {
                w->reading = false;
                view_.answered(w->node, answer.error);
            }
        });
    op.generation = port_.status().generation;
    op.attach(*watch);
    port_.start(op);
}

void contention_queue::blocker_touched(remote_node& n, watch_event_type type) noexcept {
    if (view_.touched(n, type))
        watch_blocker(n);
    wake();
}

/// Watches the node that announces the head's turn.
void contention_queue::listen(contender& c) {
    auto& turn = c.more().turn;
    if (!turn)
        turn.emplace(c);
    if (turn->armed() || turn->arming())
        return;
    operation& op = ask_about<&contention_queue::stopped_listening>(
        c, op_code::exists, announcement_of(c.path()));
    op.attach(*turn);
    port_.start(op);
}

void contention_queue::stop_listening(contender& c) noexcept {
    if (c.listens())
        forget_watch(port_, *c.extras_->turn, announcement_of(c.path()));
}

/// The contender stopped listening while the watch was in flight; its node may have been replaced.
void contention_queue::stopped_listening(contender& c, operation& answer) {
    if (c.state != stage::waiting)
        forget_watch(port_, *c.extras_->turn, answer.path);
}

void contention_queue::grant(contender& c) {
    hold_begins(c);
    stop_listening(c);
    c.timer_node::cancel();
    if (!c.watch_.armed() || c.listens())
        port_.start_timer(c, c.since + watch_delay);
    auto call = std::move(c.call_);
    if (c.replaces())
        return granted_replacement(c, call);
    call.complete(error_code(), ownership(port_.keep_alive(), c.shared_from_this()));
}

void contention_queue::hold_begins(contender& c) {
    auto asked_at = std::exchange(c.since, port_.now());
    ++port_.counters().grants;
    port_.counters().wait_times.add(c.since - asked_at);
    if (tracer* to = current_tracer()) {
        std::string path = c.path();
        trace_point what;
        what.kind = trace_kind::tenure;
        what.name = "hold";
        what.path = path;
        what.session_id = port_.status().session_id;
        c.more().span = to->started(what);
    }
}

void contention_queue::hold_ends(contender& c, error_code reason) {
    port_.counters().hold_times.add(port_.now() - c.since);
    auto span = c.extras_ ? std::exchange(c.extras_->span, 0) : 0;
    if (tracer* to = current_tracer(); to && span != 0)
        to->finished(span, reason);
}

std::string contention_queue::path_of(std::string_view name) const {
    return join_path(settings_->parent, name);
}

std::vector<contention_queue::contender_ptr> contention_queue::placed_contenders() {
    std::vector<contender_ptr> all;
    for (contention_node& n : view_.nodes()) {
        if (n.local())
            all.push_back(static_cast<contender&>(n).shared_from_this());
    }
    return all;
}

/// Contenders whose session has ended, from the front, where the holders are.
std::vector<contention_queue::contender_ptr> contention_queue::some_orphans() {
    const bool closed = port_.status().state == session_state::closed;
    std::vector<contender_ptr> found;
    for (contention_node& n : view_.nodes()) {
        if (found.size() == failed_at_once)
            break;
        if (!n.local())
            continue;
        auto& c = static_cast<contender&>(n);
        // A closed session may be left: its nodes are still being deleted.
        if (!port_.alive(c.session) && !(closed && c.state == stage::releasing))
            found.push_back(c.shared_from_this());
    }
    return found;
}

void contention_queue::session_changed(const session_status& status) noexcept {
    if (status.state == session_state::connected)
        reconnected_ = true;
    if (status.state == session_state::lost || status.state == session_state::closed)
        session_ended();
    wake();
}

void contention_queue::session_ended() noexcept {
    const error_code& reason = port_.status().reason;
    session_over_ = reason ? reason : make_error_code(zk_errc::session_expired);
}

/// The loop does other things in between: 100,000 contenders take 60 ms.
void contention_queue::fail_some_orphans() {
    const error_code reason = session_over_;
    const auto some = some_orphans();
    for (const auto& c : some) {
        bool granted = c->state == stage::granted;
        auto release_call = std::move(c->release_call_);
        if (granted)
            hold_ends(*c, reason);
        if (auto upgrade = c->replacement())
            upgrade->abandon(reason);
        fail(*c, reason);
        if (granted)
            c->more().held.lose(reason);
        if (release_call)
            release_call->complete(reason);
    }
    if (some.size() == failed_at_once)
        return;
    session_over_ = {};
    view_.session_ended();
}

/// Without waiters, events of remote nodes are not needed.
void contention_queue::stop_watching() noexcept {
    watching_ = parent_watch_.arming();
    forget_watch(port_, parent_watch_, settings_->parent, watch_kind::children);
    for (contention_node& n : view_.nodes()) {
        auto* watch = n.local()
                          ? nullptr
                          : static_cast<blocker_watch*>(static_cast<remote_node&>(n).watch.get());
        if (!watch)
            continue;
        if (watch->reading)
            watching_ = true;  // later
        if (!watch->armed())
            continue;
        watch->disarm();
        port_.watch_dropped(watch_kind::data, path_of(watch->node.name));
    }
}

void contention_queue::run() noexcept {
    if (session_over_)
        fail_some_orphans();
    if (session_over_)
        return wake();
    if (std::exchange(reconnected_, false)) {
        // The session sets watches again; requests without a response are repeated.
        view_.outdated();
        for (contention_node& n : view_.nodes()) {
            if (!n.local())
                continue;
            auto& c = static_cast<contender&>(n);
            if (c.state == stage::granted && !c.watch_.armed())
                prove(c);
        }
    }
    doubt_limit();
    view_.heed_announcement();
    evaluate();
    view_.announcement_heeded();
    if (!head()) {
        timer_node::cancel();
        if (watching_)
            stop_watching();
    }
    if (creation_.empty() && view_.empty() && operations_ == 0) {
        forget_watch(port_, limit_watch_, settings_->parent);
        view_.limit().changed();
        queues_.retire(*this);
    }
}

}  // namespace corozk::detail
