// SPDX-License-Identifier: Apache-2.0
#include "driver/pending_call.hpp"
#include "recipe/contention/owned.hpp"
#include "recipe/toolkit/inner_call.hpp"
#include <corozk/recipe/multi_ownership.hpp>

#include <algorithm>
#include <memory>

namespace corozk {

using namespace detail;

namespace {

using loss_call = user_call<error_code, std::string>;

/// As used by a driver, which must not keep the session alive.
using named_parts = std::vector<std::pair<std::string, std::shared_ptr<owned>>>;

task<> wait_for_loss(port& p, named_parts parts, loss_call user) {
    signal wake(p);
    auto call = cancellable(std::move(user), any_cancellation, &wake);
    std::vector<std::unique_ptr<inner_call<error_code>>> losses;
    for (auto& [path, impl] : parts) {
        losses.push_back(std::make_unique<inner_call<error_code>>(p, wake));
        impl->wait_lost(user_call<error_code>(p, losses.back()->handler()));
    }
    while (call->waiting()) {
        for (std::size_t i = 0; i < losses.size() && call->waiting(); ++i) {
            inner_call<error_code>& loss = *losses[i];
            if (!loss.done())
                continue;
            if (loss.error())
                call->fail(loss.error());
            else
                call->complete(error_code(), loss.value(), parts[i].first);
        }
        if (call->waiting())
            co_await wake.wait();
    }
    for (auto& loss : losses)
        loss->cancel();
}

task<> release_all(port& p,
                   std::vector<std::shared_ptr<owned>> parts,
                   std::shared_ptr<pending_call<>> call) {
    signal wake(p);
    std::vector<std::unique_ptr<inner_call<>>> releases;
    for (auto& part : parts) {
        releases.push_back(std::make_unique<inner_call<>>(p, wake));
        part->release(user_call<>(p, releases.back()->handler()));
    }
    error_code result;
    for (auto& release : releases) {
        while (!release->done())
            co_await wake.wait();
        if (!result)
            result = release->error();
    }
    call->complete(result);
}

}  // namespace

multi_ownership::multi_ownership(std::vector<multi_part> parts) noexcept
    : parts_(std::move(parts)) {
    if (!parts_.empty())
        executor_ = parts_.front().held.get_executor();
}

bool multi_ownership::valid() const noexcept {
    return !parts_.empty() && std::all_of(parts_.begin(), parts_.end(), [](const multi_part& part) {
        return part.held.valid();
    });
}

ownership* multi_ownership::find(std::string_view path) noexcept {
    auto at = std::find_if(
        parts_.begin(), parts_.end(), [path](const multi_part& part) { return part.path == path; });
    return at == parts_.end() ? nullptr : &at->held;
}

std::int64_t multi_ownership::fencing_token(std::string_view path) const noexcept {
    const ownership* part = const_cast<multi_ownership*>(this)->find(path);
    return part ? part->fencing_token() : 0;
}

void multi_ownership::start_wait_lost(const callee& of,
                                      handler_of<error_code, std::string> handler) {
    const part_references& parts = of.impl;
    auto end_without_parts = [&](error_code ec, error_code reason, std::string path) {
        immediate_result<error_code, std::string>(
            of.owner, std::move(handler), ec, reason, std::move(path));
    };
    if (parts.empty())
        return end_without_parts(errc::ownership_lost, error_code(), std::string());
    named_parts watched;
    for (const part_reference& part : parts) {
        if (!part.impl)  // released or moved from individually
            return end_without_parts(error_code(), errc::ownership_lost, part.path);
        watched.emplace_back(part.path, part.impl);
    }
    port& p = parts.front().impl->owner_port();
    loss_call call(p, std::move(handler));
    call.ahead_of_copies();
    p.spawn(wait_for_loss(p, std::move(watched), std::move(call)));
}

void multi_ownership::start_release(const std::shared_ptr<multi_ownership>& held,
                                    time_limit limit,
                                    handler_of<> handler) {
    const multi_ownership last = std::move(*held);
    std::vector<std::shared_ptr<owned>> parts;
    for (const multi_part& part : last.parts_) {
        if (part.held)
            parts.push_back(part.held.implementation());
    }
    if (parts.empty())
        return refuse(last.get_executor(), std::move(handler), errc::ownership_lost);
    port& p = parts.front()->owner_port();
    auto call = cancellable(user_call<>(p, std::move(handler), limit), stops_waiting);
    p.spawn(release_all(p, std::move(parts), std::move(call)));
}

void multi_ownership::start_commit(const callee& of,
                                   transaction steps,
                                   handler_of<std::vector<transaction_result>> handler) {
    const part_references& parts = of.impl;
    bool complete = !parts.empty();
    std::vector<std::shared_ptr<owned>> held;
    for (const part_reference& part : parts) {
        complete = complete && part.impl;
        held.push_back(part.impl);
    }
    if (!complete)
        return refuse(of.owner, std::move(handler), errc::ownership_lost);
    guarded_commit(std::move(held), std::move(steps), std::move(handler));
}

}  // namespace corozk
