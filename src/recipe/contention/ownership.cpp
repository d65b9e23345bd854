// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/owned.hpp"
#include <corozk/ownership.hpp>

namespace corozk {

using namespace detail;

ownership::ownership() noexcept = default;
ownership::ownership(ownership&&) noexcept = default;

ownership::ownership(std::shared_ptr<void> keep_alive, owned_ptr impl) noexcept
    : executor_(impl->owner_port().executor()),
      keep_alive_(std::move(keep_alive)),
      impl_(std::move(impl)) {}

ownership& ownership::operator=(ownership&& other) noexcept {
    if (this != &other) {
        if (impl_)
            impl_->drop();
        impl_ = std::move(other.impl_);
        keep_alive_ = std::move(other.keep_alive_);
        executor_ = std::move(other.executor_);
    }
    return *this;
}

ownership::~ownership() {
    if (impl_)
        impl_->drop();
}

bool ownership::valid() const noexcept {
    return impl_ && impl_->valid();
}

std::string ownership::path() const {
    return impl_ ? impl_->path() : std::string();
}

std::int64_t ownership::fencing_token() const noexcept {
    return impl_ ? impl_->fencing_token() : 0;
}

namespace {

/// Whether anything is owned; if not, completes the handler.
template <class... Values>
bool is_owned(const std::shared_ptr<owned>& impl,
              const boost::asio::any_io_executor& executor,
              handler_of<Values...>& handler) {
    if (!impl)
        refuse(executor, std::move(handler), errc::ownership_lost);
    return impl != nullptr;
}

}  // namespace

void ownership::start_wait_lost(const callee& of, handler_of<error_code> handler) {
    if (is_owned(of.impl, of.owner.executor, handler))
        of.impl->wait_lost(user_call<error_code>(of.impl->owner_port(), std::move(handler)));
}

void ownership::start_wait_release_requested(const callee& of, handler_of<> handler) {
    if (is_owned(of.impl, of.owner.executor, handler))
        of.impl->wait_release_requested(user_call<>(of.impl->owner_port(), std::move(handler)));
}

void ownership::start_release(const std::shared_ptr<ownership>& held,
                              time_limit limit,
                              handler_of<> handler) {
    owned_ptr impl = std::move(held->impl_);
    if (is_owned(impl, held->get_executor(), handler))
        impl->release(user_call<>(impl->owner_port(), std::move(handler), limit));
}

void ownership::start_commit(const callee& of,
                             transaction steps,
                             handler_of<std::vector<transaction_result>> handler) {
    if (is_owned(of.impl, of.owner.executor, handler))
        guarded_commit({of.impl}, std::move(steps), std::move(handler));
}

void ownership::start_read(const callee& of, std::string path, handler_of<node_data> handler) {
    if (is_owned(of.impl, of.owner.executor, handler))
        synced_read(of.impl->owner_port(), std::move(path), std::move(handler));
}

}  // namespace corozk
