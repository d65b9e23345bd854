// SPDX-License-Identifier: Apache-2.0
// The producers' side of a queue.
#include "driver/ensure_path.hpp"
#include "operation/path.hpp"
#include "recipe/queue/queue_impl.hpp"
#include "recipe/toolkit/delete_exact.hpp"

#include <algorithm>

namespace corozk::detail {

namespace {

/// What a transaction needs beside the data: paths, access control lists, the ledger's step.
constexpr std::size_t batch_overhead = 4096;
constexpr std::size_t overhead_per_item = 256;

/// Enough to be fast, and little enough not to hold up the server.
constexpr std::size_t items_per_request = 128;

}  // namespace

void queue_impl::enqueue(put_call p) {
    if (!names_.exist())
        return p.call->fail(errc::bad_option);
    if (p.items.empty())
        return p.call->complete(error_code());
    std::size_t acl_bytes = 0;
    for (const acl_entry& e : options_.acl)
        acl_bytes += e.scheme.size() + e.id.size() + 16;
    for (const auto& item : p.items) {
        if (!names_.allows(item.rank))
            return p.call->fail(errc::bad_option);
        p.bytes += item.data.size() + path_.size() + overhead_per_item + acl_bytes;
    }
    bool fits = p.bytes + batch_overhead <= port_.max_request_size();
    if (!fits || (options_.bound != 0 && p.items.size() > options_.bound)) {
        return p.call->fail(errc::too_large);
    }
    waiting_puts_.push_back(std::move(p));
    if (producing_) {
        put_wake_.set();
        return;
    }
    producing_ = true;
    port_.spawn(run_producers(shared_from_this()));
}

task<> queue_impl::run_producers(std::shared_ptr<queue_impl> self) {
    co_await self->produce();
    self->producing_ = false;
    if (self->stopped_)
        self->puts_.retire();
}

transaction::step queue_impl::creation(const basic_queue::new_item& item) const {
    transaction::step step;
    step.kind = transaction::step_kind::create;
    step.path = join_path(path_, names_.prefix(item.rank));
    step.data = item.data;
    step.mode = options_.ephemeral_items ? create_mode::ephemeral_sequential
                                         : create_mode::persistent_sequential;
    step.entries = options_.acl;
    return step;
}

void queue_impl::complete_puts(std::vector<put_call>& batch, error_code ec) {
    for (put_call& p : batch) {
        if (p.call->waiting())
            p.call->complete(ec);
    }
}

/// Takes items out again that were put after the deadline, unless somebody has them already.
task<> queue_impl::take_back(port& p, std::vector<std::string> items) {
    for (std::string& item : items) {
        bool erased = false;
        co_await erase_one(p, std::move(item), erased);
    }
}

/// Of a batch that was applied: what nobody has waited for long enough.
void queue_impl::take_late_back(const std::vector<put_call>& batch,
                                std::span<const transaction_result> created) {
    std::vector<std::string> late;
    for (const put_call& p : batch) {
        // Whose answer was lost, too, cannot be told any more.
        if (created.size() < p.items.size())
            break;
        for (const transaction_result& item : created.first(p.items.size())) {
            if (p.call->late())
                late.push_back(item.path);
        }
        created = created.subspan(p.items.size());
    }
    if (!late.empty())
        port_.spawn(take_back(port_, std::move(late)));
}

task<> queue_impl::produce() {
    session_signal states(port_, put_wake_);
    for (;;) {
        std::erase_if(waiting_puts_, [](const put_call& p) { return !p.call->waiting(); });
        if (waiting_puts_.empty())
            co_return;
        if (port_.status().state == session_state::closed) {
            for (put_call& p : waiting_puts_)
                p.call->fail(errc::closed);
            continue;
        }
        bool bounded = options_.bound != 0;
        if (bounded && (!bound_known_ || room_ < waiting_puts_.front().items.size())) {
            bound_known_ = false;
            if (error_code ec = co_await find_room()) {
                for (put_call& p : waiting_puts_) {
                    if (p.call->waiting())
                        p.call->fail(ec);
                }
            }
            continue;
        }

        std::vector<put_call> batch;
        std::vector<transaction::step> steps;
        std::size_t bytes = batch_overhead;
        if (bounded) {
            transaction::step mark;
            mark.kind = transaction::step_kind::set;
            mark.path = join_path(options_.control_path, "bound");
            mark.data = std::to_string(options_.bound);
            mark.version = bound_version_;
            steps.push_back(std::move(mark));
        }
        std::size_t count = 0;
        while (!waiting_puts_.empty()) {
            put_call& p = waiting_puts_.front();
            bool alone = batch.empty();
            if (!alone && count + p.items.size() > items_per_request)
                break;
            if (!alone && bytes + p.bytes > port_.max_request_size())
                break;
            if (bounded && count + p.items.size() > room_)
                break;
            for (const auto& item : p.items)
                steps.push_back(creation(item));
            count += p.items.size();
            bytes += p.bytes;
            batch.push_back(std::move(p));
            waiting_puts_.pop_front();
        }

        ledger_outcome outcome = co_await puts_.commit(std::move(steps));
        error_code ec = outcome.error;
        if (!ec) {
            if (bounded) {
                room_ -= count;
                bound_known_ = !outcome.blank;
                if (!outcome.blank)
                    bound_version_ = outcome.results.front().stat.version;
            }
            complete_puts(batch, ec);
            std::span<const transaction_result> created = outcome.results;
            take_late_back(batch, outcome.blank ? created.first(0) : created.subspan(bounded));
            continue;
        }
        bound_known_ = false;
        bool bound_moved = bounded && outcome.failed == 0 &&
                           (ec == zk_errc::bad_version || ec == zk_errc::no_node);
        if (ec == zk_errc::no_node && !bound_moved) {
            ec = co_await ensure_folder(port_, path_, options_.acl, create_mode::persistent);
        } else if (bound_moved || ec == zk_errc::session_expired) {
            ec = error_code();
        }
        if (ec && ec != zk_errc::session_expired) {
            complete_puts(batch, ec);
            continue;
        }
        // Again, in the old order.
        for (auto it = batch.rbegin(); it != batch.rend(); ++it) {
            waiting_puts_.push_front(std::move(*it));
        }
    }
}

/// Finds out the version that a put has to name and how many items it may add, or waits until there
/// may be room.
task<error_code> queue_impl::find_room() {
    std::string path = join_path(options_.control_path, "bound");
    // In this order: whatever another producer adds after the count changes the version.
    request bound(port_, op_code::get, path);
    request folder(port_, op_code::exists, path_);
    bound.send();
    folder.send();
    error_code ec = co_await bound;
    error_code folder_ec = co_await folder;
    if (ec == zk_errc::no_node) {
        request create(port_, op_code::create, path);
        create.data = std::to_string(options_.bound);
        create.entries = options_.acl;
        ec = co_await create;
        if (ec == zk_errc::no_node) {
            ec = co_await ensure_folder(port_, options_.control_path, options_.acl);
        }
        if (ec == zk_errc::node_exists)
            ec = error_code();
        if (is_recoverable(ec) || ec == zk_errc::session_expired)
            ec = error_code();
        co_return ec;
    }
    if (!ec && bound.answer != std::to_string(options_.bound)) {
        co_return make_error_code(errc::limit_mismatch);
    }
    std::size_t count = static_cast<std::size_t>(std::max(folder.record.num_children, 0));
    if (folder_ec == zk_errc::no_node) {
        folder_ec = error_code();
        count = 0;
    }
    if (!ec)
        ec = folder_ec;
    if (is_recoverable(ec) || ec == zk_errc::session_expired)
        co_return error_code();
    if (ec)
        co_return ec;

    auto set_room = [&](std::size_t present) {
        room_ = options_.bound > present ? options_.bound - present : 0;
        bound_known_ = room_ >= waiting_puts_.front().items.size();
        bound_version_ = bound.record.version;
    };
    set_room(count);
    if (bound_known_)
        co_return error_code();

    // Full. Those that do not want to wait go; the others wait for any change of the children.
    for (put_call& p : waiting_puts_) {
        if (p.no_wait && p.call->waiting())
            p.call->fail(errc::would_block);
    }
    if (!waiting_puts_.front().call->waiting())
        co_return error_code();
    watch_signal changed(put_wake_);
    request children(port_, op_code::children, path_);
    children.attach(changed);
    ec = co_await children;
    if (ec == zk_errc::no_node || worth_another_try(ec))
        co_return error_code();
    if (ec)
        co_return ec;
    set_room(children.names.size());
    while (!bound_known_ && changed.armed() && waiting_puts_.front().call->waiting() && !stopped_ &&
           port_.status().state != session_state::closed) {
        co_await put_wake_.wait();
        for (put_call& p : waiting_puts_) {
            if (p.no_wait && p.call->waiting())
                p.call->fail(errc::would_block);
        }
    }
    forget_watch(port_, changed, watch_kind::children, path_);
    co_return error_code();
}

}  // namespace corozk::detail
