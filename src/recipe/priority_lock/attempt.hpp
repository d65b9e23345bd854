// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/signal.hpp"
#include "recipe/contention/contention_settings.hpp"
#include "recipe/priority_lock/hold.hpp"
#include "recipe/priority_lock/ranked_node.hpp"
#include "recipe/priority_lock/rule.hpp"
#include <corozk/recipe/priority_lock.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace corozk::detail {

/// What an attempt has read.
struct ranked_view {
    ranked_listing listing;
    std::int32_t version = 0;  ///< of the parent, read before the listing
    std::int32_t ageing = 0;
};

/// Serializes the attempts of this session at a path: as grants exclude each other, concurrent
/// attempts would only obstruct each other. The first in the order of contenders is served first.
class priority_turns final : public service {
public:
    explicit priority_turns(port&) noexcept {}

    /// @return false if `who` has to wait; it is set when its turn comes
    bool take(const std::string& parent, signal& who, const ranked_name& name, std::int32_t ageing);

    /// Passes the turn on. Harmless if it is not the turn of `who`.
    void pass(const std::string& parent, signal& who);

    /// What the owner of the turn has read, for those that wait for it: for whose node is listed, it
    /// is as good as a view of its own. Null: something has changed since.
    void show(const std::string& parent, std::shared_ptr<const ranked_view> view);
    std::shared_ptr<const ranked_view> view(const std::string& parent) const;

private:
    struct waiter {
        signal* who = nullptr;
        ranked_place place;
    };
    struct turn {
        signal* owner = nullptr;
        std::int32_t origin = 0;  ///< a nearby sequence number
        std::int32_t ageing = 0;
        std::vector<waiter> queue;
        std::shared_ptr<const ranked_view> view;
    };
    std::map<std::string, turn> turns_;
};

/// An attempt to acquire a priority lock, for a user's call. The driver calls `advance` until it is over
/// or cancelled, then `leave`. Each step reads the state at the server, regardless of what caused it.
class priority_attempt {
public:
    priority_attempt(port& p,
                     const contention_settings& settings,
                     const priority_lock_options& options,
                     const acquire_request& what,
                     const interest& call,
                     signal& wake);
    priority_attempt(const priority_attempt&) = delete;
    priority_attempt& operator=(const priority_attempt&) = delete;

    /// @return whether to wait for the signal before the next step
    task<bool> advance();

    /// Granted or failed.
    bool over() const noexcept { return outcome_.has_value(); }
    error_code error() const noexcept { return outcome_.value_or(error_code()); }
    std::shared_ptr<priority_hold> take() noexcept { return std::move(hold_); }

    /// Deletes the nodes of an attempt that was not granted.
    task<> leave();

private:
    struct own_record {
        explicit own_record(signal& wake) noexcept : watch(wake) {}

        bool asked = false;       ///< it was requested
        bool unanswered = false;  ///< it may exist or be created yet
        watch_signal watch;       ///< for its creation after a lost response
    };

    task<> enter();
    task<bool> look();
    task<> write_ageing(std::int32_t version);
    task<bool> decide(const ranked_view& seen);
    task<> ask(std::int32_t version);
    task<bool> wait_for(const ranked_listing& listing, const ranked_verdict& verdict);
    task<error_code> observe(const std::string& path, watch_node& watch);
    void ask_holders(const ranked_listing& listing, const ranked_verdict& verdict);
    void granted(std::int64_t token);
    void fail(error_code reason) noexcept;

    port& port_;
    const contention_settings& settings_;
    const priority_lock_options& options_;
    const acquire_request claim_;
    const interest& call_;
    signal& wake_;
    const std::uint64_t generation_;
    watch_signal blocker_watch_;
    watch_signal own_watch_;
    own_record record_;
    ranked_node node_;
    bool looked_ = false;   ///< it has had a turn
    bool settled_ = false;  ///< the watches report what could make a difference
    std::string blocker_;   ///< a path
    std::set<std::string> asked_holders_;
    std::optional<error_code> outcome_;
    std::shared_ptr<priority_hold> hold_;
};

}  // namespace corozk::detail
