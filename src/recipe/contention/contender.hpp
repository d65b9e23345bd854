// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/member_watch.hpp"
#include "driver/pending_call.hpp"
#include "driver/port.hpp"
#include "recipe/contention/contention_node.hpp"
#include "recipe/contention/contention_settings.hpp"
#include "recipe/contention/owned.hpp"
#include <corozk/detail/recipe/acquisition.hpp>
#include <corozk/ownership.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace corozk::detail {

class contention_queue;

/// A contender and the life of its node `<guid><kind><sequence>`. Users hold it; all state changes
/// are made by its queue, which holds a reference while the node may exist.
class contender final : public local_node,
                        public owned,
                        private timer_node,
                        public std::enable_shared_from_this<contender> {
public:
    contender(contention_queue& q,
              const acquire_request& request,
              contender_data data,
              user_call<ownership> call);

    /// Cancels it, unless it is granted: fails the call at once and deletes the node in the
    /// background.
    void abandon(error_code reason);

    /// Waits until its node was deleted or its session has ended. One call at a time.
    void wait_gone(user_call<> call);

    // owned
    port& owner_port() noexcept override { return port_; }
    std::string path() const override;
    std::int64_t fencing_token() const noexcept override {
        return extras_ && extras_->token != 0 ? extras_->token : czxid;
    }
    std::uint64_t generation() const noexcept override { return session; }
    bool valid() const noexcept override;
    bool changing() const noexcept override { return converting; }
    void wait_lost(user_call<error_code> call) override;
    void wait_release_requested(user_call<> call) override;
    void release(user_call<> call) override;
    void drop() noexcept override;

    /// Another node that belongs to it, and is deleted before its own.
    void attach(std::string path) { more().attached = std::move(path); }

    /// The number of times that a leader has begun to change its identity, and the last one that was
    /// written.
    std::uint64_t& proclamations() { return more().proclamations; }
    std::uint64_t& proclaimed() { return more().proclaimed; }

    /// As if another client had requested it.
    void request_release();

    /// Why it was lost, or no error.
    error_code lost_reason() const noexcept {
        return extras_ ? extras_->held.lost_reason() : error_code();
    }

    /// Null once it has left the queue.
    contention_queue* current_queue() const noexcept { return queue_; }

private:
    friend class contention_queue;

    /// Whether its node is known to exist, or will be by a request in flight.
    static bool will_be_proved(const local_node& n) noexcept;

    void own_node_touched(watch_event_type type) noexcept;
    void turn_announced(watch_event_type type) noexcept;
    void expired() noexcept override;
    void end();
    /// The path of its place with another guid and kind.
    std::string path_as(std::string_view other_guid, std::uint8_t other_kind) const;
    void inspect(const operation& look);

    /// Members that few contenders need.
    struct extras {
        std::string attached;
        std::weak_ptr<contender> replacement;  ///< the upgrade that replaces it
        std::shared_ptr<contender> replaced;   ///< the contender that this upgrade replaces
        std::shared_ptr<contender> heir;       ///< holds instead, after an upgrade
        std::int64_t token = 0;                ///< of its first node, after a downgrade
        std::uint64_t span = 0;                ///< a tracer's, while it holds
        std::uint64_t proclamations = 0;
        std::uint64_t proclaimed = 0;
        held_calls held;
        user_call<> gone;  ///< waits for the deletion of its node

        /// On the node that announces its turn, if it has waited for a remote contender.
        std::optional<member_watch<contender, &contender::turn_announced>> turn;
    };
    extras& more() {
        if (!extras_)
            extras_ = std::make_unique<extras>();
        return *extras_;
    }
    std::shared_ptr<contender> replacement() const {
        return extras_ ? extras_->replacement.lock() : nullptr;
    }
    std::shared_ptr<contender> heir() const { return extras_ ? extras_->heir : nullptr; }
    bool listens() const noexcept { return extras_ && extras_->turn; }
    bool replaces() const noexcept { return extras_ && extras_->replaced; }

    port& port_;
    contention_queue* queue_;  ///< null once it has left the queue
    std::shared_ptr<const contention_settings> settings_;
    std::shared_ptr<contender> self_;  ///< while the queue needs it
    contender_data data_;
    operation* create_ = nullptr;  ///< in flight

    member_watch<contender, &contender::own_node_touched> watch_;  ///< on its node
    user_call<ownership> call_;
    std::shared_ptr<pending_call<>> release_call_;
    std::unique_ptr<extras> extras_;  ///< created when needed
};

}  // namespace corozk::detail
