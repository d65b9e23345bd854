// SPDX-License-Identifier: Apache-2.0
#include "block/line.hpp"

#include <algorithm>
#include <chrono>

#include "block/parents.hpp"
#include "session/path.hpp"

namespace corozk::detail {

namespace {

/// A lock that is given back sooner needs no watch on its node.
constexpr auto watch_delay = std::chrono::milliseconds(1);

/// Enough to keep the server busy; more would only cost memory.
constexpr std::size_t creates_in_flight = 1024;

}  // namespace

/// A request about one contender, which it keeps alive. Owns itself.
class line::contender_operation final : public operation {
public:
    using handler = void (*)(line&, contender_ptr, operation&);

    contender_operation(line& l, op_code code_, std::string path_, contender_ptr c, handler h)
        : operation(code_, std::move(path_)),
          line_(l),
          contender_(std::move(c)),
          handler_(h) {}

private:
    void finished() noexcept override {
        line& l = line_;
        handler_(l, contender_, *this);
        --l.operations_;
        l.wake();
        delete this;
    }
    void abandoned() noexcept override { delete this; }

    line& line_;
    contender_ptr contender_;
    handler handler_;
};

class line::listing_operation final : public operation {
public:
    listing_operation(line& l, std::string directory)
        : operation(op_code::children, std::move(directory)),
          line_(l) {}

private:
    void finished() noexcept override {
        line& l = line_;
        l.listed(*this);
        --l.operations_;
        l.wake();
        delete this;
    }
    void abandoned() noexcept override { delete this; }

    line& line_;
};

/// Somebody else's contender, and the watch on it if the head waits for it.
class line::foreign_node final : public line_node, public watch_node {
public:
    foreign_node(line& l, std::string name)
        : line_node(false),
          line_(l),
          name_(std::move(name)) {}

    std::string path() const { return join_path(line_.settings().directory, name_); }

    /// Looks at it, and leaves a watch if it is there.
    void look() {
        if (look_) return;
        look_ = std::make_unique<look_operation>(*this);
        ++line_.operations_;
        line_.port_.start(*look_);
    }

    bool looking() const noexcept { return look_ != nullptr; }
    bool doomed() const noexcept { return doomed_; }

    /// The line forgot it while a look was on its way.
    void doom() noexcept { doomed_ = true; }

private:
    class look_operation final : public operation {
    public:
        explicit look_operation(foreign_node& f) : operation(op_code::get, f.path()), node_(f) {
            generation = f.line_.port_.status().generation;
            attach(f);
        }

    private:
        void finished() noexcept override {
            line& l = node_.line_;
            foreign_node& f = node_;
            l.foreign_looked_at(f, *this);  // destroys this, and perhaps the node
            --l.operations_;
            l.wake();
        }

        foreign_node& node_;
    };

    friend class line;

    void fired(watch_event_type) noexcept override { line_.confirm_foreign(*this); }
    void dropped(const error_code&) noexcept override {}

    line& line_;
    std::string name_;
    std::unique_ptr<look_operation> look_;
    bool doomed_ = false;
};

/// The entries ahead of one, the nearest first.
class line::walk final : public ahead_of {
public:
    walk(node_set& nodes, contender& c) : begin_(nodes.begin()), at_(nodes.iterator_to(c)) {}

