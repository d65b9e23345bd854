// SPDX-License-Identifier: Apache-2.0
// From the public objects to what is behind them.
#include "driver/port.hpp"
#include "recipe/queue/queue_impl.hpp"
#include <corozk/recipe/queue.hpp>

#include <algorithm>

namespace corozk {

namespace detail {

queue_impl::queue_impl(port& p,
                       std::string path,
                       queue_options options,
                       queue_order order,
                       wall_clock clock)
    : port_(p),
      wake_(p),
      put_wake_(p),
      path_(std::move(path)),
      options_(std::move(options)),
      names_(options_.compatibility, order),
      clock_(std::move(clock)),
      takes_(p, options_.control_path, options_.acl),
      puts_(p, options_.control_path, options_.acl) {}

void queue_impl::stop() {
    stopped_ = true;
    constexpr auto aborted = boost::asio::error::operation_aborted;
    fail_consumers(aborted, false);
    for (put_call& p : waiting_puts_) {
        if (p.call->waiting())
            p.call->fail(aborted);
    }
    wake_.set();
    put_wake_.set();
    if (!consuming_)
        takes_.retire();
    if (!producing_)
        puts_.retire();
}

void queue_impl::count(std::unique_ptr<pending_call<std::size_t>> call) {
    port_.spawn(run_count(shared_from_this(), std::move(call)));
}

task<> queue_impl::run_count(std::shared_ptr<queue_impl> self,
                             std::unique_ptr<pending_call<std::size_t>> call) {
    for (;;) {
        request exists(self->port_, op_code::exists, self->path_);
        error_code ec = co_await exists;
        bool again = is_recoverable(ec) || ec == zk_errc::session_expired;
        if (again && call->waiting() && !self->stopped_)
            continue;
        if (ec == zk_errc::no_node)
            ec = error_code();
        std::size_t count = static_cast<std::size_t>(std::max(exists.record.num_children, 0));
        if (self->stopped_)
            ec = boost::asio::error::operation_aborted;
        call->complete(ec, ec ? 0 : count);
        co_return;
    }
}

}  // namespace detail

// ---------------------------------------------------------------------------------------------
// queue_claim

queue_claim::queue_claim() noexcept = default;

queue_claim::queue_claim(std::shared_ptr<detail::session> session,
                         std::shared_ptr<detail::claim_impl> impl) noexcept
    : recipe_object(std::move(session), std::move(impl)) {}

queue_claim::queue_claim(queue_claim&&) noexcept = default;
queue_claim& queue_claim::operator=(queue_claim&&) noexcept = default;
queue_claim::~queue_claim() = default;

namespace {

const queue_item& item_of(const std::shared_ptr<detail::claim_impl>& impl) noexcept {
    static const queue_item none;
    return impl ? impl->item() : none;
}

}  // namespace

const std::string& queue_claim::name() const noexcept {
    return item_of(impl_).name;
}

const std::string& queue_claim::data() const noexcept {
    return item_of(impl_).data;
}

std::int32_t queue_claim::priority() const noexcept {
    return item_of(impl_).priority;
}

const std::string& queue_claim::path() const noexcept {
    return impl_ ? impl_->path() : item_of(impl_).name;
}

std::int64_t queue_claim::fencing_token() const noexcept {
    return impl_ ? impl_->token() : 0;
}

std::chrono::system_clock::time_point queue_claim::due() const noexcept {
    return item_of(impl_).due;
}

bool queue_claim::valid() const noexcept {
    // Whoever gives it back does not know when somebody else has it.
    return impl_ && impl_->valid() && !impl_->given_back();
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
    impl->lost(detail::make_call(impl->owner(), impl->wake(), std::move(handler)));
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
    impl_ = std::make_shared<detail::queue_impl>(
        detail::port_of(*session_), path_, std::move(options), order, std::move(time));
    impl_->belongs_to(session_);
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
                            std::vector<new_item> items,
                            clock::time_point deadline,
                            bool no_wait,
                            handler_of<> handler) {
    if (!detail::ready_at_path(session, impl, handler))
        return;
    detail::queue_impl::put_call p;
    p.items = std::move(items);
    p.no_wait = no_wait;
    p.call = detail::make_call(impl->owner(), impl->producer_wake(), std::move(handler), deadline);
    impl->enqueue(std::move(p));
}

void basic_queue::start_take(const session_ptr& session,
                             const impl_ptr& impl,
                             clock::time_point deadline,
                             bool no_wait,
                             handler_of<queue_item> handler) {
    if (!detail::ready_at_path(session, impl, handler))
        return;
    detail::queue_impl::consumer c;
    c.no_wait = no_wait;
    c.item = detail::make_call(impl->owner(), impl->consumer_wake(), std::move(handler), deadline);
    impl->enqueue(std::move(c));
}

void basic_queue::start_peek(const session_ptr& session,
                             const impl_ptr& impl,
                             handler_of<queue_item> handler) {
    if (!detail::ready_at_path(session, impl, handler))
        return;
    detail::queue_impl::consumer c;
    c.what = detail::queue_impl::wanted::peek;
    c.no_wait = true;
    c.item = detail::make_call(impl->owner(), impl->consumer_wake(), std::move(handler));
    impl->enqueue(std::move(c));
}

void basic_queue::start_consume(const session_ptr& session,
                                const impl_ptr& impl,
                                clock::time_point deadline,
                                bool no_wait,
                                handler_of<queue_claim> handler) {
    if (!detail::ready_at_path(session, impl, handler))
        return;
    detail::queue_impl::consumer c;
    c.what = detail::queue_impl::wanted::consume;
    c.no_wait = no_wait;
    c.claim = detail::make_call(impl->owner(), impl->consumer_wake(), std::move(handler), deadline);
    impl->enqueue(std::move(c));
}

void basic_queue::start_size(const session_ptr& session,
                             const impl_ptr& impl,
                             handler_of<std::size_t> handler) {
    if (!detail::ready_at_path(session, impl, handler))
        return;
    impl->count(detail::make_call(impl->owner(), impl->consumer_wake(), std::move(handler)));
}

}  // namespace corozk
