// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/pending_call.hpp"
#include "recipe/queue/side.hpp"
#include <corozk/transaction.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

namespace corozk::detail {

class claim_impl;

/// An acknowledgement of a claim, with the user's further steps.
struct acknowledgement {
    std::shared_ptr<claim_impl> claim;
    transaction extra;
    std::unique_ptr<pending_call<>> call;
};

/// Deletes acknowledged items with their claims. Those that are waiting share a transaction. It
/// fails as a whole, and another one's steps may be why: unless it was the first one that failed,
/// those that are concerned are repeated one by one.
class queue_acknowledger final : public queue_side {
public:
    using queue_side::queue_side;

    void enqueue(acknowledgement a);

private:
    using batch_type = std::vector<acknowledgement>;

    task<> serve() override;
    /// Claims may outlive the queue object.
    void fail(error_code) override {}
    bool waiting() const noexcept override;
    batch_type next_batch();
    void settle(batch_type batch, const exactly_once_outcome& outcome);
    void put_back(batch_type batch);

    std::deque<acknowledgement> waiting_;
    batch_type in_flight_;
    std::size_t singly_ = 0;  ///< how many of the first ones are not to share a transaction
};

}  // namespace corozk::detail
