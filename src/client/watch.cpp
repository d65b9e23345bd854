// SPDX-License-Identifier: Apache-2.0
#include "client/user_watch.hpp"
#include <corozk/persistent_watch.hpp>
#include <corozk/watch.hpp>

#include <boost/asio/error.hpp>

#include <utility>

namespace corozk::detail {

void user_watch::next(watch_events::handler handler) {
    events_.next(*session_,
                 std::move(handler),
                 pending() || ending(),
                 std::shared_ptr<watch_events>(shared_from_this(), &events_));
}

void user_single_watch::drop() noexcept {
    if (armed()) {
        disarm();
        port& owner = absolute_ ? session_->whole() : *session_;
        owner.watch_dropped(kind_, path_);
    }
    events_.end(boost::asio::error::operation_aborted);
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
    events_.add(watch_event(watch_event_type::unknown, path()));
}

void user_persistent_watch::drop() noexcept {
    disarm();
    events_.end(boost::asio::error::operation_aborted);
}

any_watch& any_watch::operator=(any_watch&& other) noexcept {
    std::swap(impl_, other.impl_);
    if (auto last = this == &other ? nullptr : std::exchange(other.impl_, nullptr))
        last->drop();
    return *this;
}

/// An awaited `next` keeps an implementation alive.
any_watch::~any_watch() {
    if (auto last = std::exchange(impl_, nullptr))
        last->drop();
}

any_watch::executor_type any_watch::get_executor() const noexcept {
    return executor_of(impl_ ? impl_->owner() : nullptr);
}

bool any_watch::pending() const noexcept {
    return impl_ && impl_->pending();
}

std::string any_watch::path() const {
    return impl_ ? impl_->path() : std::string();
}

void any_watch::start_next(const std::shared_ptr<user_watch>& impl,
                           handler_of<watch_event> handler) {
    if (impl)
        return impl->next(std::move(handler));
    refuse(executor_of(nullptr), std::move(handler), zk_errc::no_watcher);
}

}  // namespace corozk::detail
