// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/signal.hpp"
#include "recipe/contention/held_calls.hpp"
#include "recipe/contention/owned.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace corozk::detail {

/// Erases a contender's node and, behind it, its record: in this order none is made any more.
/// @return no error if both are gone; why not, if the session ended or the server refuses.
task<error_code> dismantle(port& p,
                           std::string contender,
                           std::string record,
                           std::uint64_t generation);

/// A priority lock that was granted: the contender's node and the record. Losing one is losing the
/// lock; a request to release may stand in either of them, and may have been there first.
class priority_hold final : public owned, public std::enable_shared_from_this<priority_hold> {
public:
    priority_hold(port& p,
                  std::string contender,
                  std::string record,
                  std::string request_text,
                  std::uint64_t generation,
                  std::int64_t token);

    /// Begins to watch the nodes.
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
    static task<> give_back(std::shared_ptr<priority_hold> self, std::shared_ptr<user_call<>> call);
    task<bool> look(const std::string& path, std::int64_t& czxid, watch_node& watch);
    void lose(error_code reason);
    void end(std::shared_ptr<user_call<>> call);

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
