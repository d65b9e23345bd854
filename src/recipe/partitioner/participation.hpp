// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/toolkit/inner_call.hpp"
#include "recipe/toolkit/kept_nodes.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include "recipe/toolkit/waiting_calls.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace corozk::detail {

/// Whether a member takes part, and under which name: its node, which is kept, and the calls of its
/// user that join and leave.
class participation {
public:
    using handler_type = handler_of<>;

    /// @param members the parent of the members' nodes
    participation(recipe_core& owner, std::string members, acl entries, signal& wake);

    /// Whether a call, or what it has achieved, is in the way of a `join`.
    bool busy();
    void join(std::string name, handler_type handler, time_limit limit);

    /// Whether there is something to leave.
    bool asked() const noexcept { return wanted() || next_name_; }
    void leave(handler_type handler, time_limit limit);

    /// It cannot remain a member.
    void give_up(error_code reason);
    /// The object is destroyed.
    void abandon() noexcept;

    // The steps of the driver, in this order.
    void note_join();
    /// @param settled whether everything else that was a member's is gone
    void note_leave(bool settled);
    void begin_join();

    /// To be a member.
    bool wanted() const noexcept { return stage_ != stage::out; }
    /// Has joined, and is to remain a member.
    bool member() const noexcept { return stage_ == stage::member; }
    /// Whether its node is there: otherwise another session may be the member of its name.
    bool present() const noexcept { return own_ && own_->present(); }
    /// Whether nothing is pending.
    bool over() const noexcept { return !asked() && !joining_ && !leaving_; }

    const std::string& name() const noexcept { return name_; }
    std::string name_asked_for() const;
    /// Why it is no member.
    error_code reason() const noexcept;

private:
    enum class stage : std::uint8_t { out, joining, member };

    void note_joining();
    void withdraw();

    recipe_core& owner_;
    const std::string members_;
    const acl entries_;
    signal& wake_;
    kept_nodes kept_;
    kept_node* own_ = nullptr;
    stage stage_ = stage::out;
    std::string name_;
    std::optional<std::string> next_name_;  ///< to join with, once what was before is over
    error_code given_up_;
    std::unique_ptr<inner_call<>> joining_;
    std::unique_ptr<inner_call<>> leaving_;
    std::optional<waiting_call<>> join_call_;
    waiting_calls<> leave_calls_;
};

}  // namespace corozk::detail
