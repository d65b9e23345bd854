// SPDX-License-Identifier: Apache-2.0
// Consuming items: claim the first ones, then read them; they stay until they are acknowledged.
#include "operation/path.hpp"
#include "recipe/queue/claim.hpp"
#include "recipe/queue/consumer.hpp"
#include "recipe/toolkit/retry.hpp"
#include "recipe/toolkit/synced_read.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corozk::detail {

namespace {

/// So many successive claims of an item can be told apart.
constexpr std::int64_t different_claims = 4;

}  // namespace

/// A claim on an item: an ephemeral child of it. All claims have the same name, so that there is one at a
/// time; its GUID and its czxid say whose it is.
struct claim_attempt {
    claim_attempt(port& p, const queue_settings& settings, available_item item_)
        : owner(p),
          item(std::move(item_)),
          generation(p.status().generation),
          create(p, op_code::create, join_path(settings.item_path(item.name), "claim")),
          get(p, op_code::get, settings.item_path(item.name)) {
        create.data = p.new_guid();
        create.mode = create_mode::ephemeral;
        create.entries = settings.options.acl;
        create.generation = get.generation = generation;
    }

    task<error_code> claim();
    task<error_code> find();
    task<error_code> read_item();
    task<error_code> tell_apart();
    task<> give_back();

    port& owner;
    available_item item;
    std::uint64_t generation;
    request create;  ///< its `record` is the claim's
    request get;     ///< of the item
};

/// @return no error: the claim is ours
task<error_code> claim_attempt::claim() {
    error_code ec = co_await create;
    if (get.state != operation::progress::idle)
        co_await get;  // also if the claim failed: `get` must not be destroyed before
    if (is_outcome_unknown(ec))
        ec = co_await find();
    co_return ec;
}

/// After a lost response.
/// @return no error: it is ours; `node_exists`: another claim is there; `no_node`: none is
task<error_code> claim_attempt::find() {
    for (;;) {
        // The server may lag behind the one that created the claim.
        request read(owner, op_code::get, create.path);
        read.generation = generation;
        error_code ec = co_await behind_sync(owner, read);
        if (ask_again(owner, generation, ec))
            continue;
        if (ec)
            co_return ec;
        const bool ours =
            read.answer == create.data && read.record.ephemeral_owner == owner.status().session_id;
        if (!ours)
            co_return make_error_code(zk_errc::node_exists);
        create.record = read.record;
        co_return error_code();
    }
}

task<error_code> claim_attempt::read_item() {
    error_code ec = co_await get;
    while (ask_again(owner, generation, ec)) {
        request again(owner, op_code::get, get.path);
        again.generation = generation;
        ec = co_await again;
        get.answer = std::move(again.answer);
        get.record = again.record;
    }
    if (!ec)
        item.content.emplace().data = std::move(get.answer);
    co_return ec;
}

/// If a claim is deleted by another client, the next one has its name. The nodes' versions differ, by how
/// often the item has been claimed, so that the first consumer cannot end the next one's claim.
/// @return `no_node`: the claim is not there any more
task<error_code> claim_attempt::tell_apart() {
    // Both numbers may be those of other children.
    std::int64_t claims = (std::int64_t{get.record.cversion} + get.record.num_children) / 2;
    std::int64_t version = claims > 0 ? (claims - 1) % different_claims : 0;
    while (create.record.version < version) {
        request set(owner, op_code::set, create.path);
        set.data = create.data;
        set.version = create.record.version;
        set.generation = generation;
        error_code ec = co_await set;
        if (!ec) {
            ++create.record.version;
            continue;
        }
        if (ec == zk_errc::no_auth)
            break;  // the ACL does not let this client write the claim: they cannot be told apart
        if (ec == zk_errc::bad_version)
            co_return make_error_code(zk_errc::no_node);
        if (!ask_again(owner, generation, ec))
            co_return ec;
        ec = co_await find();
        if (ec)
            co_return ec == zk_errc::node_exists ? make_error_code(zk_errc::no_node) : ec;
    }
    co_return error_code();
}

/// Never deletes another claim.
task<> claim_attempt::give_back() {
    for (;;) {
        request erase(owner, op_code::erase, create.path);
        erase.version = create.record.version;
        erase.generation = generation;
        error_code ec = co_await erase;
        if (!ask_again(owner, generation, ec))
            co_return;
        if (co_await find())
            co_return;
    }
}

task<error_code> queue_consumer::claim() {
    // Where other clients claim as well, only what was claimed is read.
    const bool read_at_once = backoff_.failures() == 0;
    const bool sure = sure_of_parent();
    time_point begin = port_.now();
    request parent(port_, op_code::exists, settings_->path);
    if (!sure)
        parent.send();
    std::vector<std::unique_ptr<claim_attempt>> attempts;
    for (available_item& item : index_.next(batch_size(consumer_call::kind::consume))) {
        auto attempt = std::make_unique<claim_attempt>(port_, *settings_, std::move(item));
        attempt->create.send();
        if (read_at_once)
            attempt->get.send();
        attempts.push_back(std::move(attempt));
    }
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
    }
    if (other_parent)
        index_.forget_listing();

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
            index_.forget_listing();
        } else if (ec == zk_errc::no_children_for_ephemerals) {
            result = errc::not_supported;
        } else {
            result = ec;
        }
    }
    if (claimed > 0) {
        succeeded(begin);
    } else if (claimed_elsewhere > 0) {
        failed();
    }
    co_return result;
}

/// Gives a claimed item to the call that waits for it. If there is none, or the item is another one than
/// was listed, the claim is given back.
task<error_code> queue_consumer::hand_out(claim_attempt& attempt, bool other_parent) {
    error_code ec = co_await attempt.read_item();
    if (!ec)
        ec = co_await attempt.tell_apart();
    consumer_call* call = next_call(consumer_call::kind::consume);
    if (ec || !call || other_parent) {
        co_await attempt.give_back();
        index_.forget_listing();
        co_return ec;
    }
    index_.claimed(attempt.item.name);
    queue_item item = make_item(settings_->names, std::move(attempt.item));
    auto claim = std::make_shared<claim_impl>(
        port_, shared_from_this(), std::move(item), attempt.generation, attempt.create.record);
    call->result.get<queue_claim>()->complete(error_code(),
                                              queue_claim(session_.lock(), std::move(claim)));
    co_return ec;
}

}  // namespace corozk::detail
