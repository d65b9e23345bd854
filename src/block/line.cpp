// SPDX-License-Identifier: Apache-2.0
#include "block/line.hpp"

#include "block/janitor.hpp"
#include "block/limit.hpp"
#include "block/parents.hpp"
#include "block/recipe_core.hpp"
#include "session/path.hpp"
#include "session/request.hpp"
#include <corozk/tracer.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace corozk::detail {

namespace {

/// A lock that is given back sooner needs no watch on its node.
constexpr auto watch_delay = std::chrono::milliseconds(1);

/// Lines that nobody is in, kept for what they know of their folder's latest contender.
constexpr std::size_t idle_lines = 64;

/// Enough to keep the server busy; more would only cost memory.
constexpr std::size_t creates_in_flight = 1024;

}  // namespace

/// A request about one contender, which it keeps alive. Owns itself.
class line::contender_operation final : public operation {
public:
    using handler = void (*)(line&, contender_ptr, operation&);

    contender_operation(line& l, op_code code_, std::string path_, contender_ptr c, handler h)
        : operation(code_, std::move(path_)), line_(l), contender_(std::move(c)), handler_(h) {}

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

/// Erases a holder's node and checks that the next one's is there.
class line::hand_over_operation final : public operation {
public:
    hand_over_operation(line& l, contender_ptr from, contender_ptr to)
        : operation(op_code::multi, from->path()),
          line_(l),
          from_(std::move(from)),
          to_(std::move(to)) {
        transaction both;
        both.erase(path).check(to_->path());
        steps = both.steps();
    }

private:
    void finished() noexcept override {
        line& l = line_;
        l.handed_over(*from_, *to_, *this);
        --l.operations_;
        l.wake();
        delete this;
    }
    void abandoned() noexcept override { delete this; }

    line& line_;
    contender_ptr from_;
    contender_ptr to_;
};

class line::listing_operation final : public operation {
public:
    listing_operation(line& l, std::string directory)
        : operation(op_code::children, std::move(directory)), line_(l) {}

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
    foreign_node(line& l, std::string name) : line_node(false), line_(l), name_(std::move(name)) {}

    std::string path() const { return join_path(line_.settings().directory, name_); }

    /// Looks at it, and leaves a watch if it is there.
    void look() {
        if (look_)
            return;
        line_.watching_ = true;
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
    bool unreadable_ = false;  ///< for us
};

/// The entries ahead of one, the nearest first.
class line::walk final : public ahead_of {
public:
    walk(node_set& nodes, contender& c) : begin_(nodes.begin()), at_(nodes.iterator_to(c)) {}

