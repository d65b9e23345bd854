// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/pending_call.hpp"
#include "driver/port.hpp"
#include "driver/signal.hpp"
#include "recipe/contention/owned.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace corozk::detail {

/// Deletes a contender's node, then its record: in this order no record can be created afterwards.
/// @return no error if both were deleted; otherwise the end of the session or a permanent error
task<error_code> dismantle(port& p,
                           std::string contender,
                           std::string record,
                           std::uint64_t generation);

/// A granted priority lock: the contender's node and the record. The loss of either is the loss of
/// the lock. A request to release may be written to either of them, even before the grant.
class priority_hold final : public owned, public std::enable_shared_from_this<priority_hold> {
public:
    priority_hold(port& p,
                  std::string contender,
                  std::string record,
                  std::string request_text,
                  std::uint64_t generation,
                  std::int64_t token);

    /// Starts to watch the nodes.
    void start();

    // owned
    port& owner_port() noexcept override { return port_; }
    std::string path() const override { return record_; }
    std::int64_t fencing_token() const noexcept override { return token_; }
    std::uint64_t generation() const noexcept override { return generation_; }
    bool valid() const noexcept override;
    std::vector<std::string> nodes() const override { return {contender_, record_}; }
    void wait_lost(user_call<error_code> call) override;
    void release(user_call<> call) override;
    void wait_release_requested(user_call<> call) override;
    void drop() noexcept override;

private:
    enum class stage : std::uint8_t { held, lost, given_back };

    static task<> keep_watch(std::shared_ptr<priority_hold> self);
    static task<> give_back(std::shared_ptr<priority_hold> self,
                            std::shared_ptr<pending_call<>> call);
    task<bool> look(const std::string& path, std::int64_t& czxid, watch_node& watch);
    void lose(error_code reason);
    void end(std::shared_ptr<pending_call<>> call);

    port& port_;
    signal wake_;
    watch_signal contender_watch_;
    watch_signal record_watch_;
    const std::string contender_;
    const std::string record_;
    const std::string request_text_;
    const std::uint64_t generation_;
    const std::int64_t token_;
    std::int64_t contender_czxid_ = 0;  ///< 0: not known yet
    std::int64_t record_czxid_;
    stage stage_ = stage::held;
    held_calls calls_;
};

}  // namespace corozk::detail
