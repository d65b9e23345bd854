// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/signal.hpp"
#include "recipe/barriers/page_entry.hpp"
#include "recipe/barriers/page_exit.hpp"
#include "recipe/barriers/page_nodes.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include <corozk/types.hpp>

#include <cstdint>
#include <memory>

namespace corozk::detail {

/// A member of a double barrier in the format of Curator and Kazoo, from `enter` until its node is
/// deleted.
class page_member final : public std::enable_shared_from_this<page_member> {
public:
    /// @param rounds entered before
    page_member(const page_nodes& nodes, std::uint64_t rounds);

    /// `enter` begins when the previous member of the same object has left nothing behind.
    void follow(const std::shared_ptr<page_member>& previous);

    /// One call at a time, on behalf of `core`.
    void enter(recipe_core& core, handler_of<> handler, time_limit limit);
    void leave(recipe_core& core, handler_of<> handler, time_limit limit);

    /// Deletes its nodes in the background. Only inside, and not while a call is waiting.
    void withdraw();

    bool entering() const noexcept { return phase_ == phase::entering && call_->waiting(); }
    bool inside() const noexcept { return phase_ == phase::inside; }
    bool leaving() const noexcept { return phase_ == phase::leaving && call_->waiting(); }

    /// The number of rounds entered.
    std::uint64_t rounds() const noexcept { return earlier_rounds_ + (admitted_ ? 1 : 0); }

private:
    enum class phase : std::uint8_t { entering, inside, leaving, outside };

    static task<> run_enter(std::shared_ptr<page_member> self);
    static task<> run_leave(std::shared_ptr<page_member> self);
    static task<> run_withdraw(std::shared_ptr<page_member> self);
    task<> go_away();
    task<> until_gone();

    const std::uint64_t earlier_rounds_;
    page_nodes nodes_;
    signal wake_;
    page_entry entry_;
    page_exit exit_;
    std::unique_ptr<waiting_call<>> call_;
    phase phase_ = phase::entering;
    bool admitted_ = false;
    bool ended_ = false;                     ///< nothing is under way, and nothing was left behind
    std::shared_ptr<page_member> previous_;  ///< until it has ended
    std::weak_ptr<page_member> next_;
};

}  // namespace corozk::detail
