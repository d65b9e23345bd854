// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/signal.hpp"
#include "driver/task.hpp"
#include "recipe/queue/settings.hpp"
#include "recipe/toolkit/exactly_once.hpp"
#include "recipe/toolkit/pending_call.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace corozk::detail {

/// The producers' side of a queue: one driver for all puts of an object.
class queue_producer final : public std::enable_shared_from_this<queue_producer> {
public:
    struct put_call {
        std::vector<new_queue_item> items;
        bool no_wait = false;
        std::unique_ptr<pending_call<>> call;
        std::size_t bytes = 0;
    };

    queue_producer(port& p, std::shared_ptr<const queue_settings> settings);

    signal& wake() noexcept { return wake_; }
    void enqueue(put_call put);

    /// The object is destroyed.
    void stop();

private:
    /// How many items may be put into a bounded queue, as long as the bound's node has this version.
    struct capacity {
        std::int32_t version = 0;
        std::size_t left = 0;
    };

    static task<> run(std::shared_ptr<queue_producer> self);
    task<> produce();
    std::vector<put_call> next_batch();
    std::vector<transaction::step> steps_of(const std::vector<put_call>& batch) const;
    void applied(const std::vector<put_call>& batch, const ledger_outcome& outcome);
    task<error_code> refused(ledger_outcome outcome);
    task<error_code> find_capacity();
    task<error_code> create_bound();
    task<error_code> wait_for_capacity(std::int32_t version);
    void counted(std::size_t items, std::int32_t version);
    void delete_late(const std::vector<put_call>& batch, const ledger_outcome& outcome);
    void fail(error_code ec);
    void fail_those_that_cannot_wait();
    bool bounded() const noexcept { return settings_->options.bound != 0; }
    std::string bound_path() const;

    port& port_;
    std::shared_ptr<const queue_settings> settings_;
    signal wake_;
    driver_state state_ = driver_state::idle;
    std::deque<put_call> waiting_;
    std::optional<capacity> capacity_;
    ledger puts_;
};

}  // namespace corozk::detail
