// SPDX-License-Identifier: Apache-2.0
// Putting items: the recipe's sequential create, in a transaction that is applied exactly once.
#include "recipe/queue/producer.hpp"

#include "driver/ensure_path.hpp"
#include "driver/request.hpp"
#include "recipe/toolkit/delete_exact.hpp"
#include "recipe/toolkit/recipe_core.hpp"

#include <algorithm>
#include <iterator>
#include <span>

namespace corozk::detail {

namespace {

/// What a transaction needs besides the data: paths, ACLs, the ledger's step.
constexpr std::size_t batch_overhead = 4096;
constexpr std::size_t overhead_per_item = 256;

/// Enough to be fast, and little enough not to hold up the server.
constexpr std::size_t items_per_request = 128;

/// Deletes items that were put after the deadline, unless another client has them already.
task<> delete_items(port& p, std::vector<std::string> items) {
    for (std::string& item : items) {
        bool erased = false;
        co_await erase_one(p, std::move(item), erased);
    }
}

/// Errors that the next attempt may not meet.
error_code unless_transient(error_code ec) {
    return is_recoverable(ec) || ec == zk_errc::session_expired ? error_code() : ec;
}

std::size_t count_items(const std::vector<queue_producer::put_call>& batch) {
    std::size_t count = 0;
    for (const auto& put : batch)
        count += put.items.size();
    return count;
}

}  // namespace

queue_producer::queue_producer(port& p, std::shared_ptr<const queue_settings> settings)
    : port_(p),
      settings_(std::move(settings)),
      wake_(p),
      puts_(p, settings_->options.control_path, settings_->options.acl) {}

void queue_producer::stop() {
    const bool idle = state_ == driver_state::idle;
    state_ = idle ? driver_state::stopped : driver_state::stopping;
    fail(boost::asio::error::operation_aborted);
    wake_.set();
    if (idle)
        puts_.retire();
}

void queue_producer::enqueue(put_call put) {
    const queue_options& options = settings_->options;
    if (!settings_->names.exist())
        return put.call->fail(errc::bad_option);
    if (put.items.empty())
        return put.call->complete(error_code());
    std::size_t acl_bytes = 0;
    for (const acl_entry& e : options.acl)
        acl_bytes += e.scheme.size() + e.id.size() + 16;
    for (const auto& item : put.items) {
        if (!settings_->names.allows(item.rank))
            return put.call->fail(errc::bad_option);
        put.bytes += item.data.size() + settings_->path.size() + overhead_per_item + acl_bytes;
    }
    const bool fits = put.bytes + batch_overhead <= port_.max_request_size();
    if (!fits || (bounded() && put.items.size() > options.bound))
        return put.call->fail(errc::too_large);
    waiting_.push_back(std::move(put));
    if (state_ != driver_state::idle)
        return wake_.set();
    state_ = driver_state::running;
    port_.spawn(run(shared_from_this()));
}

task<> queue_producer::run(std::shared_ptr<queue_producer> self) {
    co_await self->produce();
    const bool stopped = is_stopped(self->state_);
    if (stopped)
        self->puts_.retire();
    self->state_ = stopped ? driver_state::stopped : driver_state::idle;
}

task<> queue_producer::produce() {
    session_signal states(port_, wake_);
    for (;;) {
        std::erase_if(waiting_, [](const put_call& put) { return !put.call->waiting(); });
        if (waiting_.empty())
            co_return;
        if (port_.status().state == session_state::closed) {
            fail(errc::closed);
            continue;
        }
        if (bounded() && (!capacity_ || capacity_->left < waiting_.front().items.size())) {
            capacity_.reset();
            if (error_code ec = co_await find_capacity())
                fail(ec);
            continue;
        }
        std::vector<put_call> batch = next_batch();
        std::vector<transaction::step> steps = steps_of(batch);
        ledger_outcome outcome = co_await puts_.commit(std::move(steps));
        if (!outcome.error) {
            applied(batch, outcome);
            continue;
        }
        error_code ec = co_await refused(std::move(outcome));
        if (ec) {
            for (put_call& put : batch)
                put.call->fail(ec);
            continue;
        }
        waiting_.insert(
            waiting_.begin(), std::move_iterator(batch.begin()), std::move_iterator(batch.end()));
    }
}

/// The first calls, as many as one request has room for.
std::vector<queue_producer::put_call> queue_producer::next_batch() {
    std::vector<put_call> batch;
    std::size_t bytes = batch_overhead;
    std::size_t count = 0;
    while (!waiting_.empty()) {
        put_call& put = waiting_.front();
        count += put.items.size();
        bytes += put.bytes;
        if (!batch.empty() && (count > items_per_request || bytes > port_.max_request_size()))
            break;
        if (bounded() && count > capacity_->left)
            break;
        batch.push_back(std::move(put));
        waiting_.pop_front();
    }
    return batch;
}

std::vector<transaction::step> queue_producer::steps_of(const std::vector<put_call>& batch) const {
    const queue_options& options = settings_->options;
    std::vector<transaction::step> steps;
    if (bounded()) {
        transaction::step& mark = steps.emplace_back();
        mark.kind = transaction::step_kind::set;
        mark.path = bound_path();
        mark.data = std::to_string(options.bound);
        mark.version = capacity_->version;
    }
    for (const put_call& put : batch) {
        for (const new_queue_item& item : put.items) {
            transaction::step& create = steps.emplace_back();
            create.kind = transaction::step_kind::create;
            create.path = settings_->item_path(settings_->names.prefix(item.rank));
            create.data = item.data;
            create.mode = options.ephemeral_items ? create_mode::ephemeral_sequential
                                                  : create_mode::persistent_sequential;
            create.entries = options.acl;
        }
    }
    return steps;
}

void queue_producer::applied(const std::vector<put_call>& batch, const ledger_outcome& outcome) {
    if (bounded() && !outcome.blank) {
        capacity_->left -= count_items(batch);
        capacity_->version = outcome.results.front().stat.version;
    } else {
        capacity_.reset();
    }
    for (const put_call& put : batch)
        put.call->complete(error_code());
    if (!outcome.blank)
        delete_late(batch, outcome);
}

/// Nothing was put.
/// @return no error: it is to be tried again
task<error_code> queue_producer::refused(ledger_outcome outcome) {
    capacity_.reset();
    error_code ec = outcome.error;
    const bool not_there = ec == zk_errc::no_node;
    if (bounded() && outcome.failed == 0 && (ec == zk_errc::bad_version || not_there))
        co_return error_code();  // another producer has put something
    if (not_there)
        ec = co_await ensure_folder(
            port_, settings_->path, settings_->options.acl, create_mode::persistent);
    co_return ec == zk_errc::session_expired ? error_code() : ec;
}

/// Deletes what was put although its calls had ended at their deadlines.
void queue_producer::delete_late(const std::vector<put_call>& batch,
                                 const ledger_outcome& outcome) {
    std::vector<std::string> late;
    auto created = outcome.results.begin() + (bounded() ? 1 : 0);
    for (const put_call& put : batch) {
        for (std::size_t i = 0; i < put.items.size(); ++i, ++created) {
            if (put.call->late())
                late.push_back(created->path);
        }
    }
    if (!late.empty())
        port_.spawn(delete_items(port_, std::move(late)));
}

/// Reads the version that a put has to name and counts the items; or waits until there may be room.
task<error_code> queue_producer::find_capacity() {
    // In this order: whatever another producer adds after the count changes the version.
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
    co_return co_await wait_for_capacity(bound.record.version);
}

task<error_code> queue_producer::create_bound() {
    request create(port_, op_code::create, bound_path());
    create.data = std::to_string(settings_->options.bound);
    create.entries = settings_->options.acl;
    error_code ec = co_await create;
    if (ec == zk_errc::no_node)
        ec = co_await ensure_folder(port_, settings_->options.control_path, settings_->options.acl);
    if (ec == zk_errc::node_exists)
        ec = error_code();
    co_return unless_transient(ec);
}

/// The queue is full: waits for any change of its children.
task<error_code> queue_producer::wait_for_capacity(std::int32_t version) {
    if (!waiting_.front().call->waiting())
        co_return error_code();
    watch_signal changed(wake_);
    request children(port_, op_code::children, settings_->path);
    children.attach(changed);
    error_code ec = co_await children;
    if (ec == zk_errc::no_node || worth_another_try(ec))
        co_return error_code();
    if (ec)
        co_return ec;
    counted(children.names.size(), version);
    while (!capacity_ && changed.armed() && waiting_.front().call->waiting() &&
           state_ == driver_state::running && port_.status().state != session_state::closed) {
        co_await wake_.wait();
        fail_those_that_cannot_wait();
    }
    forget_watch(port_, changed, watch_kind::children, settings_->path);
    co_return error_code();
}

void queue_producer::counted(std::size_t items, std::int32_t version) {
    const std::size_t bound = settings_->options.bound;
    if (items + waiting_.front().items.size() <= bound)
        capacity_ = capacity{version, bound - items};
}

void queue_producer::fail(error_code ec) {
    for (put_call& put : waiting_)
        put.call->fail(ec);
}

void queue_producer::fail_those_that_cannot_wait() {
    for (put_call& put : waiting_) {
        if (put.no_wait)
            put.call->fail(errc::would_block);
    }
}

std::string queue_producer::bound_path() const {
    return join_path(settings_->options.control_path, "bound");
}

}  // namespace corozk::detail
