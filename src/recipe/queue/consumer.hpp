// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/request.hpp"
#include "recipe/queue/acknowledger.hpp"
#include "recipe/queue/consumer_calls.hpp"
#include "recipe/queue/item_index.hpp"
#include "recipe/queue/side.hpp"
#include "recipe/toolkit/backoff.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace corozk::detail {

struct claim_attempt;

/// The consumers' side of a queue: one driver for all calls of an object.
class queue_consumer final : public queue_side {
public:
    using wall_clock = std::function<std::chrono::system_clock::time_point()>;

    /// `s` is kept alive by the claims.
    queue_consumer(port& p,
                   std::shared_ptr<const queue_settings> settings,
                   std::shared_ptr<queue_acknowledger> acknowledger,
                   wall_clock clock,
                   std::weak_ptr<session_view> s)
        : queue_side(p, std::move(settings)),
          acknowledger_(std::move(acknowledger)),
          clock_(std::move(clock)),
          session_(std::move(s)),
          index_(settings_->names) {}

    const wall_clock& clock() const noexcept { return clock_; }

    void enqueue(consumer_call call);
    void acknowledge(acknowledgement a) { acknowledger_->enqueue(std::move(a)); }

    /// A claim of this object has ended: the item was acknowledged, or is available again.
    void claim_ended(const std::string& name, bool acknowledged);

private:
    using kind = consumer_call::kind;

    task<> serve() override;
    bool waiting() const noexcept override { return batch_size(sought_.what) >= sought_.count; }
    void fail(error_code ec) override { calls_.fail(ec); }
    task<error_code> take_next_step();
    void succeeded(time_point begin);
    void failed();

    // Listing items.
    task<error_code> list(watch_signal* newcomers);
    task<error_code> wait_for_items();
    task<error_code> watch_claims_elsewhere(std::size_t most = std::string::npos);
    task<error_code> check_parent();
    bool parent_seen(const stat& record);
    void drop_claim_watches();
    void doubt_parent_soon();
    void read_clock();
    bool sure_of_parent() const noexcept {
        return index_.is_sure_of_parent(port_.status().revision);
    }

    // Getting items.
    std::size_t place();
    task<error_code> peek();
    task<error_code> take();
    std::size_t fitting(const std::vector<available_item>& batch) const;
    task<error_code> read(std::vector<available_item>& batch, std::size_t count);
    task<> give_out(std::vector<available_item> batch, error_code ec);
    task<consumer_call*> return_item(const available_item& item);
    task<error_code> put_back(const available_item& item);
    task<error_code> claim();
    task<error_code> hand_out(claim_attempt& attempt, bool other_parent);
    queue_item to_item(available_item item) const;
    std::size_t batch_size(kind what) const {
        return calls_.batch_size(what, index_.last_covered_call());
    }
    consumer_call* next_call(kind what) { return calls_.next(what, index_.last_covered_call()); }

    std::shared_ptr<queue_acknowledger> acknowledger_;
    wall_clock clock_;
    std::weak_ptr<session_view> session_;
    consumer_calls calls_;
    item_index index_;
    backoff backoff_{std::chrono::milliseconds(1)};
    watch_signal newcomers_{wake_};  ///< kept while there are calls
    bool last_succeeded_ = true;     ///< other clients did not get the first items
    bool pause_next_ = false;        ///< before the next attempt
    std::uint64_t generation_ = 0;   ///< of the session that the index is of
    std::size_t reach_ = 0;          ///< how many items to look at at a time, at the least

    /// The calls that the present requests are for.
    struct {
        kind what = kind::take;
        std::size_t count = 0;
    } sought_;
};

}  // namespace corozk::detail
