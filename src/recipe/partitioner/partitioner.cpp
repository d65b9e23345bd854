// SPDX-License-Identifier: Apache-2.0
#include "operation/path.hpp"
#include "recipe/contention/contention_rule.hpp"
#include "recipe/partitioner/core.hpp"
#include "recipe/toolkit/retry.hpp"
#include <corozk/recipe/partitioner.hpp>

#include <algorithm>
#include <utility>

namespace corozk {

namespace detail {

namespace {

std::vector<std::string> sorted(std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

}  // namespace

partitioner_impl::partitioner_impl(port& p,
                                   std::string path,
                                   std::vector<std::string> resources,
                                   partitioner_options options)
    : recipe_core(p, "partitioner", std::move(path)),
      resources_(sorted(std::move(resources))),
      options_(std::move(options)),
      decider_(lock_at(place("decider"))),
      wake_(p),
      decision_node_(p, this->path()),
      decider_wake_(p) {}

std::string partitioner_impl::place(const char* name) const {
    return join_path(path(), name);
}

contention_settings partitioner_impl::lock_at(std::string parent) const {
    contender_options options;
    options.acl = options_.acl;
    return settings_in_format(known_recipe::lock, the_exclusive_rule, std::move(parent), options);
}

std::unique_ptr<grant_request> partitioner_impl::ask(const contention_settings& where) {
    return std::make_unique<grant_request>(
        queue_of(get_port(), where), acquire_request(), name_, wake_);
}

/// Whether to ask for anything. Its name may belong to another session, which then is the member.
bool partitioner_impl::may_ask() const noexcept {
    const session_status& status = get_port().status();
    return joined() && get_port().alive(status.generation) &&
           status.state != session_state::read_only;
}

bool partitioner_impl::worth_another(const error_code& ec) noexcept {
    return ec == errc::ownership_lost || ec == zk_errc::not_read_only || is_transient(ec);
}

void partitioner_impl::wake_all() noexcept {
    wake_.set();
    decider_wake_.set();
    decision_node_.wake.set();
}

/// The public object is destroyed. What the user holds is its own, but should be given back.
void partitioner_impl::stop() noexcept {
    recipe_core::stop();
    wanted_ = false;
    next_name_.reset();
    own_ = nullptr;
    kept_.abandon();
    for (auto& [resource, c] : claims_) {
        if (c.delivered)
            c.delivered->request_release();
    }
    std::erase_if(claims_, [](const auto& one) { return one.second.delivered != nullptr; });
    wake_all();
}

void partitioner_impl::join(std::string name,
                            time_point deadline,
                            any_handler<void(error_code)> handler) {
    note_join();  // one that was just cancelled does not block the next one
    auto here = shared_from_this();
    port& p = get_port();
    if (busy())
        return refuse(here, std::move(handler), errc::busy);
    if (name.empty())
        name = p.new_guid();
    const bool good =
        is_node_name(name) && std::all_of(resources_.begin(), resources_.end(), [](const auto& r) {
            return is_node_name(r);
        });
    if (!good) {
        p.report(log_level::error, "partitioner: a name is not that of a node");
        return refuse(here, std::move(handler), errc::bad_path);
    }
    next_name_ = std::move(name);
    join_call_.emplace(*this, std::move(handler), wake_, deadline);
    begin_join();
    wake_.set();
    if (!std::exchange(running_, true))
        p.spawn(run(here));
}

/// Whether a user's call, or what it has achieved, is in the way of a `join`.
bool partitioner_impl::busy() const noexcept {
    return wanted_ || (join_call_ && !join_call_->over()) ||
           std::any_of(leave_calls_.begin(), leave_calls_.end(), [](const auto& call) {
               return !call.over();
           });
}

/// ... once what an earlier one has left, which was cancelled or has failed, is gone.
void partitioner_impl::begin_join() {
    if (!next_name_ || joining_ || leaving_)
        return;
    port& p = get_port();
    name_ = std::move(*next_name_);
    next_name_.reset();
    wanted_ = true;
    fatal_ = error_code();
    own_ = &kept_.at(p, join_path(place("members"), name_), options_.acl);
    own_->observe(wake_);
    joining_ = std::make_unique<inner_call<>>(p, wake_);
    own_->keep(std::string(), true, joining_->handler(), no_deadline);
}

void partitioner_impl::next(time_point deadline,
                            any_handler<void(error_code, partition_change)> handler) {
    auto here = shared_from_this();
    if (next_call_ && !next_call_->over())
        return refuse(here, std::move(handler), errc::busy);
    next_call_.emplace(*this, std::move(handler), wake_, deadline);
    wake_.set();
    if (!running_)
        tell();
}

void partitioner_impl::leave(any_handler<void(error_code)> handler) {
    if (!wanted_ && !next_name_)
        return refuse(shared_from_this(), std::move(handler), errc::not_a_member);
    if (std::exchange(next_name_, std::nullopt))
        join_call_->fail(boost::asio::error::operation_aborted);
    leave_calls_.emplace_back(*this, std::move(handler), wake_);
    withdraw();
}

void partitioner_impl::withdraw() {
    if (!std::exchange(wanted_, false))
        return;
    member_ = false;
    // Should it join again, then with what is read by then.
    decision_.clear();
    known_ = false;
    wake_all();
    if (!own_)
        return;
    leaving_ = std::make_unique<inner_call<>>(get_port(), wake_);
    own_->release(leaving_->handler());
}

/// It cannot remain a member.
void partitioner_impl::give_up(error_code reason) {
    if (!wanted_)
        return;
    fatal_ = reason;
    withdraw();
}

void partitioner_impl::note_join() {
    if (next_name_ && join_call_->over())
        next_name_.reset();  // cancelled or late
    if (!joining_)
        return;
    const bool over = next_name_ || join_call_->over();
    if (over && wanted_)
        withdraw();  // the same
    if (!joining_->done())
        return;
    error_code ec = joining_->error();
    joining_.reset();
    member_ = wanted_ && !ec;
    if (ec)
        wanted_ = false;
    if (!ec && !member_)
        ec = fatal_ ? fatal_ : make_error_code(boost::asio::error::operation_aborted);
    if (!over)
        join_call_->complete(ec);
}

/// Does not wait for the helpers, which may read, and so wait for a server.
void partitioner_impl::note_leave() {
    if (!leaving_ || !leaving_->done() || joining_ || candidacy_)
        return;
    const bool undelivered = std::any_of(
        claims_.begin(), claims_.end(), [](const auto& one) { return !one.second.delivered; });
    if (undelivered || !dismissed_.empty())
        return;
    const error_code ec = leaving_->error();
    leaving_.reset();
    for (auto& call : leave_calls_)
        call.complete(ec);
    leave_calls_.clear();
}

bool partitioner_impl::finished() const noexcept {
    return !wanted_ && !next_name_ && !joining_ && !leaving_ && !candidacy_ && !deciding_ &&
           !following_ && claims_.empty() && dismissed_.empty();
}

task<> partitioner_impl::run(std::shared_ptr<partitioner_impl> self) {
    partitioner_impl& me = *self;
    port& p = me.get_port();
    session_signal session(p, me.wake_);
    for (;;) {
        if (p.status().state == session_state::closed)
            me.give_up(errc::closed);
        me.note_join();
        if (me.wanted_ && me.member_ && !me.own_->wanted())
            me.give_up(me.own_->refusal());
        if (me.wanted_ && me.member_ && !std::exchange(me.following_, true))
            p.spawn(follow(self));
        me.campaign();
        me.pursue_claims();
        me.note_leave();
        me.begin_join();
        me.tell();
        if (me.finished())
            break;
        co_await me.wake_.wait();
    }
    me.running_ = false;
}

}  // namespace detail

partitioner::partitioner(const client& c,
                         std::string path,
                         std::vector<std::string> resources,
                         partitioner_options options)
    : recipe_object(c.implementation(), std::move(path), std::move(resources), std::move(options)) {
}

std::string partitioner::name() const {
    return impl_ ? impl_->name() : std::string();
}

bool partitioner::joined() const noexcept {
    return impl_ && impl_->joined();
}

void partitioner::start_join(const impl_ptr& impl,
                             std::string name,
                             time_limit limit,
                             handler_of<> handler) {
    if (detail::usable_at_path(impl, handler))
        impl->join(std::move(name), limit.from(impl->get_port().now()), std::move(handler));
}

void partitioner::start_next(const impl_ptr& impl,
                             time_limit limit,
                             handler_of<partition_change> handler) {
    if (detail::usable_at_path(impl, handler))
        impl->next(limit.from(impl->get_port().now()), std::move(handler));
}

void partitioner::start_leave(const impl_ptr& impl, handler_of<> handler) {
    if (detail::usable_at_path(impl, handler))
        impl->leave(std::move(handler));
}

}  // namespace corozk
