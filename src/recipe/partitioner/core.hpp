// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/signal.hpp"
#include "recipe/partitioner/claims.hpp"
#include "recipe/partitioner/decision.hpp"
#include "recipe/partitioner/lock_requests.hpp"
#include "recipe/partitioner/participation.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include <corozk/recipe/partitioner.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace corozk::detail {

/// The driver of a partitioner (`run`) and its two helpers: `follow` reads the decision, and
/// `decide_shares` makes it, while this member is the one to do so. The first one waits for nothing
/// but its signal, so that no loss is reported later because a server does not respond.
class partitioner_impl final : public recipe_core,
                               public std::enable_shared_from_this<partitioner_impl> {
public:
    partitioner_impl(port& p,
                     std::string path,
                     std::vector<std::string> resources,
                     partitioner_options options);

    void stop() noexcept override;

    void join(std::string name, time_limit limit, handler_of<> handler);
    void next(time_limit limit, handler_of<partition_change> handler);
    void leave(time_limit limit, handler_of<> handler);

    std::string name() const { return participation_.name_asked_for(); }
    bool joined() const noexcept { return participation_.present(); }

private:
    static task<> run(std::shared_ptr<partitioner_impl> self);
    static task<> follow(std::shared_ptr<partitioner_impl> self);
    static task<> decide_shares(std::shared_ptr<partitioner_impl> self,
                                std::shared_ptr<owned> term);

    // Steps of `run`.
    void campaign();
    void pursue_claims();
    void let_go();
    void report_news();
    bool finished() const noexcept;

    std::string place(const char* name) const;
    bool may_ask() const noexcept;
    bool decides(const std::shared_ptr<owned>& term) const noexcept;
    task<error_code> write_decision(std::shared_ptr<owned> term, const assignment& decided);

    const std::vector<std::string> resources_;  ///< sorted
    const std::chrono::milliseconds settle_;
    signal wake_;
    lock_requests locks_;
    participation participation_;
    decision decision_;
    signal decider_wake_;
    std::unique_ptr<grant_request> candidacy_;  ///< in the queue of those who may decide
    claims claims_;
    std::optional<waiting_call<partition_change>> next_call_;

    /// Which of the coroutines run.
    struct {
        bool run = false;
        bool follow = false;
        bool decide_shares = false;
    } active_;
};

}  // namespace corozk::detail
