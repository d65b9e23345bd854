// SPDX-License-Identifier: Apache-2.0
#include "recipe/partitioner/participation.hpp"

#include "operation/path.hpp"

#include <utility>

namespace corozk::detail {

participation::participation(recipe_core& owner, std::string members, acl entries, signal& wake)
    : owner_(owner), members_(std::move(members)), entries_(std::move(entries)), wake_(wake) {}

bool participation::busy() {
    note_join();  // one that was just cancelled does not block the next one
    return wanted() || (join_call_ && !join_call_->over()) || leave_calls_.any();
}

void participation::join(std::string name, handler_type handler, time_limit limit) {
    next_name_ = std::move(name);
    join_call_.emplace(owner_, std::move(handler), wake_, limit);
    begin_join();
}

/// ... once what an earlier one has left, which was cancelled or has failed, is gone.
void participation::begin_join() {
    if (!next_name_ || joining_ || leaving_)
        return;
    port& p = owner_.get_port();
    name_ = std::move(*next_name_);
    next_name_.reset();
    stage_ = stage::joining;
    given_up_ = error_code();
    own_ = &kept_.at(p, join_path(members_, name_), entries_);
    own_->observe(wake_);
    joining_ = std::make_unique<inner_call<>>(p, wake_);
    own_->keep(std::string(), true, joining_->handler(), time_limit::for_ever());
}

void participation::note_join() {
    if (next_name_ && join_call_->over())
        next_name_.reset();  // cancelled or late
    if (joining_)
        note_joining();
    if (member() && !own_->wanted())
        give_up(own_->refusal());
}

void participation::note_joining() {
    const bool over = next_name_ || join_call_->over();
    if (over)
        withdraw();  // the same
    if (!joining_->done())
        return;
    error_code ec = joining_->error();
    joining_.reset();
    if (wanted())
        stage_ = ec ? stage::out : stage::member;
    else if (!ec)
        ec = given_up_ ? given_up_ : make_error_code(boost::asio::error::operation_aborted);
    if (!over)
        join_call_->complete(ec);
}

void participation::leave(handler_type handler, time_limit limit) {
    if (std::exchange(next_name_, std::nullopt))
        join_call_->fail(boost::asio::error::operation_aborted);
    leave_calls_.add(owner_, std::move(handler), wake_, limit);
    withdraw();
}

void participation::give_up(error_code reason) {
    if (!wanted())
        return;
    given_up_ = reason;
    withdraw();
}

void participation::withdraw() {
    if (!wanted())
        return;
    stage_ = stage::out;
    leaving_ = std::make_unique<inner_call<>>(owner_.get_port(), wake_);
    own_->release(leaving_->handler());
    wake_.set();
}

void participation::note_leave(bool settled) {
    if (!leaving_ || !leaving_->done() || joining_ || !settled)
        return;
    leave_calls_.complete(leaving_->error());
    leaving_.reset();
}

void participation::abandon() noexcept {
    stage_ = stage::out;
    next_name_.reset();
    own_ = nullptr;
    kept_.abandon();
}

std::string participation::name_asked_for() const {
    return wanted() ? name_ : next_name_.value_or(std::string());
}

error_code participation::reason() const noexcept {
    return given_up_ ? given_up_ : make_error_code(errc::not_a_member);
}

}  // namespace corozk::detail
