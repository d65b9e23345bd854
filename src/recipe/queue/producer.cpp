// SPDX-License-Identifier: Apache-2.0
// Putting items: the recipe's sequential create, in a transaction that is applied exactly once.
#include "recipe/queue/producer.hpp"

#include "driver/request.hpp"
#include "operation/step_path.hpp"
#include "recipe/toolkit/background_deleter.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include "recipe/toolkit/retry.hpp"

#include <algorithm>
#include <iterator>

namespace corozk::detail {

namespace {

/// Deletes items that were put after the deadline, unless another client already has them.
task<> delete_items(port& p, std::vector<std::string> items) {
    for (std::string& item : items) {
        bool erased = false;
        co_await erase_one(p, nullptr, std::move(item), erased);
    }
}

/// Removes errors that a retry may resolve.
error_code unless_transient(error_code ec) {
    return is_transient(ec, while_reachable) ? error_code() : ec;
}

}  // namespace

void queue_producer::enqueue(put_call put) {
    const queue_options& options = settings_->options;
    const char* problem = settings_->names.problem_of(put.rank);
    if (!problem)
        problem = plain_mode_problem(options.mode);
    if (problem)
        return put.call->fail(
            port_.reject(errc::bad_option, "queue ", settings_->path, ": ", problem));
    if (put.items.empty())
        return put.call->complete(error_code());
    std::size_t overhead = settings_->path.size();
    for (const acl_entry& e : options.acl)
        overhead += e.scheme.size() + e.id.size() + 12;
    for (const std::string& data : put.items)
        put.bytes += data.size() + overhead;
    // Now, as far as that is certain: it might wait for capacity.
    const bool fits = put.bytes <= port_.max_request_size();
    if (!fits || (bounded() && put.items.size() > options.bound))
        return put.call->fail(errc::too_large);
    waiting_.push_back(std::move(put));
    start();
}

task<> queue_producer::serve() {
    session_signal states(port_, wake_);
    for (;;) {
        std::erase_if(waiting_, [](const put_call& put) { return !put.call->waiting(); });
        if (waiting_.empty())
            co_return;
        if (port_.status().state == session_state::closed) {
            fail(errc::closed);
            continue;
        }
        if (spent_) {
            if (error_code ec = co_await begin_sequence())
                fail(ec);
            continue;
        }
        if (bounded() && (!capacity_ || capacity_->left < waiting_.front().items.size())) {
            capacity_.reset();
            if (error_code ec = co_await find_capacity())
                fail(ec);
            continue;
        }
        in_flight_ = next_batch();
        transaction puts = transaction_of(in_flight_);
        exactly_once_outcome outcome =
            co_await exactly_once_.commit(std::move(puts).steps(), *this);
        if (!outcome.error) {
            applied(outcome);
        } else if (error_code ec = co_await refused(std::move(outcome))) {
            for (put_call& put : in_flight_)
                put.call->fail(ec);
        } else {
            waiting_.insert(waiting_.begin(),
                            std::move_iterator(in_flight_.begin()),
                            std::move_iterator(in_flight_.end()));
        }
        in_flight_.clear();
    }
}

bool queue_producer::waiting() const noexcept {
    return std::all_of(in_flight_.begin(), in_flight_.end(), [](const put_call& put) {
        return put.call->waiting();
    });
}

/// The first calls, as many as fit into one request; one that does not is refused when it is sent.
queue_producer::batch_type queue_producer::next_batch() {
    batch_type batch;
    transaction_room room(port_.max_request_size());
    std::size_t count = 0;
    while (!waiting_.empty()) {
        put_call& put = waiting_.front();
        count += put.items.size();
        const bool alone = singly_ > 0 && !batch.empty();
        if (alone || !room.take(put.items.size(), put.bytes))
            break;
        if (bounded() && count > capacity_->left)
            break;
        batch.push_back(std::move(put));
        waiting_.pop_front();
    }
    if (singly_ > 0)
        --singly_;
    return batch;
}

transaction queue_producer::transaction_of(const batch_type& batch) const {
    const queue_options& options = settings_->options;
    const create_options item_options{.mode = options.mode == create_mode::ephemeral
                                                  ? create_mode::ephemeral_sequential
                                                  : create_mode::persistent_sequential,
                                      .acl = &options.acl};
    transaction puts;
    if (bounded())
        puts.set(bound_path(), std::to_string(options.bound), capacity_->version);
    for (const put_call& put : batch) {
        const std::string path = settings_->item_path(settings_->names.prefix(put.rank));
        for (const std::string& data : put.items)
            puts.create(path, data, item_options);
    }
    return puts;
}

void queue_producer::applied(const exactly_once_outcome& outcome) {
    for (const put_call& put : in_flight_)
        put.call->complete(error_code());
    if (outcome.blank)
        return capacity_.reset();
    auto result = outcome.results.begin();
    if (bounded())
        capacity_->version = (result++)->stat.version;
    std::vector<std::string> late;  // items whose calls have ended at their deadlines
    for (const put_call& put : in_flight_) {
        if (bounded())
            capacity_->left -= put.items.size();
        for (std::size_t i = 0; i < put.items.size(); ++i, ++result) {
            spent_ = spent_ || spent(base_name(result->path));
            if (put.call->late())
                late.push_back(result->path);
        }
    }
    if (!late.empty())
        port_.spawn(delete_items(port_, std::move(late)));
}

/// @return no error: nothing was put, try again
task<error_code> queue_producer::refused(exactly_once_outcome outcome) {
    capacity_.reset();
    error_code ec = outcome.error;
    const bool not_there = ec == zk_errc::no_node;
    if (bounded() && outcome.failed == 0 && (ec == zk_errc::bad_version || not_there))
        co_return error_code();  // another producer has put items
    if (nobody_waited(ec))
        co_return error_code();
    if (ec == zk_errc::node_exists) {
        spent_ = true;  // an item has the highest number of all
        co_return make_error_code(errc::sequence_exhausted);
    }
    if (outcome.failed && in_flight_.size() > 1 && !not_there) {
        singly_ = in_flight_.size();
        co_return error_code();
    }
    if (!not_there)
        co_return ec;  // `connection_loss` as well: it may have been put
    ec = co_await create_parent(this);
    co_return unless_transient(unless_nobody_waited(ec));
}

/// Items that were put now would not be in order: the parent is replaced, once it is empty.
task<error_code> queue_producer::begin_sequence() {
    error_code ec = co_await detail::renew_parent(port_, settings_->path);
    if (ec == zk_errc::no_node)
        ec = error_code();
    if (!ec)
        spent_ = false;
    co_return unless_transient(ec);
}

/// Reads the version for the next put and counts the items; waits if there is no capacity.
task<error_code> queue_producer::find_capacity() {
    // In this order: a put by another producer after the count changes the version.
    request bound(port_, op_code::get, bound_path());
    request parent(port_, op_code::exists, settings_->path);
    bound.send();
    parent.send();
    error_code ec = co_await bound;
    error_code parent_ec = co_await parent;
    if (ec == zk_errc::no_node)
        co_return co_await create_bound();
    if (!ec && bound.answer != std::to_string(settings_->options.bound))
        co_return make_error_code(errc::limit_mismatch);
    if (!ec && parent_ec != zk_errc::no_node)
        ec = parent_ec;
    if (ec)
        co_return unless_transient(ec);
    std::int32_t items = parent_ec ? 0 : std::max(parent.record.num_children, 0);
    counted(static_cast<std::size_t>(items), bound.record.version);
    if (capacity_)
        co_return error_code();
    fail_those_that_cannot_wait();
    if (!waiting_.front().call->waiting())
        co_return error_code();
    co_return co_await wait_for_capacity(bound.record.version);
}

task<error_code> queue_producer::create_bound() {
    const queue_options& options = settings_->options;
    request create(port_, op_code::create, bound_path());
    create.data = std::to_string(options.bound);
    create.entries = options.acl;
    create.only_for(&waiting_.front().call->users_call());
    error_code ec = co_await create_with_parents(port_, create);
    if (ec == zk_errc::node_exists)
        ec = error_code();
    co_return unless_transient(unless_nobody_waited(ec));
}

/// The queue is full: waits for any change of its children.
task<error_code> queue_producer::wait_for_capacity(std::int32_t version) {
    watch_signal changed(wake_);
    request children(port_, op_code::children, settings_->path);
    children.attach(changed);
    error_code ec = co_await children;
    if (ec == zk_errc::no_node || is_transient(ec))
        co_return error_code();
    if (ec)
        co_return ec;
    counted(children.names.size(), version);
    while (!capacity_ && changed.armed() && waiting_.front().call->waiting() && !stopped() &&
           port_.status().state != session_state::closed) {
        co_await wake_.wait();
        fail_those_that_cannot_wait();
    }
    forget_watch(port_, changed, settings_->path, watch_kind::children);
    co_return error_code();
}

void queue_producer::counted(std::size_t items, std::int32_t version) {
    const std::size_t bound = settings_->options.bound;
    if (items + waiting_.front().items.size() <= bound)
        capacity_ = capacity{version, bound - items};
}

void queue_producer::fail(error_code ec) {
    for (put_call& put : in_flight_)
        put.call->fail(ec);
    for (put_call& put : waiting_)
        put.call->fail(ec);
}

void queue_producer::fail_those_that_cannot_wait() {
    for (put_call& put : waiting_) {
        if (put.no_wait)
            put.call->fail(errc::would_block);
    }
}

}  // namespace corozk::detail
