// SPDX-License-Identifier: Apache-2.0
// From the public objects to what is behind them.
#include "recipe/queue/claim.hpp"
#include "recipe/queue/queue_impl.hpp"
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
        const bool again = is_recoverable(ec) || ec == zk_errc::session_expired;
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

/// The call of a consumer, if it can be made; otherwise the handler has been completed.
template <class Result>
void start_call(const std::shared_ptr<detail::session>& session,
                const std::shared_ptr<detail::queue_impl>& impl,
                detail::consumer_call::kind what,
                bool no_wait,
                detail::any_handler<void(error_code, Result)> handler,
                detail::time_point deadline = detail::time_point::max()) {
    if (!detail::ready_at_path(session, impl, handler))
        return;
    detail::consumer_call call;
    call.what = what;
    call.no_wait = no_wait;
    call.result =
        detail::make_call(impl->owner(), impl->consumer->wake(), std::move(handler), deadline);
    impl->consumer->enqueue(std::move(call));
}

}  // namespace

// ---------------------------------------------------------------------------------------------
// queue_claim

queue_claim::queue_claim() noexcept = default;

queue_claim::queue_claim(std::shared_ptr<detail::session> session,
                         std::shared_ptr<detail::claim_impl> impl) noexcept
    : recipe_object(std::move(session), std::move(impl)) {}

queue_claim::queue_claim(queue_claim&&) noexcept = default;
queue_claim& queue_claim::operator=(queue_claim&&) noexcept = default;
queue_claim::~queue_claim() = default;

const queue_item& queue_claim::item() const noexcept {
    static const queue_item none;
    return impl_ ? impl_->item() : none;
}

const std::string& queue_claim::path() const noexcept {
    return impl_ ? impl_->path() : name();
}

std::int64_t queue_claim::fencing_token() const noexcept {
    return impl_ ? impl_->token() : 0;
}

bool queue_claim::valid() const noexcept {
    return impl_ && impl_->valid();
}

void queue_claim::start_acknowledge(const session_ptr& session,
                                    const impl_ptr& impl,
                                    transaction extra,
                                    plain_handler handler) {
    if (!detail::ready(session, impl, handler))
        return;
    impl->acknowledge(std::move(extra),
                      detail::make_call(impl->owner(), impl->wake(), std::move(handler)));
}

void queue_claim::start_release(const session_ptr& session,
                                const impl_ptr& impl,
                                plain_handler handler) {
    if (!detail::ready(session, impl, handler))
        return;
    impl->release(detail::make_call(impl->owner(), impl->wake(), std::move(handler)));
}

void queue_claim::start_wait_lost(const session_ptr& session,
                                  const impl_ptr& impl,
                                  plain_handler handler) {
    if (!detail::ready(session, impl, handler))
        return;
    impl->wait_lost(detail::make_call(impl->owner(), impl->wake(), std::move(handler)));
}

// ---------------------------------------------------------------------------------------------
// basic_queue

basic_queue::basic_queue(const client& c,
                         std::string path,
                         queue_options options,
                         detail::queue_order order,
                         std::function<std::chrono::system_clock::time_point()> time)
    : recipe_object(c.implementation()), path_(std::move(path)) {
    if (options.control_path.empty())
        options.control_path = path_ + "-control";
    if (!session_)
        return;
    const detail::queue_names names(options.compatibility, order);
    impl_ = std::make_shared<detail::queue_impl>(
        detail::port_of(*session_),
        detail::queue_settings{path_, std::move(options), names},
        std::move(time),
        session_);
}

basic_queue::basic_queue() noexcept = default;
basic_queue::basic_queue(basic_queue&&) noexcept = default;
basic_queue::~basic_queue() = default;

basic_queue& basic_queue::operator=(basic_queue&& other) noexcept {
    recipe_object::operator=(std::move(other));
    path_.swap(other.path_);  // which may be the same object
    return *this;
}

void basic_queue::start_put(const session_ptr& session,
                            const impl_ptr& impl,
                            std::vector<std::string> items,
                            std::int64_t rank,
                            clock::time_point deadline,
                            bool no_wait,
                            handler_of<> handler) {
    if (!detail::ready_at_path(session, impl, handler))
        return;
    detail::queue_producer::put_call put;
    put.items = std::move(items);
    put.rank = rank;
    put.no_wait = no_wait;
    put.call =
        detail::make_call(impl->owner(), impl->producer->wake(), std::move(handler), deadline);
    impl->producer->enqueue(std::move(put));
}

void basic_queue::start_take(const session_ptr& session,
                             const impl_ptr& impl,
                             clock::time_point deadline,
                             bool no_wait,
                             handler_of<queue_item> handler) {
    start_call(session, impl, call_kind::take, no_wait, std::move(handler), deadline);
}

void basic_queue::start_peek(const session_ptr& session,
                             const impl_ptr& impl,
                             handler_of<queue_item> handler) {
    start_call(session, impl, call_kind::peek, true, std::move(handler));
}

void basic_queue::start_consume(const session_ptr& session,
                                const impl_ptr& impl,
                                clock::time_point deadline,
                                bool no_wait,
                                handler_of<queue_claim> handler) {
    start_call(session, impl, call_kind::consume, no_wait, std::move(handler), deadline);
}

void basic_queue::start_size(const session_ptr& session,
                             const impl_ptr& impl,
                             handler_of<std::size_t> handler) {
    if (!detail::ready_at_path(session, impl, handler))
        return;
    auto call = detail::make_call(impl->owner(), impl->consumer->wake(), std::move(handler));
    impl->owner().spawn(run_count(impl, std::move(call)));
}

}  // namespace corozk
