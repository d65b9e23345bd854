// SPDX-License-Identifier: Apache-2.0
// Which items there are: lists them, watches what could make one available, and reads the clock.
#include "driver/ensure_path.hpp"
#include "recipe/queue/consumer.hpp"
#include "recipe/toolkit/recipe_core.hpp"

#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace corozk::detail {

task<error_code> queue_consumer::list(watch_signal* newcomers) {
    for (;;) {
        request children(port_, op_code::children, settings_->path);
        if (newcomers)
            children.attach(*newcomers);
        index_.listing_begins();
        error_code ec = co_await children;
        if (ec == zk_errc::no_node) {
            ec = co_await ensure_folder(
                port_, settings_->path, settings_->options.acl, create_mode::persistent);
            if (!ec)
                continue;
        }
        if (ec) {
            index_.forget_listing();
            co_return ec;
        }
        parent_seen(children.record);
        index_.listed(std::move(children.names));
        read_clock();
        co_return error_code();
    }
}

/// No item is available: either the listing was requested after all calls, or those that wait may as
/// well wait for the watch of the next one.
task<error_code> queue_consumer::wait_for_items() {
    calls_.fail_those_that_cannot_wait(errc::would_block);
    calls_.drop_finished();
    if (calls_.empty())
        co_return error_code();
    watch_signal newcomers(wake_);
    constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
    error_code ec = co_await watch_claims_elsewhere(all);
    if (!ec)
        ec = co_await list(&newcomers);
    const std::uint64_t generation = port_.status().generation;
    index_.watch_begins();
    alarm next_due(port_, wake_);
    while (!calls_.empty() && index_.is_waiting() && newcomers.armed() && !stopped() &&
           generation == port_.status().generation &&
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
    if (!newcomers.armed())
        index_.forget_listing();
    forget_watch(port_, newcomers, watch_kind::children, settings_->path);
    co_return ec;
}

/// An item is available again when it has no children any more, whoever created them.
/// @param most  so many are watched
task<error_code> queue_consumer::watch_claims_elsewhere(std::size_t most) {
    struct claims_read {
        claims_read(port& p, claimed_item item_, std::string path)
            : item(std::move(item_)), children(p, op_code::children, std::move(path)) {
            children.attach(*item.watch);
            children.send();
        }
        claimed_item item;
        request children;
    };
    std::vector<std::unique_ptr<claims_read>> reads;
    for (claimed_item& item : index_.unwatched(most)) {
        std::string path = settings_->item_path(item.name);
        reads.push_back(std::make_unique<claims_read>(port_, std::move(item), std::move(path)));
    }
    error_code result;
    for (auto& r : reads) {
        request& children = r->children;
        error_code ec = co_await children;
        const bool gone = ec == zk_errc::no_node;
        if (ec && !gone) {
            result = ec;
        } else if (gone || children.names.empty()) {
            forget_watch(port_, *r->item.watch, watch_kind::children, children.path);
            index_.claim_elsewhere_ended(r->item.name, gone);
        }
    }
    co_return result;
}

void queue_consumer::drop_claim_watches() {
    for (const claimed_item& item : index_.forget_claims_elsewhere())
        forget_watch(port_, *item.watch, watch_kind::children, settings_->item_path(item.name));
}

/// After a rest or a lost connection: is the parent znode still the one that was listed?
task<error_code> queue_consumer::check_parent() {
    request exists(port_, op_code::exists, settings_->path);
    error_code ec = co_await exists;
    if (ec && ec != zk_errc::no_node)
        co_return ec;
    if (parent_seen(exists.record))
        index_.forget_listing();
    co_return error_code();
}

/// @return whether it is another one
bool queue_consumer::parent_seen(const stat& record) {
    const bool other = index_.parent_seen(record.czxid, port_.status().revision);
    if (other)
        drop_claim_watches();
    return other;
}

bool queue_consumer::sure_of_parent() const noexcept {
    return index_.is_sure_of_parent(port_.status().revision);
}

/// Unless those that were served call again at once.
void queue_consumer::doubt_parent_soon() {
    port_.complete([weak = weak_from_this()] {
        auto self = weak.lock();
        if (self && self->state_ != driver_state::running)
            self->index_.doubt_parent();
    });
}

/// Not after the public object was destroyed: what the clock uses may be gone as well.
void queue_consumer::read_clock() {
    if (clock_ && !stopped())
        index_.time_is(clock_());
}

}  // namespace corozk::detail
