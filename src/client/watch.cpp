// SPDX-License-Identifier: Apache-2.0
#include "client/user_watch.hpp"
#include <corozk/persistent_watch.hpp>
#include <corozk/watch.hpp>

#include <boost/asio/error.hpp>

#include <utility>

namespace corozk {

namespace detail {

namespace {

/// Starts `next` of an implementation.
template <class Watch>
void next_of(const std::shared_ptr<Watch>& impl, watch_events::handler handler) {
    if (impl)
        return impl->next(std::move(handler));
    immediate_result<watch_event>(
        fallback_executor(handler), std::move(handler), zk_errc::no_watcher, watch_event());
}

/// An awaited `next` keeps an implementation alive.
template <class Watch>
void give_up(std::shared_ptr<Watch>& impl) noexcept {
    if (auto last = std::exchange(impl, nullptr))
        last->drop();
}

template <class Watch>
void replace(std::shared_ptr<Watch>& impl, std::shared_ptr<Watch>& by) noexcept {
    if (&impl == &by)
        return;
    give_up(impl);
    impl = std::move(by);
}

}  // namespace

void user_watch::drop() noexcept {
    if (armed()) {
        disarm();
        port& owner = absolute_ ? session_->whole() : *session_;
        owner.watch_dropped(kind_, path_);
    }
    events_.end(boost::asio::error::operation_aborted);
}

void user_watch::next(watch_events::handler handler) {
    events_.next(*session_,
                 std::move(handler),
                 pending() || being_dropped(),
                 std::shared_ptr<watch_events>(shared_from_this(), &events_));
}

void user_persistent_watch::changed(watch_event_type type, const std::string& path) noexcept {
    constexpr std::size_t limit = 256UL * 1024;
    if (events_.bytes() + path.size() > limit)
        return interrupted();
    events_.add(watch_event(type, path));
}

/// What has been queued is a part of what is to be read again.
void user_persistent_watch::interrupted() noexcept {
    events_.clear();
    events_.add(watch_event(watch_event_type::unknown, path_));
}

void user_persistent_watch::drop() noexcept {
    disarm();
    events_.end(boost::asio::error::operation_aborted);
}

void user_persistent_watch::next(watch_events::handler handler) {
    events_.next(*session_,
                 std::move(handler),
                 pending(),
                 std::shared_ptr<watch_events>(shared_from_this(), &events_));
}

boost::asio::any_io_executor executor_of(const std::shared_ptr<user_watch>& w) noexcept {
    return executor_of(w ? w->owner() : nullptr);
}

boost::asio::any_io_executor executor_of(const std::shared_ptr<user_persistent_watch>& w) noexcept {
    return executor_of(w ? w->owner() : nullptr);
}

}  // namespace detail

watch::watch() noexcept = default;
watch::watch(std::shared_ptr<detail::user_watch> impl) noexcept : impl_(std::move(impl)) {}
watch::watch(watch&&) noexcept = default;
watch& watch::operator=(watch&& other) noexcept {
    detail::replace(impl_, other.impl_);
    return *this;
}
watch::~watch() {
    detail::give_up(impl_);
}

bool watch::pending() const noexcept {
    return impl_ && impl_->pending();
}

std::string watch::path() const {
    return impl_ ? impl_->path() : std::string();
}

void watch::start_next(const std::shared_ptr<detail::user_watch>& impl,
                       detail::any_handler<void(error_code, watch_event)> handler) {
    detail::next_of(impl, std::move(handler));
}

persistent_watch::persistent_watch() noexcept = default;
persistent_watch::persistent_watch(std::shared_ptr<detail::user_persistent_watch> impl) noexcept
    : impl_(std::move(impl)) {}
persistent_watch::persistent_watch(persistent_watch&&) noexcept = default;
persistent_watch& persistent_watch::operator=(persistent_watch&& other) noexcept {
    detail::replace(impl_, other.impl_);
    return *this;
}
persistent_watch::~persistent_watch() {
    detail::give_up(impl_);
}

bool persistent_watch::pending() const noexcept {
    return impl_ && impl_->pending();
}

std::string persistent_watch::path() const {
    return impl_ ? impl_->path() : std::string();
}

void persistent_watch::start_next(const std::shared_ptr<detail::user_persistent_watch>& impl,
                                  detail::any_handler<void(error_code, watch_event)> handler) {
    detail::next_of(impl, std::move(handler));
}

}  // namespace corozk
