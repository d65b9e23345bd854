// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "recipe/contention/contention_rule.hpp"
#include "recipe/contention/held_calls.hpp"
#include "recipe/contention/owned.hpp"
#include <corozk/ownership.hpp>

#include <boost/intrusive/list_hook.hpp>
#include <boost/intrusive/set_hook.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace corozk::detail {

class contention_queue;
struct contention_settings;

/// One place in a line: ours, or a foreign one.
class contention_node : public boost::intrusive::set_base_hook<>, public contention_entry {
public:
    explicit contention_node(bool local) noexcept : local_(local) {}
    contention_node(const contention_node&) = delete;
    contention_node& operator=(const contention_node&) = delete;

    bool local() const noexcept { return local_; }

    std::uint64_t listing = 0;  ///< the last one that it was seen in; 0: none yet

    friend bool operator<(const contention_node& a, const contention_node& b) noexcept {
        return a.order < b.order;
    }

protected:
    ~contention_node() = default;

private:
    bool local_;
};

/// What a recipe asks of a contender.
struct contender_request {
    contender_request() = default;
    std::uint8_t kind = 0;
    std::int32_t weight = 1;
    std::string data;
    std::optional<time_point> deadline;
    bool try_only = false;  ///< fail with `would_block` instead of waiting
};

/// One attempt to get to the front of a line, and what comes of it: a node `<guid><kind><sequence>`
/// and its life. Created, asked and destroyed by users; everything that happens to it is decided by
/// its line. The line holds a reference while the node may exist.
class contender final : public contention_node,
                        public boost::intrusive::list_base_hook<>,
                        public owned,
                        private timer_node,
                        public std::enable_shared_from_this<contender> {
public:
    enum class stage_type : std::uint8_t {
        creating,  ///< the create is on its way, or its outcome is unknown
        waiting,
        granted,
        releasing,  ///< released or abandoned; the node is being erased
        gone,
    };

    contender(contention_queue& q, contender_request request, user_call<ownership> call);

    /// The user does not want it any more: fails the call at once, and leaves nothing behind.
    void abandon(error_code reason);

    /// Until nothing of it is left at the server, or its session is over. One call at a time.
    void wait_gone(user_call<> call);

    // owned
    port& owner_port() noexcept override { return port_; }
    std::string path() const override;
    std::int64_t fencing_token() const noexcept override { return czxid_; }
    bool valid() const noexcept override;
    void wait_lost(user_call<error_code> call) override;
    void release(user_call<> call) override;
    void drop() noexcept override;

    void wait_release_requested(user_call<> call) override;

    stage_type stage() const noexcept { return stage_; }

    /// A node of ours that stands for it, too, and is erased before its own.
    void attach(std::string path) { more().attached = std::move(path); }
    std::uint64_t generation() const noexcept override { return generation_; }

    /// Null when it has nothing to do with a line any more.
    contention_queue* current_queue() const noexcept { return queue_; }

private:
    friend class contention_queue;

    /// A watch on the own node: somebody may erase it, or write to it.
    class own_watch final : public watch_node {
    public:
        explicit own_watch(contender& c) noexcept : contender_(c) {}

    private:
        void fired(watch_event_type) noexcept override { contender_.own_node_touched(); }
        void dropped(const error_code&) noexcept override {}
        contender& contender_;
    };

    /// A watch on what announces its turn; see contention/contention_rule.hpp.
    class turn_watch final : public watch_node {
    public:
        explicit turn_watch(contender& c) noexcept : contender_(c) {}

    private:
        void fired(watch_event_type type) noexcept override;
        void dropped(const error_code&) noexcept override {}
        contender& contender_;
    };

    void end();
    void own_node_touched() noexcept;
    void expired() noexcept override;
    void inspect(const operation& look);

    /// What few contenders have.
    struct extras {
        std::string attached;
        std::weak_ptr<contender> replacement;  ///< is to take its place: an upgrade
        std::shared_ptr<contender> replaced;   ///< the other way round
        std::shared_ptr<contender> heir;       ///< holds in its stead: was upgraded
        std::uint64_t span = 0;                ///< a tracer's, while it holds
        std::optional<turn_watch> turn;        ///< it has waited for somebody else's contender
        user_call<> gone;                      ///< waits for its end
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
    held_calls& held() {
        if (!held_)
            held_ = std::make_unique<held_calls>();
        return *held_;
    }
    error_code lost_reason() const noexcept { return held_ ? held_->lost_reason() : error_code(); }
    bool listens() const noexcept { return extras_ && extras_->turn; }
    bool replaces() const noexcept { return extras_ && extras_->replaced; }

    port& port_;
    contention_queue* queue_;  ///< null when it has nothing to do with the line any more
    std::shared_ptr<const contention_settings> settings_;
    std::shared_ptr<contender> self_;  ///< while the line needs it, wanted by a user or not
    contender_request request_;
    operation* creation_ = nullptr;  ///< on its way
    std::string_view guid() const noexcept { return {guid_.data(), guid_.size()}; }

    std::array<char, 32> guid_{};
    std::int32_t sequence_ = 0;
    std::int64_t czxid_ = 0;
    std::uint64_t generation_ = 0;
    stage_type stage_ = stage_type::creating;
    bool asked_ = false;          ///< the server, for a node
    bool abandoned_ = false;      ///< while it was being created
    bool proving_ = false;        ///< a look at the own node is on its way
    bool erase_unknown_ = false;  ///< an answer to its erasure was lost
    bool converting_ = false;     ///< another node is taking its node's place
    std::uint64_t coverage_ =
        0;  ///< `contention_queue::coverage_` if everything ahead of it is known
    own_watch watch_;
    time_point since_;  ///< it has waited, then held
    user_call<ownership> call_;
    std::shared_ptr<user_call<>> release_call_;
    std::unique_ptr<held_calls> held_;  ///< made when it is first needed
    std::unique_ptr<extras> extras_;
};

}  // namespace corozk::detail