    const line_entry* next() override {
        if (at_ == begin_) return nullptr;
        --at_;
        return &*at_;
    }

private:
    node_set::iterator begin_;
    node_set::iterator at_;
};

line::line(lines& owner, port& p, line_settings settings, std::string key)
    : lines_(owner),
      port_(p),
      settings_(std::make_shared<const line_settings>(std::move(settings))),
      key_(std::move(key)) {
    port_.subscribe(*this);
}

line::~line() {
    // Users may hold contenders for longer; they find the line gone.
    auto dismiss = [](contender& c) {
        c.line_ = nullptr;
        c.stage_ = contender::stage_type::gone;
        auto last = std::move(c.self_);
    };
    while (!waiting_.empty()) waiting_.pop_front();
    while (!creating_.empty()) {
        contender& c = creating_.front();
        creating_.pop_front();
        dismiss(c);
    }
    while (!nodes_.empty()) {
        line_node& n = *nodes_.begin();
        nodes_.erase(nodes_.begin());
        if (n.local()) {
            dismiss(static_cast<contender&>(n));
        } else {
            delete static_cast<foreign_node*>(&n);
        }
    }
}

template <class Operation, class... Args>
Operation& line::launch(Args&&... args) {
    auto* op = new Operation(*this, std::forward<Args>(args)...);
    ++operations_;
    return *op;
}

bool line::ask_again(const error_code& ec, std::uint64_t generation) const noexcept {
    return (is_recoverable(ec) || ec == errc::not_connected) && port_.alive(generation);
}

// ---------------------------------------------------------------------------------------------
// The life of a contender

std::shared_ptr<contender> line::enter(contender_request request, user_call<ownership> call) {
    auto c = std::make_shared<contender>(*this, std::move(request), std::move(call));
    // What the slot refers to may go before the call: a weak reference.
    c->call_->on_cancel([weak = std::weak_ptr(c)](cancellation_type) {
        if (auto cancelled = weak.lock()) cancelled->abandon(boost::asio::error::operation_aborted);
    });
    c->self_ = c;
    ++members_;
    creating_.push_back(*c);
    if (!next_to_create_) next_to_create_ = c.get();
    create_some();
    // Right behind the create, so that an uncontended line costs one round trip. Those behind a
    // local contender are not decided on before that one has gone.
    if (members_ == 1) look();
    return c;
}

/// In the order in which they came.
void line::create_some() {
    while (next_to_create_ && creates_ < creates_in_flight) {
        contender& c = *next_to_create_;
        auto following = std::next(creating_.iterator_to(c));
        next_to_create_ = following == creating_.end() ? nullptr : &*following;
        create(c.shared_from_this());
    }
}

/// @return whether the create was not sent yet, and never will be.
bool line::take_back(contender& c) noexcept {
    if (!c.creation_ || !port_.withdraw(*c.creation_)) return false;
    std::exchange(c.creation_, nullptr)->abandoned();
    --creates_;
    --operations_;
    return true;
}

void line::create(const contender_ptr& c) {
    c->asked_ = true;
    ++creates_;
    // A new guid for every attempt: what is found under an old one is never taken for this one.
    std::string guid = port_.new_guid();
    std::copy_n(guid.begin(), c->guid_.size(), c->guid_.begin());
    std::string name = settings_->names.format(guid, c->kind);
    auto& op = launch<contender_operation>(
        op_code::create, join_path(settings_->directory, name), c,
        [](line& l, contender_ptr who, operation& answer) { l.created(who, answer); });
    op.mode = create_mode::ephemeral_sequential;
    op.data = c->request_.data;
    op.entries = settings_->entries;
    c->creation_ = &op;
    port_.start(op);
}

void line::created(const contender_ptr& c, operation& answer) {
    c->creation_ = nullptr;
    --creates_;
    create_some();
    if (!answer.error) {
        c->generation_ = port_.status().generation;
        place(c, base_name(answer.answer), answer.record);
    } else if (is_outcome_unknown(answer.error)) {
        c->generation_ = answer.sent_in;
        ++operations_;
        port_.spawn(recover(c));
    } else if (answer.error == zk_errc::no_node && !c->abandoned_) {
        ++operations_;
        port_.spawn(create_in_new_folder(c));
    } else {
        fail(*c, answer.error);
    }
}

task<> line::create_in_new_folder(contender_ptr c) {
    error_code ec = co_await ensure_folder(port_, settings_->directory, settings_->entries);
    if (c->abandoned_ || ec) {
        fail(*c, ec ? ec : make_error_code(boost::asio::error::operation_aborted));
    } else {
        create(c);
        if (waiting_.empty()) look();
    }
    --operations_;
    wake();
}

/// The answer to the create was lost. If there is a node with our guid that belongs to our session,
/// it is ours, wanted or not; otherwise it was not created, and never will be.
task<> line::recover(contender_ptr c) {
    for (;;) {
        request listing(port_, op_code::children, settings_->directory);
        listing.generation = c->generation_;
        error_code ec = co_await listing;
        if (ask_again(ec, c->generation_)) continue;
        if (ec && ec != zk_errc::no_node) {
            fail(*c, ec);
            break;
        }
        std::string found;
        for (std::size_t i = 0; i < listing.names.size(); ++i) {
            auto name = settings_->names.parse(listing.names[i]);
            std::string stem = settings_->names.format(c->guid(), c->kind);
            if (name && listing.names[i].substr(0, stem.size()) == stem) found = listing.names[i];
        }
        if (!found.empty()) {
            request look_at(port_, op_code::exists, join_path(settings_->directory, found));
            look_at.generation = c->generation_;
            ec = co_await look_at;
            if (ask_again(ec, c->generation_)) continue;
            if (!ec && look_at.record.ephemeral_owner == port_.status().session_id) {
                place(c, found, look_at.record);
                break;
            }
            if (ec && ec != zk_errc::no_node) {
                fail(*c, ec);
                break;
            }
        }
        if (c->abandoned_) {
            fail(*c, boost::asio::error::operation_aborted);
        } else {
            create(c);
        }
        break;
    }
    --operations_;
    wake();
}

void line::place(const contender_ptr& c, std::string_view name, const stat& record) {
    auto parsed = settings_->names.parse(name);
    if (!parsed || record.ephemeral_owner != port_.status().session_id) {
        // Cannot be: the server names what it creates for us.
        fail(*c, zk_errc::runtime_inconsistency);
        return;
    }
    c->sequence_ = parsed->sequence;
    c->czxid_ = record.czxid;
    c->order = unwrap(parsed->sequence);
    c->stage_ = contender::stage_type::waiting;
    creating_.erase(creating_.iterator_to(*c));  // it was asked for: not the next to create
    nodes_.insert(*c);
    if (anything_covered_ && c->order == covered_ + 1) covered_ = c->order;
    auto at = waiting_.end();
    while (at != waiting_.begin() && std::prev(at)->order > c->order) --at;
    waiting_.insert(at, *c);
    if (c->request_.try_only) ++tries_;
    if (c->abandoned_) release(*c);
    wake();
}

/// The contender has no node, or none that we could reach.
void line::fail(contender& c, error_code reason) {
    auto keep = c.shared_from_this();
    c.timer_node::cancel();
    if (c.stage_ == contender::stage_type::creating) {
        auto following = creating_.erase(creating_.iterator_to(c));
        if (next_to_create_ == &c) {
            next_to_create_ = following == creating_.end() ? nullptr : &*following;
        }
        --members_;
        c.stage_ = contender::stage_type::gone;
        c.self_.reset();
    } else if (c.stage_ != contender::stage_type::gone) {
        remove(c);
    }
    if (c.call_) c.call_->fail(reason);
    c.call_.reset();
    wake();
}

void line::grant(contender& c) {
    waiting_.erase(waiting_.iterator_to(c));
    if (c.request_.try_only) --tries_;
    c.stage_ = contender::stage_type::granted;
    c.granted_at_ = port_.now();
    ++port_.counters().grants;
    port_.counters().wait_time += c.granted_at_ - c.asked_at_;
    c.timer_node::cancel();
    if (!c.watch_.armed()) port_.start_timer(c, c.granted_at_ + watch_delay);
    auto call = std::move(c.call_);
    call->complete(error_code(), ownership(port_.keep_alive(), c.shared_from_this()));
}

void line::prove(contender& c) {
    if (c.proving_) return;
    c.proving_ = true;
    auto& op = launch<contender_operation>(
        op_code::get, c.path(), c.shared_from_this(),
        [](line& l, contender_ptr who, operation& answer) { l.proved(*who, answer); });
    op.generation = c.generation_;
    op.attach(c.watch_);
    port_.start(op);
}

void line::proved(contender& c, operation& answer) {
    c.proving_ = false;
    bool concerned = c.stage_ == contender::stage_type::waiting ||
                     c.stage_ == contender::stage_type::granted;
    if (!concerned) return;
    if (!answer.error && answer.record.czxid == c.czxid_) return;
    if (ask_again(answer.error, c.generation_)) return;  // looked at again after the reconnect
    if (is_session_lost(answer.error)) return;           // the session's end settles it
    if (answer.error && answer.error != zk_errc::no_node) {
        if (c.stage_ == contender::stage_type::waiting) {
            auto keep = c.shared_from_this();
            if (c.call_) c.call_->fail(answer.error);
            release(c);
        }
        return;
    }
    // Erased by somebody else.
    auto keep = c.shared_from_this();
    bool granted = c.stage_ == contender::stage_type::granted;
    if (granted) {
        port_.counters().hold_time += port_.now() - c.granted_at_;
        remove(c);
        c.lose(errc::ownership_lost);
    } else {
        fail(c, errc::ownership_lost);
    }
}

/// By its holder, or by one who does not want to wait any more.
void line::release(contender& c) {
    if (c.stage_ == contender::stage_type::waiting) {
        waiting_.erase(waiting_.iterator_to(c));
        if (c.request_.try_only) --tries_;
    } else {
        port_.counters().hold_time += port_.now() - c.granted_at_;
        if (c.lost_call_) c.lost_call_->fail(boost::asio::error::operation_aborted);
    }
    c.stage_ = contender::stage_type::releasing;
    c.timer_node::cancel();
    erase(c);
    wake();
}

void line::erase(contender& c) {
    auto& op = launch<contender_operation>(
        op_code::erase, c.path(), c.shared_from_this(),
        [](line& l, contender_ptr who, operation& answer) { l.erased(*who, answer); });
    op.generation = c.generation_;
    port_.start(op);
}

void line::erased(contender& c, operation& answer) {
    if (c.stage_ != contender::stage_type::releasing) return;
    error_code result = answer.error;
    if (ask_again(result, c.generation_)) {
        if (is_outcome_unknown(result)) c.erase_unknown_ = true;
        erase(c);
        return;
    }
    if (result == zk_errc::no_node) {
        result = c.erase_unknown_ ? error_code() : make_error_code(errc::ownership_lost);
    } else if (result && !is_session_lost(result)) {
        stale_ = true;
        if (port_.logs(log_level::error)) {
            port_.log(log_level::error, "cannot erase " + answer.path + ": " + result.message() +
                                            "; those behind it wait until the session ends");
        }
    }
    auto call = std::move(c.release_call_);
    remove(c);
    if (call) call->complete(result);
}

void line::remove(contender& c) {
    if (c.stage_ == contender::stage_type::waiting) {
        waiting_.erase(waiting_.iterator_to(c));
        if (c.request_.try_only) --tries_;
    }
    nodes_.erase(nodes_.iterator_to(c));
    --members_;
    c.stage_ = contender::stage_type::gone;
    c.watch_.disarm();
    c.timer_node::cancel();
    wake();
    auto last = std::move(c.self_);
}

// ---------------------------------------------------------------------------------------------
// The line

std::int64_t line::unwrap(std::int32_t sequence) noexcept {
    if (!has_base_) {
        has_base_ = true;
        base_ = sequence;
    }
    return sequence_distance(base_, sequence);
}

void line::look() {
    if (listing_) return;
    listing_ = true;
    stale_ = false;
    auto& op = launch<listing_operation>(settings_->directory);
    port_.start(op);
}

void line::listed(operation& answer) {
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
            if (c->call_) c->call_->fail(answer.error);
            release(*c);
        }
        return;
    }
    merge_listing(answer);
    evaluating_listing_ = true;
    evaluate();
    evaluating_listing_ = false;
}

