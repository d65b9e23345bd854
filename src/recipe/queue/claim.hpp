// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/pending_call.hpp"
#include "driver/signal.hpp"
#include "recipe/queue/claim_node.hpp"
#include <corozk/recipe/queue.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace corozk::detail {

class queue_consumer;

/// The implementation of a claim.
class claim_impl final : public std::enable_shared_from_this<claim_impl> {
public:
    claim_impl(std::shared_ptr<queue_consumer> consumer, queue_item item, claim_node node);

    port& get_port() noexcept { return port_; }
    boost::asio::any_io_executor executor() const { return port_.executor(); }
    signal& wake() noexcept { return wake_; }
    const queue_item& item() const noexcept { return item_; }
    const std::string& path() const noexcept { return node_.path; }
    const claim_node& node() const noexcept { return node_; }
    const std::string& item_path() const noexcept { return item_path_; }
    std::int64_t token() const noexcept { return node_.record.czxid; }
    bool stopped() const noexcept { return stopped_; }

    /// False while releasing, as another client may already have the item.
    bool valid() const noexcept { return state_ != state_type::releasing && exists(); }

    void acknowledge(transaction extra, std::unique_ptr<pending_call<>> call);
    /// The acknowledgement has this outcome. If it was neither applied nor is the claim lost, the
    /// claim is held again.
    void settle(error_code ec, pending_call<>& call);
    void release(std::unique_ptr<pending_call<>> call);
    /// Completes with the reason for the loss.
    void wait_lost(std::unique_ptr<pending_call<error_code>> call);

    /// The object is destroyed.
    void stop();

private:
    enum class state_type : std::uint8_t {
        held,
        acknowledging,
        releasing,
        acknowledged,
        released,
        lost,
    };

    static task<> run_release(std::shared_ptr<claim_impl> self,
                              std::shared_ptr<pending_call<>> call);
    static task<> run_watch(std::shared_ptr<claim_impl> self);

    /// To the client's knowledge.
    bool exists() const noexcept;
    /// Same as above; a held claim that no longer exists becomes lost.
    bool still_exists();
    bool is_ending() const noexcept {
        return state_ == state_type::acknowledging || state_ == state_type::releasing;
    }
    bool has_ended() const noexcept { return state_ >= state_type::acknowledged; }
    /// @param learned  from a request; the session may not have been told yet
    void end(state_type state, const error_code& learned = error_code());
    /// Why it does not exist any more, unless it has ended.
    error_code loss() const noexcept;
    void complete_lost_call(error_code ec);

    port& port_;
    signal wake_;
    std::shared_ptr<queue_consumer> consumer_;
    queue_item item_;
    std::string item_path_;
    claim_node node_;
    state_type state_ = state_type::held;
    bool watching_ = false;
    bool stopped_ = false;
    std::unique_ptr<pending_call<error_code>> lost_call_;
    error_code lost_reason_;
};

}  // namespace corozk::detail
