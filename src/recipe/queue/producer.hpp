// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/pending_call.hpp"
#include "recipe/queue/side.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace corozk::detail {

/// The producers' side of a queue: one driver for all puts of an object.
class queue_producer final : public queue_side {
public:
    struct put_call {
        std::vector<std::string> items;
        std::int64_t rank = 0;
        bool no_wait = false;
        std::unique_ptr<pending_call<>> call;
        std::size_t bytes = 0;
    };

    using queue_side::queue_side;

    void enqueue(put_call put);

private:
    /// The capacity left in a bounded queue, as long as the bound's node has this version.
    struct capacity {
        std::int32_t version = 0;
        std::size_t left = 0;
    };
    using batch_type = std::vector<put_call>;

    task<> serve() override;
    bool waiting() const noexcept override;
    void fail(error_code ec) override;
    void fail_those_that_cannot_wait();
    batch_type next_batch();
    transaction transaction_of(const batch_type& batch) const;
    void applied(const exactly_once_outcome& outcome);
    task<error_code> refused(exactly_once_outcome outcome);
    task<error_code> begin_sequence();
    task<error_code> find_capacity();
    task<error_code> create_bound();
    task<error_code> wait_for_capacity(std::int32_t version);
    void counted(std::size_t items, std::int32_t version);

    bool bounded() const noexcept { return settings_->options.bound != 0; }
    std::string bound_path() const { return join_path(settings_->options.control_path, "bound"); }

    std::deque<put_call> waiting_;
    batch_type in_flight_;
    std::size_t singly_ = 0;  ///< how many of the first ones are not to share a transaction
    bool spent_ = false;      ///< the sequence numbers are used up
    std::optional<capacity> capacity_;
};

}  // namespace corozk::detail