    const line_entry* next() override {
        if (at_ == begin_)
            return nullptr;
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
      key_(std::move(key)),
      head_timer_(*this),
      limit_(settings_->fixed_limit),
      limit_watch_(*this),
      folder_watch_(*this) {
    port_.subscribe(*this);
}

line::~line() {
    // Users may hold contenders for longer; they find the line gone.
    auto dismiss = [](contender& c) {
        c.line_ = nullptr;
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
        if (auto cancelled = weak.lock())
            cancelled->abandon(boost::asio::error::operation_aborted);
    });
    c->self_ = c;
    ++members_;
    creating_.push_back(*c);
    if (!next_to_create_)
        next_to_create_ = c.get();
    create_some();
    // Right behind the create, so that an uncontended line costs one round trip. Those behind a
    // local contender are not decided on before that one has gone.
    if (members_ == releasing_ + 1) {
        // Where nobody else has come for a while the create alone will do.
        if (!(past_ && alone_))
            look();
        if (settings_->initial_limit > 0 && !limit_known_)
            look_for_limit();
    }
    return c;
}

void line::convert(const contender_ptr& c, std::uint8_t new_kind, user_call<> call) {
    if (c->converting_ || c->replacement())
        return call.fail(errc::busy);
    c->converting_ = true;
    ++operations_;
    auto shared = std::make_shared<user_call<>>(std::move(call));
    shared->on_cancel([weak = std::weak_ptr(shared)](cancellation_type type) {
        bool stops_waiting = (type & (cancellation_type::terminal | cancellation_type::partial)) !=
                             cancellation_type::none;
        auto cancelled = weak.lock();
        if (stops_waiting && cancelled)
            cancelled->fail(boost::asio::error::operation_aborted);
    });
    port_.spawn(conversion(c, new_kind, std::move(shared)));
}

task<> line::conversion(contender_ptr c, std::uint8_t new_kind, std::shared_ptr<user_call<>> call) {
    std::string guid = port_.new_guid();
    std::string old_path = c->path();
    std::string digits(old_path.substr(
        join_path(settings_->directory, settings_->names.format(c->guid(), c->kind, c->weight))
            .size()));
    std::string new_path = join_path(settings_->directory,
                                     settings_->names.format(guid, new_kind, c->weight) + digits);
    create_options how;
    how.mode = create_mode::ephemeral;
    if (!settings_->entries.empty())
        how.acl = &settings_->entries;
    error_code ec;
    bool unknown = false;
    std::int64_t created = 0;
    for (;;) {
        request multi(port_, op_code::multi, std::string());
        transaction steps;
        steps.create(new_path, c->request_.data, how).erase(old_path);
        multi.steps = steps.steps();
        multi.generation = c->generation_;
        ec = co_await multi;
        if (is_outcome_unknown(ec))
            unknown = true;
        if (ask_again(ec, c->generation_))
            continue;
        // The name is ours alone: an answer was lost.
        if (unknown && ec == zk_errc::node_exists)
            ec = error_code();
        if (ec)
            break;
        request look_at(port_, op_code::exists, new_path);
        look_at.generation = c->generation_;
        ec = co_await look_at;
        unknown = true;
        if (ask_again(ec, c->generation_))
            continue;
        created = look_at.record.czxid;
        break;
    }
    c->converting_ = false;
    bool there = c->stage_ == contender::stage_type::granted ||
                 c->stage_ == contender::stage_type::releasing;
    if (!ec && there) {
        std::copy_n(guid.begin(), c->guid_.size(), c->guid_.begin());
        c->kind = new_kind;
        c->czxid_ = created;
        c->watch_.disarm();
        // A listing may have shown it before we knew that it is ours.
        auto same = nodes_.lower_bound(*c);
        while (same != nodes_.end() && same->order == c->order) {
            line_node& n = *same++;
            if (!n.local() && static_cast<foreign_node&>(n).path() == new_path) {
                erase_foreign(static_cast<foreign_node&>(n));
            }
        }
    }
    if (ec == zk_errc::no_node)
        ec = errc::ownership_lost;
    if (c->stage_ == contender::stage_type::granted)
        prove(*c);
    if (c->stage_ == contender::stage_type::releasing)
        erase(*c);
    call->complete(ec);
    --operations_;
    wake();
}

void line::replace(const contender_ptr& c, contender_request request, user_call<ownership> call) {
    auto earlier = c->replacement();
    if (c->converting_ || (earlier && !earlier->abandoned_))
        return call.fail(errc::busy);
    auto later = enter(std::move(request), std::move(call));
    later->except = c->order;
    later->more().replaced = c;
    c->more().replacement = later;
    ++replacements_;
}

/// The two change places: what the user holds has the better one now, and the other one goes.
void line::granted_replacement(contender& c, user_call<ownership>& call) {
    auto held = std::move(c.extras_->replaced);
    held->extras_->replacement.reset();
    --replacements_;
    nodes_.erase(nodes_.iterator_to(c));
    nodes_.erase(nodes_.iterator_to(*held));
    c.except = no_order;
    std::swap(c.order, held->order);
    std::swap(c.kind, held->kind);
    std::swap(c.listing, held->listing);
    std::swap(c.coverage_, held->coverage_);
    std::swap(c.guid_, held->guid_);
    std::swap(c.sequence_, held->sequence_);
    std::swap(c.czxid_, held->czxid_);
    nodes_.insert(c);
    nodes_.insert(*held);
    c.watch_.disarm();
    held->watch_.disarm();
    prove(*held);
    release(c);
    call.complete(error_code(), ownership());
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
    if (!c.creation_ || !port_.withdraw(*c.creation_))
        return false;
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
    std::string name = settings_->names.format(guid, c->kind, c->weight);
    auto& op = launch<contender_operation>(
        op_code::create,
        join_path(settings_->directory, name),
        c,
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
        c->generation_ = answer.sent_in;
        place(c, base_name(answer.answer), answer.record);
        if (c->stage_ == contender::stage_type::waiting) {
            checked_ = c.get();
            evaluate();
            checked_ = nullptr;
        }
    } else if (is_outcome_unknown(answer.error)) {
        c->generation_ = answer.sent_in;
        unknown_.push_back(c);
        if (!recovering_) {
            recovering_ = true;
            ++operations_;
            port_.spawn(recover());
        }
    } else if (answer.error == zk_errc::no_node && !c->abandoned_) {
        ++operations_;
        port_.spawn(create_in_new_folder(c));
    } else {
        fail(*c, answer.error);
    }
}

task<> line::create_in_new_folder(contender_ptr c) {
    error_code ec = co_await ensure_folder(
        port_, settings_->directory, settings_->entries, settings_->folder_mode);
    if (c->abandoned_ || ec) {
        fail(*c, ec ? ec : make_error_code(boost::asio::error::operation_aborted));
    } else {
        create(c);
        if (waiting_.empty())
            look();
    }
    --operations_;
    wake();
}

/// The answers to some creates were lost. If there is a node with a contender's guid that belongs
/// to our session, it is ours, wanted or not. One listing for all of them.
task<> line::recover() {
    while (!unknown_.empty()) {
        auto generation = unknown_.front()->generation_;
        std::unordered_map<std::string, contender_ptr> lost;  // by stem
        std::erase_if(unknown_, [&](const contender_ptr& c) {
            if (c->generation_ != generation)
                return false;
            lost.emplace(settings_->names.format(c->guid(), c->kind, c->weight), c);
            return true;
        });
        // The new server may lag behind the one that got the create: let it catch up first.
        request sync(port_, op_code::sync, settings_->directory);
        request listing(port_, op_code::children, settings_->directory);
        sync.generation = listing.generation = generation;
        sync.send();
        listing.send();
        error_code ec = co_await sync;
        error_code listed = co_await listing;
        if (!ec)
            ec = listed;
        std::vector<std::pair<contender_ptr, std::unique_ptr<request>>> found;
        for (std::size_t i = 0; !ec && i < listing.names.size(); ++i) {
            auto name = settings_->names.parse(listing.names[i]);
            auto at = name ? lost.find(std::string(name->stem)) : lost.end();
            if (at == lost.end())
                continue;
            auto look_at = std::make_unique<request>(
                port_, op_code::exists, join_path(settings_->directory, listing.names[i]));
            look_at->generation = generation;
            look_at->send();
            found.emplace_back(std::move(at->second), std::move(look_at));
            lost.erase(at);
        }
        for (auto& [stem, c] : lost) {
            if (ask_again(ec, generation)) {
                unknown_.push_back(c);
            } else if (ec && ec != zk_errc::no_node) {
                fail(*c, ec);
            } else {
                not_created(c);
            }
        }
        for (auto& [c, owned_look] : found) {
            request& look_at = *owned_look;
            ec = co_await look_at;
            if (ask_again(ec, generation)) {
                unknown_.push_back(c);
            } else if (!ec && look_at.record.ephemeral_owner == port_.status().session_id) {
                place(c, base_name(look_at.path), look_at.record);
            } else if (!ec || ec == zk_errc::no_node) {
                not_created(c);
            } else {
                fail(*c, ec);
            }
        }
    }
    recovering_ = false;
    --operations_;
    wake();
}

/// A lost create has left no node, so far.
void line::not_created(const contender_ptr& c) {
    port_.use_service<janitor>().erase_late(settings_->directory,
                                            settings_->names.format(c->guid(), c->kind, c->weight),
                                            c->generation_);
    if (c->abandoned_) {
        fail(*c, boost::asio::error::operation_aborted);
    } else {
        create(c);
    }
}

void line::place(const contender_ptr& c, std::string_view name, const stat& record) {
    auto parsed = settings_->names.parse(name);
    if (!parsed || !parsed->ordered || record.ephemeral_owner != port_.status().session_id) {
        // Cannot be: the server names what it creates for us.
        fail(*c, zk_errc::runtime_inconsistency);
        return;
    }
    c->sequence_ = parsed->sequence;
    c->czxid_ = record.czxid;
    c->order = order_of(*parsed);
    base_ = c->sequence_;
    base_order_ = c->order;
    c->stage_ = contender::stage_type::waiting;
    creating_.erase(creating_.iterator_to(*c));  // it was asked for: not the next to create
    // A listing may have shown it before we knew that it is ours.
    for (auto same = nodes_.lower_bound(*c); same != nodes_.end() && same->order == c->order;) {
        line_node& n = *same++;
        if (!n.local() && is_at(n, *parsed, name))
            erase_foreign(static_cast<foreign_node&>(n));
    }
    auto here = nodes_.insert(*c);
    alone_ = here == nodes_.begin() && past_ && right_behind(*past_, c->sequence_, c->czxid_);
    if (alone_)
        c->coverage_ = coverage_;
    if (here != nodes_.begin()) {
        const line_node& before = *std::prev(here);
        bool next_to_it = before.local() && before.order + 1 == c->order;
        if (next_to_it)
            c->coverage_ = static_cast<const contender&>(before).coverage_;
    }
    // The session may have ended before it was found.
    if (!port_.alive(c->generation_))
        session_over_ = true;
    auto at = waiting_.end();
    while (at != waiting_.begin() && std::prev(at)->order > c->order)
        --at;
    waiting_.insert(at, *c);
    if (c->request_.try_only)
        ++tries_;
    if (c->abandoned_)
        release(*c);
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
        forget_replaced(c);
        c.stage_ = contender::stage_type::gone;
        c.self_.reset();
    } else if (c.stage_ != contender::stage_type::gone) {
        remove(c);
    }
    if (c.call_)
        c.call_->fail(reason);
    c.call_.reset();
    wake();
}

void line::hold_begins(contender& c) {
    auto asked_at = std::exchange(c.since_, port_.now());
    ++port_.counters().grants;
    port_.counters().wait_times.add(c.since_ - asked_at);
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

void line::hold_ends(contender& c, error_code reason) {
    port_.counters().hold_times.add(port_.now() - c.since_);
    auto span = c.extras_ ? std::exchange(c.extras_->span, 0) : 0;
    if (tracer* to = current_tracer(); to && span != 0)
        to->finished(span, reason);
}

void line::grant(contender& c) {
    waiting_.erase(waiting_.iterator_to(c));
    if (c.request_.try_only)
        --tries_;
    c.stage_ = contender::stage_type::granted;
    hold_begins(c);
    c.timer_node::cancel();
    if (!c.watch_.armed())
        port_.start_timer(c, c.since_ + watch_delay);
    auto call = std::move(c.call_);
    if (c.replaces())
        return granted_replacement(c, *call);
    call->complete(error_code(), ownership(port_.keep_alive(), c.shared_from_this()));
}

void line::prove(contender& c) {
    if (c.proving_ || c.converting_)
        return;
    c.proving_ = true;
    auto& op = launch<contender_operation>(
        op_code::get,
        c.path(),
        c.shared_from_this(),
        [](line& l, contender_ptr who, operation& answer) { l.proved(*who, answer); });
    op.generation = c.generation_;
    op.attach(c.watch_);
    port_.start(op);
}

void line::proved(contender& c, operation& answer) {
    c.proving_ = false;
    bool concerned =
        c.stage_ == contender::stage_type::waiting || c.stage_ == contender::stage_type::granted;
    if (!concerned)
        return;
    if (answer.path != c.path()) {
        // It has another node since.
        c.watch_.disarm();
        prove(c);
        return;
    }
    if (!answer.error && answer.record.czxid == c.czxid_) {
        c.inspect(answer);
        return;
    }
    if (ask_again(answer.error, c.generation_))
        return;  // looked at again after the reconnect
    if (is_session_lost(answer.error))
        return;  // the session's end settles it
    if (answer.error && answer.error != zk_errc::no_node) {
        if (c.stage_ == contender::stage_type::waiting) {
            auto keep = c.shared_from_this();
            if (c.call_)
                c.call_->fail(answer.error);
            release(c);
        }
        return;
    }
    // Erased by somebody else.
    distrust_sequences();
    auto keep = c.shared_from_this();
    bool granted = c.stage_ == contender::stage_type::granted;
    if (granted) {
        hold_ends(c, errc::ownership_lost);
        remove(c);
        c.held().lose(errc::ownership_lost);
    } else {
        fail(c, errc::ownership_lost);
    }
}

/// By its holder, or by one who does not want to wait any more.
void line::release(contender& c) {
    bool held = c.stage_ == contender::stage_type::granted;
    if (c.stage_ == contender::stage_type::waiting) {
        waiting_.erase(waiting_.iterator_to(c));
        if (c.request_.try_only)
            --tries_;
    } else {
        hold_ends(c, error_code());
        if (c.held_)
            c.held_->give_back();
    }
    c.stage_ = contender::stage_type::releasing;
    forget_replaced(c);
    ++releasing_;
    c.timer_node::cancel();
    erase(c, held);
    wake();
}

/// @param to_next  whether somebody may be granted what it gives back
void line::erase(contender& c, bool to_next) {
    if (c.converting_)
        return;  // first it must be clear which node it is
    erase_attached(c);
    if (to_next && !waiting_.empty()) {
        contender& next = waiting_.front();
        bool unproved = !next.watch_.armed() && !next.proving_;
        if (unproved && next.generation_ == c.generation_)
            return hand_over(c, next);
    }
    auto& op = launch<contender_operation>(
        op_code::erase,
        c.path(),
        c.shared_from_this(),
        [](line& l, contender_ptr who, operation& answer) { l.erased(*who, answer); });
    op.generation = c.generation_;
    port_.start(op);
}

/// Erases one node and makes sure of the next one's in one step: no request of its own for that.
void line::hand_over(contender& from, contender& to) {
    auto& op = launch<hand_over_operation>(from.shared_from_this(), to.shared_from_this());
    op.generation = from.generation_;
    port_.start(op);
}

void line::handed_over(contender& from, const contender& to, operation& answer) {
    if (from.stage_ != contender::stage_type::releasing)
        return;
    if (answer.error && !is_session_lost(answer.error)) {
        // Whatever it was, for example that the next one's node may not be read: by itself.
        if (is_outcome_unknown(answer.error))
            from.erase_unknown_ = true;
        erase(from);
        return;
    }
    checked_ = answer.error ? nullptr : &to;
    erased(from, answer);
    evaluate();
    checked_ = nullptr;
}

void line::erase_attached(contender& c) {
    if (!c.extras_)
        return;
    auto path = std::exchange(c.extras_->attached, {});
    if (!path.empty() && port_.alive(c.generation_))
        port_.use_service<janitor>().erase(std::move(path), c.generation_);
}

void line::erased(contender& c, operation& answer) {
    if (c.stage_ != contender::stage_type::releasing)
        return;
    error_code result = answer.error;
    if (ask_again(result, c.generation_)) {
        if (is_outcome_unknown(result))
            c.erase_unknown_ = true;
        erase(c);
        return;
    }
    if (result == zk_errc::no_node) {
        distrust_sequences();
        result = c.erase_unknown_ ? error_code() : make_error_code(errc::ownership_lost);
    } else if (result && !is_session_lost(result)) {
        distrust_sequences();  // it goes on as if it were somebody else's
        if (port_.logs(log_level::error)) {
            port_.log(log_level::error,
                      "cannot erase " + answer.path + ": " + result.message() +
                          "; those behind it wait until the session ends");
        }
    }
    bool nothing_ahead = c.coverage_ == coverage_ && nodes_.iterator_to(c) == nodes_.begin();
    if (!result && nothing_ahead)
        past_ = past_contender{c.sequence_, c.czxid_};
    auto call = std::move(c.release_call_);
    remove(c);
    if (call)
        call->complete(result);
}

/// It waits no more for a better place for another one; or it has no place that could be replaced.
void line::forget_replaced(contender& c) {
    if (auto later = c.replacement())
        later->abandon(errc::ownership_lost);
    erase_attached(c);
    if (!c.replaces())
        return;
    --replacements_;
    auto held = std::move(c.extras_->replaced);
    if (held->replacement().get() == &c)
        held->extras_->replacement.reset();
}

void line::remove(contender& c) {
    if (c.stage_ == contender::stage_type::waiting) {
        waiting_.erase(waiting_.iterator_to(c));
        if (c.request_.try_only)
            --tries_;
    }
    if (c.stage_ == contender::stage_type::releasing)
        --releasing_;
    forget_replaced(c);
    nodes_.erase(nodes_.iterator_to(c));
    --members_;
    c.stage_ = contender::stage_type::gone;
    c.line_ = nullptr;
    c.watch_.disarm();
    c.timer_node::cancel();
    wake();
    auto last = std::move(c.self_);
}

// ---------------------------------------------------------------------------------------------
// The line

/// Relative to our own latest contender: other names may be anything.
std::int64_t line::order_of(const node_name& name) noexcept {
    if (!name.ordered)
        return ahead_of_all;
    return base_order_ + sequence_distance(base_, name.sequence);
}

void line::look(bool watch) {
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
            if (c->call_)
                c->call_->fail(answer.error);
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
bool line::is_at(const line_node& n, const node_name& name, std::string_view text) const {
    if (!n.local())
        return static_cast<const foreign_node&>(n).name_ == text;
    const auto& c = static_cast<const contender&>(n);
    return c.kind == name.kind && settings_->names.is_written(c.guid(), name.guid);
}

void line::merge_listing(const operation& answer) {
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
        auto* foreign = new foreign_node(*this, std::string(f.text));
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
        line_node& n = *at++;
        if (!n.local()) {
            if (n.listing != listings_)
                erase_foreign(static_cast<foreign_node&>(n));
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

head_state line::examine(contender& c) {
    head_state s;
    s.connected = port_.alive(c.generation_) && port_.now() < port_.expiry_deadline();
    s.covered = c.coverage_ == coverage_;
    s.stale = stale_;
    s.proved =
        c.watch_.armed() || checked_ == &c || (evaluating_listing_ && c.listing == listings_);
    if (head_ != &c) {
        head_ = &c;
        head_is_patient_ = true;
        port_.start_timer(head_timer_, port_.now() + watch_delay);
    }
    s.patient = head_is_patient_;
    blockers_.clear();
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
        return static_cast<const line_node*>(e)->local();
    });
    return s;
}

void line::evaluate() {
    if (settings_->initial_limit > 0 && !limit_known_) {
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
            // What was known of others before it came may be out of date.
            if (s.blocked_by_local || c.listing != 0) {
                c.abandon(errc::would_block);
                continue;
            }
            blocked = false;
            look();
            break;
        }
        switch (decide(s)) {
            case head_step::grant:
                grant(c);
                continue;
            case head_step::prove:
                prove(c);
                if (s.blocked)
                    watch_blockers();
                break;
            case head_step::look:
                look();
                break;
            case head_step::wait:
                watch_blockers();
                break;
        }
        break;
    }
    // Whoever is behind one that is blocked is blocked.
    if (tries_ > 0 && blocked)
        refuse_tries();
}

/// Who would rather not wait, and is not even the first who waits.
void line::refuse_tries() {
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
void line::refuse_hopeless() {
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

void line::look_for_limit() {
    if (limit_asked_)
        return;
    limit_asked_ = true;
    ++operations_;
    port_.spawn(read_limit());
}

task<> line::read_limit() {
    std::int32_t found = 0;
    error_code ec = co_await find_limit(port_,
                                        settings_->directory,
                                        settings_->entries,
                                        settings_->folder_mode,
                                        settings_->initial_limit,
                                        &limit_watch_,
                                        found);
    limit_asked_ = false;
    if (!ec) {
        limit_ = found;
        limit_known_ = limit_watch_.armed();  // or it has changed since
        // Who asks for more than there is would block the others for ever.
        abandon_waiting(errc::bad_option, [found](const contender& c) { return c.weight > found; });
    } else if (!is_session_lost(ec) && ec != errc::not_connected) {
        abandon_waiting(ec, [](const contender&) { return true; });
    }
    --operations_;
    wake();
}

template <class Predicate>
void line::abandon_waiting(error_code reason, Predicate chosen) {
    std::vector<contender_ptr> abandoned;
    for (contender& c : waiting_) {
        if (chosen(c))
            abandoned.push_back(c.shared_from_this());
    }
    for (const auto& c : abandoned)
        c->abandon(reason);
}

void line::watch_blockers() {
    for (const line_entry* e : blockers_) {
        auto* n = const_cast<line_node*>(static_cast<const line_node*>(e));
        if (n->local())
            continue;
        auto& f = static_cast<foreign_node&>(*n);
        if (f.unreadable_) {
            if (!folder_watch_.armed())
                look(true);
        } else if (!f.armed() && !f.looking()) {
            f.look();
        }
    }
}

/// Something happened to it. If it was the only one ahead, a look at it alone tells whether it has
/// gone; otherwise the listing tells more.
void line::confirm_foreign(foreign_node& f) {
    if (waiting_.empty())
        return;
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

void line::foreign_looked_at(foreign_node& f, operation& answer) {
    error_code ec = answer.error;
    f.look_.reset();
    if (f.doomed()) {
        delete &f;
        return;
    }
    if (ec == zk_errc::no_node) {
        erase_foreign(f);
    } else if (ec == zk_errc::no_auth) {
        f.unreadable_ = true;
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
        if (!n.local())
            erase_foreign(static_cast<foreign_node&>(n));
    }
}

/// Nobody waits any more: what the server would tell of others is of no use.
void line::stop_watching() noexcept {
    watching_ = folder_watch_.arming();
    forget_watch(port_, folder_watch_, watch_kind::children, settings_->directory);
    for (line_node& n : nodes_) {
        if (n.local())
            continue;
        auto& f = static_cast<foreign_node&>(n);
        if (f.looking())
            watching_ = true;  // later
        if (!f.armed())
            continue;
        f.disarm();
        port_.watch_dropped(watch_kind::data, f.path());
    }
}

void line::session_changed(const session_status& status) noexcept {
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

void line::wake() noexcept {
    port_.defer(*this);
}

void line::run() noexcept {
    if (session_over_) {
        session_over_ = false;
        error_code reason = port_.status().reason;
        std::vector<contender_ptr> over;
        for (line_node& n : nodes_) {
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
        for (line_node& n : nodes_) {
            if (!n.local())
                continue;
            auto& c = static_cast<contender&>(n);
            if (c.stage_ == contender::stage_type::granted && !c.watch_.armed())
                prove(c);
        }
    }
    evaluate();
    if (watching_ && waiting_.empty())
        stop_watching();
    if (members_ == 0 && operations_ == 0) {
        forget_watch(port_, limit_watch_, watch_kind::data, settings_->directory);
        limit_known_ = false;
        lines_.retire(*this);
    }
}

lines::~lines() = default;

line& lines::get(const line_settings& settings) {
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
    // So do those who were told of another limit than the others.
    if (settings.fixed_limit > 0)
        key += '\0' + std::to_string(settings.fixed_limit);
    auto& slot = lines_[key];
    if (!slot)
        slot = std::make_unique<line>(*this, port_, settings, key);
    if (std::exchange(slot->idle_, false))
        idle_.remove(slot.get());
    return *slot;
}

void lines::retire(line& l) {
    if (!std::exchange(l.idle_, true))
        idle_.push_front(&l);
    l.forget_foreign();
    if (idle_.size() <= idle_lines)
        return;
    line& oldest = *idle_.back();
    idle_.pop_back();
    lines_.erase(std::string(oldest.key_));
}

}  // namespace corozk::detail
