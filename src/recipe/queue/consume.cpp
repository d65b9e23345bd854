// SPDX-License-Identifier: Apache-2.0
// Consuming items: claim the first ones, then read them; they exist until they are acknowledged.
#include "recipe/queue/claim.hpp"
#include "recipe/queue/consumer.hpp"
#include "recipe/toolkit/retry.hpp"

namespace corozk::detail {

/// An attempt to claim an item.
struct claim_attempt {
    claim_attempt(port& p, const queue_settings& settings, available_item item_)
        : item(std::move(item_)),
          get(p, op_code::get, settings.item_path(item.name)),
          create(p, op_code::create, join_path(get.path, "claim")),
          node{p, create.path, p.new_guid(), p.status().generation, stat()} {
        create.data = node.guid;
        create.mode = create_mode::ephemeral;
        create.entries = settings.options.acl;
        create.generation = get.generation = node.generation;
    }

    task<error_code> claim();
    task<error_code> read_item();

    available_item item;
    request get;
    request create;
    claim_node node;
};

/// @return no error: claimed; `node_exists`: claimed by another client; `no_node`: no such item
task<error_code> claim_attempt::claim() {
    error_code ec = co_await create;
    if (get.state != operation::progress::idle)
        co_await get;  // also if the claim failed: `get` must not be destroyed before
    node.record = create.record;
    if (fault_of(ec) != fault::unknown)
        co_return ec;
    const error_code found = co_await node.find();
    // Not claimed: whether there is such an item is not known.
    co_return found == zk_errc::no_node ? ec : found;
}

task<error_code> claim_attempt::read_item() {
    error_code ec = co_await get;
    retry reading(node.owner, node.generation);
    while (reading.again(ec)) {
        get.renew();
        ec = co_await get;
    }
    if (!ec)
        item.content.emplace().data = std::move(get.answer);
    co_return ec;
}

task<error_code> queue_consumer::claim() {
    // If other clients claim items, too, only claimed items are read.
    const bool read_at_once = backoff_.failures() == 0;
    const bool sure = sure_of_parent();
    time_point begin = port_.now();
    request parent(port_, op_code::exists, settings_->path);
    if (!sure)
        parent.send();
    std::vector<std::unique_ptr<claim_attempt>> attempts;
    for (available_item& item : index_.next(batch_size(kind::consume), place())) {
        auto attempt = std::make_unique<claim_attempt>(port_, *settings_, std::move(item));
        attempt->create.only_for(this);
        attempt->create.send();
        if (read_at_once)
            attempt->get.send();
        attempts.push_back(std::move(attempt));
    }
    sought_ = {kind::consume, attempts.size()};
    index_.round_begins();
    for (auto& attempt : attempts) {
        request& create = attempt->create;
        if (read_at_once)
            break;
        if (!co_await create)
            attempt->get.send();
    }
    bool other_parent = false;
    if (!sure) {
        error_code ec = co_await parent;
        if (!ec || ec == zk_errc::no_node)
            other_parent = parent_seen(parent.record);
        if (other_parent)
            index_.forget_listing();
    }

    error_code result;
    std::size_t claimed = 0;
    std::size_t claimed_elsewhere = 0;
    for (auto& attempt : attempts) {
        error_code ec = co_await attempt->claim();
        if (!ec) {
            ++claimed;
            ec = co_await hand_out(*attempt, other_parent);
            if (ec && ec != zk_errc::no_node)
                result = ec;
        } else if (ec == zk_errc::node_exists) {
            ++claimed_elsewhere;
            index_.claimed_elsewhere(attempt->item.name, std::make_shared<watch_signal>(wake_));
        } else if (ec == zk_errc::no_node) {
            index_.was_gone(attempt->item);
        } else if (nobody_waited(ec)) {
            // Neither are the next ones sent: some of the calls have ended.
            index_.forget_listing();
            continue;
        } else if (ec == zk_errc::no_children_for_ephemerals) {
            result = port_.reject(errc::not_supported,
                                  "queue.consume: an ephemeral item cannot be claimed: ",
                                  attempt->get.path);
        } else {
            result = ec;
        }
        --sought_.count;
    }
    if (claimed > 0) {
        succeeded(begin);
    } else if (claimed_elsewhere > 0) {
        failed();
    }
    co_return result;
}

/// Passes a claimed item to the next pending call. Without one, or if the item is not the listed
/// one, releases the claim.
task<error_code> queue_consumer::hand_out(claim_attempt& attempt, bool other_parent) {
    error_code ec = co_await attempt.read_item();
    if (!ec)
        ec = co_await attempt.node.tell_apart(attempt.get.record);
    consumer_call* call = next_call(kind::consume);
    if (ec || !call || other_parent) {
        co_await attempt.node.erase();
        index_.forget_listing();
        co_return ec;
    }
    index_.claimed(attempt.item.name);
    auto self = std::static_pointer_cast<queue_consumer>(shared_from_this());
    auto claim = std::make_shared<claim_impl>(
        std::move(self), to_item(std::move(attempt.item)), std::move(attempt.node));
    call->result.get<queue_claim>()->complete(error_code(),
                                              queue_claim(session_.lock(), std::move(claim)));
    co_return ec;
}

}  // namespace corozk::detail
