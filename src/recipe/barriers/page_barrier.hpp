// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/signal.hpp"
#include "recipe/barriers/page_barrier_rule.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include <corozk/types.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace corozk::detail {

/// A watch that remembers what has happened, and sets a driver's signal.
class remembering_watch final : public watch_node {
public:
    explicit remembering_watch(signal& target) noexcept : target_(target) {}

    bool created = false;
    bool erased = false;

private:
    void fired(watch_event_type type) noexcept override {
        created = created || type == watch_event_type::created;
        erased = erased || type == watch_event_type::erased;
        target_.set();
    }
    void dropped(const error_code&) noexcept override { target_.set(); }

    signal& target_;
};

/// A member of a double barrier in the format of Curator and Kazoo, from `enter` until its node is
/// deleted.
class page_member final : public std::enable_shared_from_this<page_member> {
public:
    struct settings {
        std::string path;
        std::uint32_t size = 0;
        acl entries;
        create_mode parents = create_mode::container;
        std::uint64_t rounds = 0;  ///< entered before
    };

    page_member(port& p, settings where);

    /// `enter` begins when the previous member of the same object has left nothing behind.
    void follow(const std::shared_ptr<page_member>& previous);

    /// One call at a time, on behalf of `core`.
    void enter(recipe_core& core, any_handler<void(error_code)> handler, time_point deadline);
    void leave(recipe_core& core, any_handler<void(error_code)> handler, time_point deadline);

    /// Deletes its nodes in the background. Only inside, and not while a call is waiting.
    void withdraw();

    bool entering() const noexcept { return phase_ == phase::entering && call_->waiting(); }
    bool inside() const noexcept { return phase_ == phase::inside; }
    bool leaving() const noexcept { return phase_ == phase::leaving && call_->waiting(); }

    /// The number of rounds entered.
    std::uint64_t rounds() const noexcept { return where_.rounds + (admitted_ ? 1 : 0); }

private:
    enum class phase : std::uint8_t { entering, inside, leaving, outside };

    static task<> run_enter(std::shared_ptr<page_member> self);
    static task<> run_leave(std::shared_ptr<page_member> self);
    static task<> run_withdraw(std::shared_ptr<page_member> self);
    task<error_code> come_in(bool& again);
    task<error_code> tidy();
    task<error_code> make(bool& again);
    task<error_code> create_ready();
    task<error_code> go_out(bool& again);
    task<> go_away();

    port& port_;
    const settings where_;
    const std::string name_;
    const std::string node_;
    const std::string ready_;
    signal wake_;
    remembering_watch ready_watch_;
    remembering_watch member_watch_;  ///< on another member, or on a node of an earlier session
    std::string watched_;             ///< its path, when leaving
    std::unique_ptr<waiting_call<>> call_;
    phase phase_ = phase::entering;
    std::uint64_t generation_ = 0;  ///< the session of the node; 0: none
    std::uint64_t perhaps_in_ = 0;  ///< that of a create without a response
    bool started_ = false;          ///< the round has
    bool admitted_ = false;
    bool tidied_ = false;
    bool may_have_started_ = false;  ///< has asked for `ready`
    bool ready_gone_ = false;
    std::vector<std::string> others_;  ///< those to wait for when leaving, and the own name
    bool listed_ = false;
    bool gone_ = false;                      ///< the node was deleted
    bool ended_ = false;                     ///< nothing is under way, and nothing was left behind
    std::shared_ptr<page_member> previous_;  ///< until it has ended
    std::weak_ptr<page_member> next_;
};

}  // namespace corozk::detail
