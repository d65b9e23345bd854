// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/queue/side.hpp"
#include "recipe/toolkit/pending_call.hpp"
#include <corozk/transaction.hpp>

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

/// Deletes acknowledged items with their claims: those that are waiting share a transaction, which
/// fails as a whole, so that it is repeated without the one that made it fail.
class queue_acknowledger final : public queue_side {
public:
    using queue_side::queue_side;

    void enqueue(acknowledgement a);

private:
    using batch_type = std::vector<acknowledgement>;

    task<> serve() override;
    /// Claims may outlive the queue object.
    void fail(error_code) override {}
    batch_type next_batch();
    void settle(batch_type batch, const exactly_once_outcome& outcome);

    std::deque<acknowledgement> waiting_;
};

}  // namespace corozk::detail
