// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/acknowledger.hpp"

#include "recipe/queue/claim.hpp"
#include "recipe/toolkit/retry.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace corozk::detail {

namespace {

/// The steps before the user's: the claim and the item are deleted.
constexpr std::size_t own_steps = 2;

std::size_t steps_of(const acknowledgement& a) noexcept {
    return own_steps + a.extra.size();
}

std::size_t bytes_of(const acknowledgement& a) noexcept {
    std::size_t bytes = 2 * a.claim->path().size();
    for (const transaction::step& step : a.extra.steps()) {
        bytes += step.path.size() + step.data.size();
        for (const acl_entry& entry : step.acl)
            bytes += entry.scheme.size() + entry.id.size();
    }
    return bytes;
}

transaction transaction_of(const std::vector<acknowledgement>& batch) {
    transaction all;
    for (const acknowledgement& a : batch) {
        const claim_node& node = a.claim->node();
        all.erase(node.path, node.record.version).erase(a.claim->item_path()).append(a.extra);
    }
    return all;
}

/// Of its session, although another client has set its data: nobody else would get the item before
/// the session's end. The next claim of the item is left alone.
task<> erase_claim(claim_node node) {
    co_await node.erase();
}

}  // namespace

void queue_acknowledger::enqueue(acknowledgement a) {
    waiting_.push_back(std::move(a));
    start();
}

task<> queue_acknowledger::serve() {
    // The calls keep this object alive: they go with the driver if its session is destroyed.
    const auto drop = [this](void*) {
        std::exchange(waiting_, {}).clear();
        std::exchange(in_flight_, {}).clear();
    };
    const std::unique_ptr<void, decltype(drop)> dropped(this, drop);
    while (!waiting_.empty()) {
        in_flight_ = next_batch();
        if (in_flight_.empty())
            continue;
        const std::uint64_t generation = in_flight_.front().claim->node().generation;
        transaction all = transaction_of(in_flight_);
        exactly_once_outcome outcome =
            co_await exactly_once_.commit_in(generation, std::move(all).steps(), *this);
        settle(std::exchange(in_flight_, {}), outcome);
    }
}

bool queue_acknowledger::waiting() const noexcept {
    return std::all_of(in_flight_.begin(), in_flight_.end(), [](const acknowledgement& a) {
        return a.call->waiting();
    });
}

/// The first ones of a session, as many as fit into one request. Nothing was sent of those that
/// were cancelled meanwhile.
queue_acknowledger::batch_type queue_acknowledger::next_batch() {
    batch_type batch;
    transaction_room room(port_.max_request_size());
    while (!waiting_.empty()) {
        acknowledgement& a = waiting_.front();
        if (a.call->waiting()) {
            const bool same_session = batch.empty() || batch.front().claim->node().generation ==
                                                           a.claim->node().generation;
            const bool alone = singly_ > 0 && !batch.empty();
            if (alone || !same_session || !room.take(steps_of(a), bytes_of(a)))
                break;
            batch.push_back(std::move(a));
        } else {
            a.claim->settle(boost::asio::error::operation_aborted, *a.call);
        }
        waiting_.pop_front();
    }
    if (singly_ > 0)
        --singly_;
    return batch;
}

void queue_acknowledger::settle(batch_type batch, const exactly_once_outcome& outcome) {
    error_code ec = outcome.error;
    if (nobody_waited(ec))
        return put_back(std::move(batch));
    if (!outcome.failed && batch.size() > 1 && fault_of(ec) == fault::refused) {
        singly_ = batch.size();
        return put_back(std::move(batch));
    }
    if (!outcome.failed) {
        if (spent(base_name(parent_path(batch.back().claim->node().path))))
            renew_parent();
        for (acknowledgement& a : batch)
            a.claim->settle(ec, *a.call);
        return;
    }
    std::size_t step = *outcome.failed;
    std::size_t failed = 0;
    for (; step >= steps_of(batch[failed]); ++failed)
        step -= steps_of(batch[failed]);
    if (failed > 0) {
        singly_ = failed + 1;
        return put_back(std::move(batch));
    }
    const bool claim_gone = step == 0 && (ec == zk_errc::no_node || ec == zk_errc::bad_version);
    if (claim_gone && ec == zk_errc::bad_version)
        port_.spawn(erase_claim(batch.front().claim->node()));
    if (claim_gone)
        ec = errc::ownership_lost;
    acknowledgement first = std::move(batch.front());
    batch.erase(batch.begin());
    put_back(std::move(batch));
    first.claim->settle(ec, *first.call);
}

void queue_acknowledger::put_back(batch_type batch) {
    waiting_.insert(
        waiting_.begin(), std::move_iterator(batch.begin()), std::move_iterator(batch.end()));
}

}  // namespace corozk::detail
