// SPDX-License-Identifier: Apache-2.0
// How a contender comes into the line: its node is created, or found again when the answer was lost.
#include "driver/ensure_path.hpp"
#include "driver/request.hpp"
#include "recipe/contention/contention_queue_parts.hpp"
#include "recipe/toolkit/background_deleter.hpp"
#include "recipe/toolkit/retry.hpp"
#include "recipe/toolkit/synced_read.hpp"

#include <algorithm>
#include <utility>

namespace corozk::detail {

std::shared_ptr<contender> contention_queue::enter(contender_request request,
                                                   user_call<ownership> call) {
    auto c = std::make_shared<contender>(*this, std::move(request), std::move(call));
    // What the slot refers to may go before the call: a weak reference.
    c->call_.on_cancel([weak = std::weak_ptr(c)](cancellation_type) {
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
        if (lacks_limit())
            look_for_limit();
    }
    return c;
}

/// In the order in which they came.
void contention_queue::create_some() {
    while (next_to_create_ && creates_ < creates_in_flight) {
        contender& c = *next_to_create_;
        auto following = std::next(creating_.iterator_to(c));
        next_to_create_ = following == creating_.end() ? nullptr : &*following;
        create(c.shared_from_this());
    }
}

/// @return whether the create was not sent yet, and never will be.
bool contention_queue::take_back(contender& c) noexcept {
    if (!c.creation_ || !port_.withdraw(*c.creation_))
        return false;
    std::exchange(c.creation_, nullptr)->abandoned();
    --creates_;
    --operations_;
    return true;
}

void contention_queue::create(const contender_ptr& c) {
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
        [](contention_queue& q, contender_ptr who, operation& answer) { q.created(who, answer); });
    op.mode = create_mode::ephemeral_sequential;
    op.data = c->request_.data;
    op.entries = settings_->entries;
    c->creation_ = &op;
    port_.start(op);
}

void contention_queue::created(const contender_ptr& c, operation& answer) {
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

task<> contention_queue::create_in_new_folder(contender_ptr c) {
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
task<> contention_queue::recover() {
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
        request listing(port_, op_code::children, settings_->directory);
        listing.generation = generation;
        error_code ec = co_await behind_sync(port_, listing);
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
            if (ask_again(port_, generation, ec)) {
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
            if (ask_again(port_, generation, ec)) {
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
void contention_queue::not_created(const contender_ptr& c) {
    port_.use_service<janitor>().erase_late(settings_->directory,
                                            settings_->names.format(c->guid(), c->kind, c->weight),
                                            c->generation_);
    if (c->abandoned_) {
        fail(*c, boost::asio::error::operation_aborted);
    } else {
        create(c);
    }
}

void contention_queue::place(const contender_ptr& c, std::string_view name, const stat& record) {
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
        contention_node& n = *same++;
        if (!n.local() && is_at(n, *parsed, name))
            erase_foreign(static_cast<remote_node&>(n));
    }
    auto here = nodes_.insert(*c);
    alone_ = here == nodes_.begin() && past_ && right_behind(*past_, c->sequence_, c->czxid_);
    if (alone_)
        c->coverage_ = coverage_;
    if (here != nodes_.begin()) {
        const contention_node& before = *std::prev(here);
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
void contention_queue::fail(contender& c, error_code reason) {
    auto keep = c.shared_from_this();
    c.timer_node::cancel();
    if (c.stage_ == contender::stage_type::creating) {
        auto following = creating_.erase(creating_.iterator_to(c));
        if (next_to_create_ == &c) {
            next_to_create_ = following == creating_.end() ? nullptr : &*following;
        }
        --members_;
        forget_replaced(c);
        c.end();
        c.self_.reset();
        create_some();  // its create may have been taken back
    } else if (c.stage_ != contender::stage_type::gone) {
        remove(c);
    }
    auto call = std::move(c.call_);
    call.fail(reason);
    wake();
}

}  // namespace corozk::detail
