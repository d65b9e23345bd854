// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/request.hpp"
#include "recipe/queue/consumer_calls.hpp"
#include "recipe/queue/item_index.hpp"
#include "recipe/queue/settings.hpp"
#include "recipe/toolkit/backoff.hpp"
#include "recipe/toolkit/exactly_once.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace corozk::detail {

class session;
struct claim_attempt;

queue_item make_item(const queue_names& names, available_item item);

/// The consumers' side of a queue: one driver for all calls of an object.
class queue_consumer final : public std::enable_shared_from_this<queue_consumer> {
public:
    using wall_clock = std::function<std::chrono::system_clock::time_point()>;

    /// `s` is given to the claims that are handed out, which keep it alive.
    queue_consumer(port& p,
                   std::shared_ptr<const queue_settings> settings,
                   wall_clock clock,
                   std::weak_ptr<session> s);

    signal& wake() noexcept { return wake_; }
    const queue_settings& settings() const noexcept { return *settings_; }
    bool stopped() const noexcept { return is_stopped(state_); }

    void enqueue(consumer_call call);

    /// The object is destroyed.
    void stop();

    /// A claim of this object has ended; the item is gone (acknowledged), or available again.
    void claim_ended(const std::string& name, bool acknowledged);

private:
    /// How the last attempt at the first items ended.
    enum class attempt_result : std::uint8_t {
        succeeded,
        failed,        ///< other clients got them
        failed_paused  ///< the same, and the pause after that is over
    };

    static task<> run(std::shared_ptr<queue_consumer> self);
    task<> serve();
    task<error_code> take_next_step();
    void succeeded(time_point begin);
    void failed();

    // Which items there are.
    task<error_code> list(watch_signal* newcomers);
    task<error_code> wait_for_items();
    task<error_code> watch_claims_elsewhere(std::size_t most);
    task<error_code> check_parent();
    bool parent_seen(const stat& record);
    void drop_claim_watches();
    void doubt_parent_soon();
    void read_clock();
    bool sure_of_parent() const noexcept;

    // Getting them.
    task<error_code> peek();
    task<error_code> take();
    error_code take_failed(const std::vector<available_item>& batch, const ledger_outcome& outcome);
    task<error_code> read(std::vector<available_item>& batch);
    task<> give_out(std::vector<available_item> batch, error_code ec);
    task<> put_back(available_item item);
    task<error_code> claim();
    task<error_code> hand_out(claim_attempt& attempt, bool other_parent);
    std::size_t batch_size(consumer_call::kind what) const;
    consumer_call* next_call(consumer_call::kind what);

    port& port_;
    std::shared_ptr<const queue_settings> settings_;
    wall_clock clock_;
    std::weak_ptr<session> session_;
    signal wake_;
    driver_state state_ = driver_state::idle;
    consumer_calls calls_;
    item_index index_;
    ledger takes_;
    backoff backoff_{std::chrono::milliseconds(1)};
    attempt_result last_attempt_ = attempt_result::succeeded;
};

}  // namespace corozk::detail
