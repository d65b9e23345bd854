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

/// The call of a handler; if nothing is owned, completes the handler and returns an empty call.
template <class... Values>
user_call<Values...> call_of(const std::shared_ptr<owned>& impl,
                             const boost::asio::any_io_executor& executor,
                             any_handler<void(error_code, Values...)> handler) {
    if (impl)
        return user_call<Values...>(impl->owner_port(), std::move(handler));
    immediate_result<Values...>(executor, std::move(handler), errc::ownership_lost, Values()...);
    return {};
}

template <class... Values>
user_call<Values...> call_of(const callee<holder, std::shared_ptr<owned>>& of,
                             any_handler<void(error_code, Values...)> handler) {
    return call_of(of.impl, of.owner.executor, std::move(handler));
}

}  // namespace

void ownership::start_wait_lost(const callee& of,
                                any_handler<void(error_code, error_code)> handler) {
    if (auto call = call_of(of, std::move(handler)); call.waiting())
        of.impl->wait_lost(std::move(call));
}

void ownership::start_wait_release_requested(const callee& of,
                                             any_handler<void(error_code)> handler) {
    if (auto call = call_of(of, std::move(handler)); call.waiting())
        of.impl->wait_release_requested(std::move(call));
}

void ownership::start_release(const std::shared_ptr<ownership>& held, handler_of<> handler) {
    owned_ptr impl = std::move(held->impl_);
    if (auto call = call_of(impl, held->get_executor(), std::move(handler)); call.waiting())
        impl->release(std::move(call));
}

void ownership::start_commit(
    const callee& of,
    transaction steps,
    any_handler<void(error_code, std::vector<transaction_result>)> handler) {
    auto call = call_of(of, std::move(handler));
    if (!call.waiting())
        return;
    port& p = of.impl->owner_port();
    std::vector<owned_ptr> held{of.impl};
    p.spawn(guarded_commit(p, std::move(held), std::move(steps), std::move(call)));
}

void ownership::start_read(const callee& of,
                           std::string path,
                           any_handler<void(error_code, node_data)> handler) {
    auto call = call_of(of, std::move(handler));
    if (!call.waiting())
        return;
    port& p = of.impl->owner_port();
    p.spawn(synced_read(p, std::move(path), std::move(call)));
}

}  // namespace corozk
