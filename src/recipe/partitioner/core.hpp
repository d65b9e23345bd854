// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/signal.hpp"
#include "operation/name_list.hpp"
#include "recipe/contention/contention_settings.hpp"
#include "recipe/contention/grant_request.hpp"
#include "recipe/partitioner/rule.hpp"
#include "recipe/toolkit/followed_node.hpp"
#include "recipe/toolkit/inner_call.hpp"
#include "recipe/toolkit/kept_nodes.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include <corozk/recipe/partitioner.hpp>

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace corozk::detail {

/// A member's contender for the lock of one resource, if it has one, and what became of it.
struct claim {
    std::unique_ptr<grant_request> request;
    std::shared_ptr<contender> delivered;  ///< the user has it
    bool revoked = false;
    bool told = false;  ///< the user knows that it is revoked

    bool granted() const noexcept { return request && request->done() && !request->error(); }
    /// The user has it, and neither lost nor released it.
    bool in_use() const noexcept {
        return delivered && delivered->stage() == contender::stage_type::granted;
    }
};

/// The driver of a partitioner (`run`) and its two helpers: `follow` reads the decision, and
/// `decide_shares` makes it, while this member is the one to do so. The first one waits for nothing
/// but its signal, so that nobody has to wait for a server to hear of a loss.
class partitioner_impl final : public recipe_core,
                               public std::enable_shared_from_this<partitioner_impl> {
public:
    partitioner_impl(port& p,
                     std::string path,
                     std::vector<std::string> resources,
                     partitioner_options options);

    void stop() noexcept override;

    void join(std::string name, time_point deadline, any_handler<void(error_code)> handler);
    void next(time_point deadline, any_handler<void(error_code, partition_change)> handler);
    void leave(any_handler<void(error_code)> handler);

    std::string name() const { return wanted_ ? name_ : next_name_.value_or(std::string()); }
    bool joined() const noexcept { return own_ && own_->present(); }

private:
    static task<> run(std::shared_ptr<partitioner_impl> self);
    static task<> follow(std::shared_ptr<partitioner_impl> self);
    static task<> decide_shares(std::shared_ptr<partitioner_impl> self,
                                std::shared_ptr<owned> term);

    std::string place(const char* name) const;
    contention_settings lock_at(std::string parent) const;
    std::unique_ptr<grant_request> ask(const contention_settings& where);
    bool may_ask() const noexcept;
    static bool worth_another(const error_code& ec) noexcept;
    void wake_all() noexcept;

    // Membership.
    bool busy() const noexcept;
    void begin_join();
    void give_up(error_code reason);
    void withdraw();
    void note_join();
    void note_leave();
    bool finished() const noexcept;

    // Deciding.
    void campaign();
    bool decides(const std::shared_ptr<owned>& term) const noexcept;
    task<error_code> identify(const name_list& names);
    task<error_code> read_members(watch_signal& watch, watch_signal& missing);
    task<error_code> write_decision(std::shared_ptr<owned> term, const assignment& decided);
    void note_decision();

    // Claims.
    void pursue_claims();
    void look_at(const std::string& resource, claim& c);
    void dismiss(std::unique_ptr<grant_request> request);
    void note_dismissed();
    partition_change take_news();
    void tell();

    const std::vector<std::string> resources_;  ///< sorted
    const partitioner_options options_;
    const contention_settings decider_;
    signal wake_;

    kept_nodes kept_;
    kept_node* own_ = nullptr;
    std::string name_;
    std::optional<std::string> next_name_;  ///< to join with, once what was before is over
    bool wanted_ = false;                   ///< to be a member
    bool member_ = false;                   ///< has joined
    bool running_ = false;
    error_code fatal_;
    std::unique_ptr<inner_call<>> joining_;
    std::unique_ptr<inner_call<>> leaving_;
    std::optional<waiting_call<>> join_call_;
    std::list<waiting_call<>> leave_calls_;
    std::optional<waiting_call<partition_change>> next_call_;

    followed_node decision_node_;
    bool following_ = false;
    assignment decision_;
    bool known_ = false;          ///< the decision was read, and is there
    std::int32_t version_ = 0;    ///< of the decision
    std::uint64_t readings_ = 0;  ///< of the decision

    std::unique_ptr<grant_request> candidacy_;
    signal decider_wake_;
    bool deciding_ = false;
    std::map<std::string, bool> nodes_;  ///< where members are, and whether each is one

    std::map<std::string, claim> claims_;
    std::list<std::unique_ptr<grant_request>> dismissed_;  ///< until their nodes are gone
    std::vector<std::string> lost_;                        ///< not told yet
};

}  // namespace corozk::detail
