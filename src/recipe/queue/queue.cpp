// SPDX-License-Identifier: Apache-2.0
// The public classes.
#include "recipe/queue/claim.hpp"
#include "recipe/queue/queue_impl.hpp"
#include "recipe/toolkit/retry.hpp"
#include <corozk/recipe/queue.hpp>

#include <algorithm>

namespace corozk {

namespace {

using call_kind = detail::consumer_call::kind;

detail::task<> run_count(std::shared_ptr<detail::queue_impl> queue,
                         std::unique_ptr<detail::pending_call<std::size_t>> call) {
    for (;;) {
        detail::request exists(queue->owner(), detail::op_code::exists, queue->path());
        error_code ec = co_await exists;
        const bool again = detail::retry(queue->owner(), detail::while_reachable).again(ec);
        if (again && call->waiting() && !queue->stopped())
            continue;
        if (ec == zk_errc::no_node)
            ec = error_code();
        if (queue->stopped())
            ec = boost::asio::error::operation_aborted;
        call->complete(ec,
                       ec ? 0 : static_cast<std::size_t>(std::max(exists.record.num_children, 0)));
        co_return;
    }
}

/// Starts a consumer's call, or completes the handler with an error.
template <class Result>
void start_call(const std::shared_ptr<detail::queue_impl>& impl,
                detail::consumer_call::kind what,
                bool no_wait,
                detail::any_handler<void(error_code, Result)> handler,
                detail::time_point deadline = detail::time_point::max()) {
    if (!detail::ready_at_path(impl, handler))
        return;
    detail::signal& wake = impl->consumer->wake();
    auto call = detail::make_call(impl->owner(), wake, std::move(handler), deadline);
    impl->consumer->enqueue({what, no_wait, std::move(call)});
}

}  // namespace

// ---------------------------------------------------------------------------------------------
// queue_claim

queue_claim::queue_claim(std::shared_ptr<detail::session> session, impl_ptr impl)
    : recipe_object(std::move(session), impl->path(), impl) {}

const queue_item& queue_claim::item() const noexcept {
    static const queue_item none;
    return impl_ ? impl_->item() : none;
}

std::int64_t queue_claim::fencing_token() const noexcept {
    return impl_ ? impl_->token() : 0;
}

bool queue_claim::valid() const noexcept {
    return impl_ && impl_->valid();
}

void queue_claim::start_acknowledge(const impl_ptr& impl, transaction extra, handler_of<> handler) {
    if (!detail::ready(impl, handler))
        return;
    impl->acknowledge(std::move(extra),
                      detail::make_call(impl->owner(), impl->wake(), std::move(handler)));
}

void queue_claim::start_release(const impl_ptr& impl, handler_of<> handler) {
    if (detail::ready(impl, handler))
        impl->release(detail::make_call(impl->owner(), impl->wake(), std::move(handler)));
}

void queue_claim::start_wait_lost(const impl_ptr& impl, handler_of<> handler) {
    if (detail::ready(impl, handler))
        impl->wait_lost(detail::make_call(impl->owner(), impl->wake(), std::move(handler)));
}

// ---------------------------------------------------------------------------------------------
// basic_queue

basic_queue::basic_queue(const client& c,
                         std::string path,
                         queue_options options,
                         detail::queue_order order,
                         std::function<std::chrono::system_clock::time_point()> time)
    : recipe_object(c.implementation(),
                    std::move(path),
                    std::move(options),
                    order,
                    std::move(time),
                    std::weak_ptr(c.implementation())) {}

void basic_queue::start_put(const impl_ptr& impl,
                            std::vector<std::string> items,
                            std::int64_t rank,
                            clock::time_point deadline,
                            bool no_wait,
                            handler_of<> handler) {
    if (!detail::ready_at_path(impl, handler))
        return;
    detail::signal& wake = impl->producer->wake();
    auto call = detail::make_call(impl->owner(), wake, std::move(handler), deadline);
    impl->producer->enqueue({std::move(items), rank, no_wait, std::move(call)});
}

void basic_queue::start_take(const impl_ptr& impl,
                             clock::time_point deadline,
                             bool no_wait,
                             handler_of<queue_item> handler) {
    start_call(impl, call_kind::take, no_wait, std::move(handler), deadline);
}

void basic_queue::start_peek(const impl_ptr& impl, handler_of<queue_item> handler) {
    start_call(impl, call_kind::peek, true, std::move(handler));
}

void basic_queue::start_consume(const impl_ptr& impl,
                                clock::time_point deadline,
                                bool no_wait,
                                handler_of<queue_claim> handler) {
    start_call(impl, call_kind::consume, no_wait, std::move(handler), deadline);
}

void basic_queue::start_size(const impl_ptr& impl, handler_of<std::size_t> handler) {
    if (!detail::ready_at_path(impl, handler))
        return;
    auto call = detail::make_call(impl->owner(), impl->consumer->wake(), std::move(handler));
    impl->owner().spawn(run_count(impl, std::move(call)));
}

}  // namespace corozk