void line::merge_listing(const operation& answer) {
    ++listings_;
    // Local contenders by sequence; who is not among them is foreign.
    struct found {
        std::int64_t order;
        std::size_t index;
        std::uint8_t kind;
    };
    std::vector<found> listing;
    listing.reserve(answer.names.size());
    for (std::size_t i = 0; i < answer.names.size(); ++i) {
        if (auto name = settings_->names.parse(answer.names[i])) {
            listing.push_back({unwrap(name->sequence), i, name->kind});
        }
    }
    std::sort(listing.begin(), listing.end(),
              [](const found& a, const found& b) { return a.order < b.order; });

    // Both are in order: one pass. What is foreign and not listed has gone.
    auto next = nodes_.begin();
    auto pass = [&](std::int64_t limit, bool inclusive) {
        while (next != nodes_.end() &&
               (next->order < limit || (inclusive && next->order == limit))) {
            line_node& n = *next++;
            if (!n.local()) erase_foreign(static_cast<foreign_node&>(n));
        }
    };
    for (const found& f : listing) {
        pass(f.order, false);
        std::string_view name = answer.names[f.index];
        bool known = false;
        for (auto at = next; at != nodes_.end() && at->order == f.order; ++at) {
            if (at->local()) {
                auto& c = static_cast<contender&>(*at);
                std::string stem = settings_->names.format(c.guid(), c.kind);
                known = name.substr(0, stem.size()) == stem;
                if (known) c.listing_ = listings_;
            } else {
                known = static_cast<foreign_node&>(*at).name_ == name;
            }
            if (known) {
                // Keep it, and leave the others of this order to the next pass.
                if (at == next) ++next;
                break;
            }
        }
        if (known) continue;
        auto* foreign = new foreign_node(*this, std::string(name));
        foreign->order = f.order;
        foreign->kind = f.kind;
        nodes_.insert(next, *foreign);
    }
    pass(std::numeric_limits<std::int64_t>::max(), true);

    // Everything that was created before this answer is known now.
    std::int64_t newest = listing.empty() ? covered_ : listing.back().order;
    if (!nodes_.empty()) newest = std::max(newest, nodes_.rbegin()->order);
    covered_ = anything_covered_ ? std::max(covered_, newest) : newest;
    anything_covered_ = !listing.empty() || !nodes_.empty() || anything_covered_;

    // A local contender that is not listed was erased by somebody else.
    std::vector<contender_ptr> missing;
    for (line_node& n : nodes_) {
        if (!n.local()) continue;
        auto& c = static_cast<contender&>(n);
        bool there = c.listing_ == listings_ || c.stage_ == contender::stage_type::releasing;
        if (!there) missing.push_back(c.shared_from_this());
    }
    for (const auto& c : missing) prove(*c);
}

