// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/member_watch.hpp"
#include "driver/port.hpp"
#include "recipe/contention/contention_node.hpp"
#include "recipe/contention/held_calls.hpp"
#include "recipe/contention/owned.hpp"
#include <corozk/detail/acquire_request.hpp>
#include <corozk/ownership.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace corozk::detail {

class contention_queue;
struct contention_settings;

/// One attempt to get to the front of a queue, and what comes of it: a node `<guid><kind><sequence>`
/// and its life. Created, asked and destroyed by users; its state is changed by its queue, which
/// holds a reference while the node may exist.
class contender final : public local_node,
                        public owned,
                        private timer_node,
                        public std::enable_shared_from_this<contender> {
public:
    contender(contention_queue& q,
              const acquire_request& request,
              std::string data,
              user_call<ownership> call);

    /// The user does not want it any more: fails the call at once, and leaves nothing behind.
    void abandon(error_code reason);

    /// Until nothing of it is left at the server, or its session is over. One call at a time.
    void wait_gone(user_call<> call);

    // owned
    port& owner_port() noexcept override { return port_; }
    std::string path() const override;
    std::int64_t fencing_token() const noexcept override { return czxid; }
    std::uint64_t generation() const noexcept override { return session; }
    bool valid() const noexcept override;
    void wait_lost(user_call<error_code> call) override;
    void wait_release_requested(user_call<> call) override;
    void release(user_call<> call) override;
    void drop() noexcept override;

    /// A node of ours that stands for it, too, and is deleted before its own.
    void attach(std::string path) { more().attached = std::move(path); }

    /// Null when it has nothing to do with a queue any more.
    contention_queue* current_queue() const noexcept { return queue_; }

private:
    friend class contention_queue;

    void own_node_touched(watch_event_type type) noexcept;
    void turn_announced(watch_event_type type) noexcept;
    void expired() noexcept override;
    void end();
    void inspect(const operation& look);

    /// What few contenders have.
    struct extras {
        std::string attached;
        std::weak_ptr<contender> replacement;  ///< is to take its place: an upgrade
        std::shared_ptr<contender> replaced;   ///< the other way round
        std::shared_ptr<contender> heir;       ///< holds in its stead: was upgraded
        std::uint64_t span = 0;                ///< a tracer's, while it holds
        user_call<> gone;                      ///< waits for its end

        /// On what announces its turn: it has waited for a remote contender.
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
    held_calls& held() {
        if (!held_)
            held_ = std::make_unique<held_calls>();
        return *held_;
    }
    error_code lost_reason() const noexcept { return held_ ? held_->lost_reason() : error_code(); }

    port& port_;
    contention_queue* queue_;  ///< null when it has nothing to do with the queue any more
    std::shared_ptr<const contention_settings> settings_;
    std::shared_ptr<contender> self_;  ///< while the queue needs it, wanted by a user or not
    std::string data_;                 ///< of its node
    operation* create_ = nullptr;      ///< in flight

    // What is being found out, or done, about its node.
    bool proving_ = false;        ///< a read of it is in flight
    bool erase_unknown_ = false;  ///< an answer to its deletion was lost
    bool converting_ = false;     ///< another node is taking its place

    member_watch<contender, &contender::own_node_touched> watch_;  ///< on its node
    user_call<ownership> call_;
    std::shared_ptr<user_call<>> release_call_;
    std::unique_ptr<held_calls> held_;  ///< made when it is first needed
    std::unique_ptr<extras> extras_;
};

}  // namespace corozk::detail
