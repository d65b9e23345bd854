// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/signal.hpp"
#include "recipe/priority_lock/hold.hpp"
#include "recipe/priority_lock/rule.hpp"
#include <corozk/types.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace corozk::detail {

/// Whose turn it is to look at a folder, of those in this session: grants exclude each other, so
/// that many who look at once would only be in each other's way.
class priority_turns final : public service {
public:
    explicit priority_turns(port&) noexcept {}

    /// @return false: `who` is set when its turn comes.
    bool take(const std::string& folder, signal& who);

    /// Passes it on. Harmless for one whose turn it is not.
    void pass(const std::string& folder, signal& who);

private:
    struct turn {
        signal* owner = nullptr;
        std::deque<signal*> queue;
    };
    std::map<std::string, turn> turns_;
};

/// Where and how to queue.
struct priority_settings {
    std::string folder;
    std::string identity;
    acl entries;
    std::int32_t ageing = 0;
    bool ask_holders = false;
    std::string request_text;
};

/// What one acquisition asks for.
struct priority_claim {
    std::uint8_t kind = priority_write;
    std::int32_t priority = 0;
    bool try_only = false;
};

/// One attempt to get a priority lock. Its driver lets it advance, step by step, until it is over
/// or nobody wants it any more, and lets it leave; whatever it wakes for, it looks at the server.
class priority_attempt {
public:
    priority_attempt(port& p, const priority_settings& settings, priority_claim what, signal& wake);
    priority_attempt(const priority_attempt&) = delete;
    priority_attempt& operator=(const priority_attempt&) = delete;

    /// @return whether to wait for the signal before the next step.
    task<bool> advance();

    /// Granted or failed.
    bool over() const noexcept { return over_; }
    const error_code& error() const noexcept { return error_; }
    std::shared_ptr<priority_hold> take() noexcept { return std::move(hold_); }

    /// Leaves nothing behind of what was not granted.
    task<> leave();

private:
    task<> enter();
    task<> find();
    task<bool> look();
    task<> write_ageing(std::int32_t version);
    task<bool> decide(const ranked_listing& listing, std::int32_t version);
    task<> ask(std::int32_t version);
    task<bool> wait_for(const ranked_listing& listing, const ranked_verdict& verdict);
    task<error_code> observe(const std::string& path, watch_node& watch);
    void ask_holders(const ranked_listing& listing, const ranked_verdict& verdict);
    void granted(std::int64_t token);
    void fail(error_code reason) noexcept;
    std::string at(std::string_view name) const;

    port& port_;
    const priority_settings& settings_;
    const priority_claim claim_;
    signal& wake_;
    const std::uint64_t generation_;
    watch_signal blocker_watch_;
    watch_signal own_watch_;
    watch_signal record_watch_;  ///< of its creation, when an answer was lost

    std::string guid_;
    std::string stem_;
    std::string name_;          ///< of our node, once it is known
    bool lost_create_ = false;  ///< there may be a node of which we do not know
    bool asked_ = false;        ///< for the record
    bool unanswered_ = false;   ///< it may be there, or come yet
    std::string blocker_;       ///< its path
    std::set<std::string> asked_holders_;
    bool over_ = false;
    error_code error_;
    std::shared_ptr<priority_hold> hold_;
};

}  // namespace corozk::detail