head_state line::examine(contender& c) {
    head_state s;
    s.connected = port_.alive(c.generation_) && port_.now() < port_.expiry_deadline();
    s.covered = anything_covered_ && c.order <= covered_;
    s.stale = stale_;
    s.proved = c.watch_.armed() || (evaluating_listing_ && c.listing_ == listings_);
    blockers_.clear();
    auto at = nodes_.iterator_to(c);
    bool follows = false;
    if (at != nodes_.begin() && std::prev(at)->local()) {
        const auto& ahead = static_cast<const contender&>(*std::prev(at));
        follows = ahead.stage_ == contender::stage_type::granted &&
                  settings_->rule->follows(ahead, c);
    }
    if (!follows) {
        walk ahead(nodes_, c);
        settings_->rule->blockers(ahead, c, blockers_);
    }
    s.blocked = !blockers_.empty();
    s.blocked_by_local = std::any_of(blockers_.begin(), blockers_.end(), [](const auto* e) {
        return static_cast<const line_node*>(e)->local();
    });
    return s;
}

void line::evaluate() {
    while (!waiting_.empty()) {
        contender& c = waiting_.front();
        head_state s = examine(c);
        bool refused = s.blocked && (s.blocked_by_local || !s.stale) && c.request_.try_only;
        if (refused) {
            c.abandon(errc::would_block);
            continue;
        }
        switch (decide(s)) {
            case head_step::grant: grant(c); continue;
            case head_step::prove: prove(c); break;
            case head_step::look: look(); break;
            case head_step::wait: watch_blockers(); break;
        }
        break;
    }
    if (tries_ > 0) refuse_tries();
}

