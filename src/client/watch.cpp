// SPDX-License-Identifier: Apache-2.0
#include "client/user_watch.hpp"
#include <corozk/watch.hpp>

namespace corozk {

namespace detail {

user_watch::~user_watch() {
    if (call_ && call_->waiting())
        call_->fail(boost::asio::error::operation_aborted);
    if (!armed())
        return;
    disarm();
    session_->watch_dropped(kind_, path_);
}

void user_watch::fired(watch_event_type type) noexcept {
    event_.emplace(type, path_);
    deliver();
}

void user_watch::dropped(const error_code& reason) noexcept {
    reason_ = reason;
    if (call_ && call_->waiting())
        call_->fail(reason);
    call_.reset();
}

void user_watch::deliver() {
    if (!event_ || !call_ || !call_->waiting())
        return;
    watch_event event = std::move(*event_);
    event_.reset();
    auto call = std::move(*call_);
    call_.reset();
    call.complete(error_code(), std::move(event));
}

void user_watch::next(any_handler<void(error_code, watch_event)> handler) {
    user_call<watch_event> call(*session_, std::move(handler));
    call.ahead_of_copies();
    if (call_ && call_->waiting())
        return call.fail(errc::busy);
    if (!pending() && !being_dropped())
        return call.fail(reason_);
    call_.emplace(std::move(call));
    // A weak reference: the slot may outlive the watch.
    call_->on_cancel([weak = weak_from_this()](cancellation_type) {
        auto self = weak.lock();
        if (!self || !self->call_)
            return;
        auto cancelled = std::move(*self->call_);
        self->call_.reset();
        cancelled.fail(boost::asio::error::operation_aborted);
    });
    deliver();
}

boost::asio::any_io_executor executor_of(const std::shared_ptr<user_watch>& w) noexcept {
    return executor_of(w ? w->owner() : nullptr);
}

}  // namespace detail

watch::watch() noexcept = default;
watch::watch(std::shared_ptr<detail::user_watch> impl) noexcept : impl_(std::move(impl)) {}
watch::watch(watch&&) noexcept = default;
watch& watch::operator=(watch&&) noexcept = default;
watch::~watch() = default;

bool watch::pending() const noexcept {
    return impl_ && impl_->pending();
}

std::string watch::path() const {
    return impl_ ? impl_->path() : std::string();
}

void watch::start_next(const std::shared_ptr<detail::user_watch>& impl,
                       detail::any_handler<void(error_code, watch_event)> handler) {
    if (impl)
        return impl->next(std::move(handler));
    detail::immediate_result<watch_event>(
        detail::fallback_executor(handler), std::move(handler), zk_errc::no_watcher, watch_event());
}

}  // namespace corozk
