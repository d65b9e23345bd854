// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/fenced_commit.hpp"
#include "recipe/contention/owned.hpp"
#include <corozk/ownership.hpp>

namespace corozk {

using namespace detail;

ownership::ownership() noexcept = default;
ownership::ownership(ownership&&) noexcept = default;

ownership::ownership(std::shared_ptr<void> keep_alive, owned_ptr impl) noexcept
    : keep_alive_(std::move(keep_alive)), impl_(std::move(impl)) {}

ownership& ownership::operator=(ownership&& other) noexcept {
    if (this != &other) {
        if (impl_)
            impl_->drop();
        impl_ = std::move(other.impl_);
        keep_alive_ = std::move(other.keep_alive_);
    }
    return *this;
}

ownership::~ownership() {
    if (impl_)
        impl_->drop();
}

boost::asio::any_io_executor detail::executor_of(
    const callee<std::shared_ptr<void>, std::shared_ptr<owned>>& c) noexcept {
    return c.impl ? c.impl->owner_port().executor() : executor_of(nullptr);
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

void ownership::start_wait_lost(const owned_ptr& impl,
                                any_handler<void(error_code, error_code)> handler) {
    if (impl)
        return impl->wait_lost(user_call<error_code>(impl->owner_port(), std::move(handler)));
    immediate_result<error_code>(
        fallback_executor(handler), std::move(handler), errc::ownership_lost, error_code());
}

void ownership::start_wait_release_requested(const owned_ptr& impl,
                                             any_handler<void(error_code)> handler) {
    if (impl) {
        return impl->wait_release_requested(user_call<>(impl->owner_port(), std::move(handler)));
    }
    immediate_result<>(fallback_executor(handler), std::move(handler), errc::ownership_lost);
}

void ownership::start_release(const std::shared_ptr<ownership>& held, handler_of<> handler) {
    if (owned_ptr impl = std::move(held->impl_)) {
        return impl->release(user_call<>(impl->owner_port(), std::move(handler)));
    }
    immediate_result<>(fallback_executor(handler), std::move(handler), errc::ownership_lost);
}

void ownership::start_commit(
    const owned_ptr& impl,
    transaction steps,
    any_handler<void(error_code, std::vector<transaction_result>)> handler) {
    using results = std::vector<transaction_result>;
    if (!impl) {
        return immediate_result<results>(
            fallback_executor(handler), std::move(handler), errc::ownership_lost, results());
    }
    port& p = impl->owner_port();
    std::vector<owned_ptr> held{impl};
    p.spawn(guarded_commit(
        p, std::move(held), std::move(steps), user_call<results>(p, std::move(handler))));
}

void ownership::start_read(const owned_ptr& impl,
                           std::string path,
                           any_handler<void(error_code, node_data)> handler) {
    if (!impl) {
        return immediate_result<node_data>(
            fallback_executor(handler), std::move(handler), errc::ownership_lost, node_data());
    }
    port& p = impl->owner_port();
    p.spawn(synced_read(p, std::move(path), user_call<node_data>(p, std::move(handler))));
}

}  // namespace corozk