/// Who would rather not wait, and is not even the first who waits.
void line::refuse_tries() {
    std::vector<contender_ptr> refused;
    for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
        if (at != waiting_.begin() && at->request_.try_only) {
            refused.push_back(at->shared_from_this());
        }
    }
    for (const auto& c : refused) c->abandon(errc::would_block);
}

void line::watch_blockers() {
    for (const line_entry* e : blockers_) {
        auto* n = const_cast<line_node*>(static_cast<const line_node*>(e));
        if (n->local()) continue;
        auto& f = static_cast<foreign_node&>(*n);
        if (!f.armed() && !f.looking()) f.look();
    }
}

/// Something happened to it. If it was the only one ahead, a look at it alone tells whether it has
/// gone; otherwise the listing tells more.
void line::confirm_foreign(foreign_node& f) {
    if (waiting_.empty()) return;
    std::size_t foreign_ahead = 0;
    for (auto at = nodes_.begin(); at != nodes_.end() && at->order < waiting_.front().order; ++at) {
        if (!at->local() && ++foreign_ahead > 1) break;
    }
    if (foreign_ahead == 1) {
        f.look();
    } else {
        stale_ = true;
        wake();
    }
}

void line::foreign_looked_at(foreign_node& f, operation& answer) {
    error_code ec = answer.error;
    f.look_.reset();
    if (f.doomed()) {
        delete &f;
        return;
    }
    if (ec == zk_errc::no_node) {
        erase_foreign(f);
    } else if (ec) {
        stale_ = true;
    }
}

