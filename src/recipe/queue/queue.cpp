// SPDX-License-Identifier: Apache-2.0
// The public classes.
#include "recipe/queue/claim.hpp"
#include "recipe/queue/queue_impl.hpp"
#include "recipe/toolkit/forward_read.hpp"
#include "recipe/toolkit/retry.hpp"
#include <corozk/recipe/queue.hpp>

#include <algorithm>

namespace corozk {

namespace {

using call_kind = detail::consumer_call::kind;

detail::task<> run_count(std::shared_ptr<detail::queue_impl> queue,
                         detail::handler_of<std::size_t> handler) {
    detail::port& p = queue->get_port();
    detail::signal wake(p);
    detail::waiting_call<std::size_t> call(*queue, std::move(handler), wake);
    while (!call.over()) {
        detail::request exists(p, detail::op_code::exists, queue->path());
        error_code ec = co_await detail::read_forward(p, exists);
        if (detail::retry(p, detail::while_reachable).again(ec))
            continue;
        if (ec == zk_errc::no_node)
            ec = error_code();
        call.complete(ec, static_cast<std::size_t>(std::max(exists.record.num_children, 0)));
    }
}

/// Starts a consumer's call, or completes the handler with an error.
template <class Result>
void start_call(const std::shared_ptr<detail::queue_impl>& impl,
                detail::consumer_call::kind what,
                bool no_wait,
                detail::handler_of<Result> handler,
                time_limit limit = time_limit::for_ever()) {
    if (!detail::usable_at_path(impl, handler))
        return;
    detail::signal& wake = impl->consumer->wake();
    auto call = detail::make_call(impl->get_port(), wake, std::move(handler), limit);
    impl->consumer->enqueue({what, no_wait, std::move(call)});
}

template <class... Values>
auto call_of(detail::claim_impl& claim,
             detail::handler_of<Values...> handler,
             time_limit limit = time_limit::for_ever()) {
    return detail::make_call(claim.get_port(), claim.wake(), std::move(handler), limit);
}

/// Whether anything is claimed; if not, completes the handler.
template <class... Values>
bool is_claim(const std::shared_ptr<detail::claim_impl>& impl,
              detail::handler_of<Values...>& handler) {
    if (!impl)
        detail::refuse(impl, std::move(handler), errc::ownership_lost);
    return impl != nullptr;
}

}  // namespace

// ---------------------------------------------------------------------------------------------
// queue_claim

queue_claim::queue_claim(std::shared_ptr<detail::session_view> session, impl_ptr impl)
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

void queue_claim::start_acknowledge(const impl_ptr& impl,
                                    transaction extra,
                                    time_limit limit,
                                    handler_of<> handler) {
    if (is_claim(impl, handler) && detail::usable(impl, handler))
        impl->acknowledge(std::move(extra), call_of(*impl, std::move(handler), limit));
}

void queue_claim::start_release(const impl_ptr& impl, time_limit limit, handler_of<> handler) {
    if (is_claim(impl, handler) && detail::usable(impl, handler))
        impl->release(call_of(*impl, std::move(handler), limit));
}

void queue_claim::start_wait_lost(const impl_ptr& impl, handler_of<error_code> handler) {
    if (!is_claim(impl, handler))
        return;
    // That the client was closed is a reason for a loss.
    if (impl->stopped())
        return detail::refuse(impl, std::move(handler), boost::asio::error::operation_aborted);
    impl->wait_lost(call_of(*impl, std::move(handler)));
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
                            time_limit limit,
                            bool no_wait,
                            handler_of<> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    detail::signal& wake = impl->producer->wake();
    auto call = detail::make_call(impl->get_port(), wake, std::move(handler), limit);
    impl->producer->enqueue({std::move(items), rank, no_wait, std::move(call)});
}

void basic_queue::start_take(const impl_ptr& impl,
                             time_limit limit,
                             bool no_wait,
                             handler_of<queue_item> handler) {
    start_call(impl, call_kind::take, no_wait, std::move(handler), limit);
}

void basic_queue::start_peek(const impl_ptr& impl, handler_of<queue_item> handler) {
    start_call(impl, call_kind::peek, true, std::move(handler));
}

void basic_queue::start_consume(const impl_ptr& impl,
                                time_limit limit,
                                bool no_wait,
                                handler_of<queue_claim> handler) {
    start_call(impl, call_kind::consume, no_wait, std::move(handler), limit);
}

void basic_queue::start_count_items(const impl_ptr& impl, handler_of<std::size_t> handler) {
    detail::run_at_path(impl, std::move(handler), &run_count);
}

}  // namespace corozk
