// SPDX-License-Identifier: Apache-2.0
// Listing items, watching for available ones, and reading the clock.
#include "recipe/queue/consumer.hpp"
#include "recipe/toolkit/forward_read.hpp"
#include "recipe/toolkit/recipe_core.hpp"

namespace corozk::detail {

task<error_code> queue_consumer::list(watch_signal* newcomers) {
    for (;;) {
        request children(port_, op_code::children, settings_->path);
        if (newcomers) {
            newcomers->disarm();
            children.attach(*newcomers);
        }
        index_.listing_begins();
        error_code ec = co_await read_forward(port_, children);
        if (ec == zk_errc::no_node) {
            ec = co_await create_parent(&calls_);
            if (!ec)
                continue;
        }
        if (ec) {
            index_.forget_listing();
            co_return unless_nobody_waited(ec);
        }
        parent_seen(children.record);
        index_.listed(std::move(children.names));
        read_clock();
        co_return error_code();
    }
}

/// No item is available: the listing was requested after the first calls, or all calls can wait for
/// the watch of the next one.
task<error_code> queue_consumer::wait_for_items() {
    calls_.fail_those_that_cannot_wait(errc::would_block, index_.last_call_before_listing());
    calls_.drop_finished();
    if (calls_.empty())
        co_return error_code();
    if (calls_.some_cannot_wait())
        co_return co_await list(nullptr);
    error_code ec = co_await watch_claims_elsewhere();
    if (!ec && (index_.is_outdated() || !newcomers_.armed()))
        ec = co_await list(&newcomers_);
    const std::uint64_t generation = port_.status().generation;
    index_.watch_begins();
    alarm next_due(port_, wake_);
    while (!calls_.empty() && !calls_.some_cannot_wait() && index_.is_waiting() &&
           newcomers_.armed() && !stopped() && generation == port_.status().generation &&
           port_.status().state != session_state::closed) {
        if (index_.next_due()) {
            next_due.set(port_.now() + *index_.next_due());
        } else {
            next_due.clear();
        }
        co_await wake_.wait();
        read_clock();
        calls_.drop_finished();
    }
    index_.watch_ended();
    if (!newcomers_.armed()) {
        // If there are competitors, they were all notified at the same time.
        index_.forget_listing();
        pause_next_ = backoff_.failures() > 0;
    }
    co_return ec;
}

/// An item is available again when it has no children, regardless of their creators.
/// @param most the maximum number of watches
task<error_code> queue_consumer::watch_claims_elsewhere(std::size_t most) {
    std::vector<claimed_item> items = index_.unwatched(most);
    std::vector<std::unique_ptr<request>> reads;
    for (const claimed_item& item : items) {
        std::string path = settings_->item_path(item.name);
        reads.push_back(std::make_unique<request>(port_, op_code::children, std::move(path)));
        reads.back()->attach(*item.watch);
        reads.back()->send();
    }
    error_code result;
    for (std::size_t i = 0; i < items.size(); ++i) {
        request& children = *reads[i];
        error_code ec = co_await children;
        const bool gone = ec == zk_errc::no_node;
        if (ec && !gone) {
            result = ec;
        } else if (gone || children.names.empty()) {
            forget_watch(port_, *items[i].watch, children.path, watch_kind::children);
            index_.claim_elsewhere_ended(items[i].name, gone);
        }
    }
    co_return result;
}

void queue_consumer::drop_claim_watches() {
    for (const claimed_item& item : index_.forget_claims_elsewhere())
        forget_watch(port_, *item.watch, settings_->item_path(item.name), watch_kind::children);
}

/// After an idle time or a lost connection: checks whether the parent is still the listed one.
task<error_code> queue_consumer::check_parent() {
    request exists(port_, op_code::exists, settings_->path);
    // A server without a quorum cannot sync.
    const bool synced = port_.status().state != session_state::read_only;
    error_code ec = co_await behind_sync(port_, exists, synced);
    if (ec && ec != zk_errc::no_node)
        co_return ec;
    if (parent_seen(exists.record))
        index_.forget_listing();
    co_return error_code();
}

/// @return whether it is a different one
bool queue_consumer::parent_seen(const stat& record) {
    const bool other = index_.parent_seen(record.czxid, port_.status().revision);
    if (other)
        drop_claim_watches();
    return other;
}

/// Unless the callers that were served call again at once.
void queue_consumer::doubt_parent_soon() {
    auto behind_them = [weak = weak_from_this()](error_code) {
        auto self = std::static_pointer_cast<queue_consumer>(weak.lock());
        if (self && !self->running())
            self->index_.doubt_parent();
    };
    port_.complete(bound_result<>::make(std::move(behind_them), error_code()));
}

/// Not after the public object was destroyed: objects that the clock uses may not exist any more.
void queue_consumer::read_clock() {
    if (clock_ && !stopped())
        index_.time_is(clock_());
}

}  // namespace corozk::detail