void line::erase_foreign(foreign_node& f) noexcept {
    nodes_.erase(nodes_.iterator_to(f));
    f.disarm();
    if (f.looking()) {
        f.doom();
    } else {
        delete &f;
    }
}

void line::forget_foreign() noexcept {
    for (auto at = nodes_.begin(); at != nodes_.end();) {
        line_node& n = *at++;
        if (!n.local()) erase_foreign(static_cast<foreign_node&>(n));
    }
}

void line::session_changed(const session_status& status) noexcept {
    switch (status.state) {
        case session_state::connected: reconnected_ = true; break;
        case session_state::lost:
        case session_state::closed: session_over_ = true; break;
        default: break;
    }
    wake();
}

void line::wake() noexcept {
    port_.defer(*this);
}

void line::run() noexcept {
    if (session_over_) {
        session_over_ = false;
        error_code reason = port_.status().reason;
        std::vector<contender_ptr> over;
        for (line_node& n : nodes_) {
            if (!n.local()) continue;
            auto& c = static_cast<contender&>(n);
            if (!port_.alive(c.generation_)) over.push_back(c.shared_from_this());
        }
        if (!reason) reason = zk_errc::session_expired;
        for (const auto& c : over) {
            bool granted = c->stage_ == contender::stage_type::granted;
            auto release_call = std::move(c->release_call_);
            if (granted) port_.counters().hold_time += port_.now() - c->granted_at_;
            fail(*c, reason);
            if (granted) c->lose(reason);
            if (release_call) release_call->complete(reason);
        }
        forget_foreign();
        anything_covered_ = false;
        stale_ = true;
    }
    if (reconnected_) {
        reconnected_ = false;
        // Watches are set again by the session; what was asked and not answered is asked again.
        stale_ = true;
        for (line_node& n : nodes_) {
            if (!n.local()) continue;
            auto& c = static_cast<contender&>(n);
            if (c.stage_ == contender::stage_type::granted && !c.watch_.armed()) prove(c);
        }
    }
    evaluate();
    if (members_ == 0 && operations_ == 0) lines_.discard(std::string(key_));
}

lines::~lines() = default;

line& lines::get(const line_settings& settings) {
    std::string key = settings.directory;
    key += '\0';
    key += settings.names.before_guid;
    for (const std::string& infix : settings.names.infixes) (key += '\0') += infix;
    auto& slot = lines_[key];
    if (!slot) slot = std::make_unique<line>(*this, port_, settings, key);
    return *slot;
}

}  // namespace corozk::detail
