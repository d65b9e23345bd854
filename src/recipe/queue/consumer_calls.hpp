// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/sweep.hpp"
#include "recipe/toolkit/either_call.hpp"
#include <corozk/recipe/queue.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <utility>

namespace corozk::detail {

/// A call of `take`, `peek` or `consume`.
struct consumer_call {
    enum class kind : std::uint8_t { take, peek, consume };

    kind what = kind::take;
    bool no_wait = false;
    either_call<queue_item, queue_claim> result;
    std::uint64_t number = 0;  ///< in the order of the calls

    bool waiting() const { return result.waiting(); }
};

/// The pending calls, served in order. `covered`: the last call that the listing is valid for.
class consumer_calls final : public interest {
public:
    using kind = consumer_call::kind;

    static constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();

    /// Whether any call is pending.
    bool waiting() const noexcept override {
        return std::any_of(
            calls_.begin(), calls_.end(), [](const consumer_call& c) { return c.waiting(); });
    }

    /// After `drop_finished`.
    bool empty() const noexcept { return calls_.empty(); }
    const consumer_call& first() const noexcept { return calls_.front(); }

    void push(consumer_call call) {
        drop_finished();
        perhaps_no_wait_ = perhaps_no_wait_ || call.no_wait;
        calls_.push_back(std::move(call));
    }

    /// Those behind a pending one only now and then.
    void drop_finished() {
        while (!calls_.empty() && !calls_.front().waiting())
            calls_.pop_front();
        sweep_(calls_, [](const consumer_call& c) { return !c.waiting(); });
    }

    void fail(error_code ec) {
        for (consumer_call& c : calls_)
            c.result.fail(ec);
    }

    void fail(kind what, error_code ec) {
        for (consumer_call& c : calls_) {
            if (c.what == what)
                c.result.fail(ec);
        }
    }

    void fail_those_that_cannot_wait(error_code ec, std::uint64_t covered = all) {
        if (!perhaps_no_wait_)
            return;
        for (consumer_call& c : calls_) {
            if (c.no_wait && c.number <= covered)
                c.result.fail(ec);
        }
    }

    bool some_cannot_wait() {
        perhaps_no_wait_ = perhaps_no_wait_ &&
                           std::any_of(calls_.begin(), calls_.end(), [](const consumer_call& c) {
                               return c.no_wait && c.waiting();
                           });
        return perhaps_no_wait_;
    }

    /// The number of calls of this kind at the front, at most a batch.
    std::size_t batch_size(kind what, std::uint64_t covered) const {
        std::size_t count = 0;
        for (const consumer_call& c : calls_) {
            if (c.number > covered || count == largest_batch)
                break;
            if (c.waiting() && c.what != what)
                break;
            count += c.waiting() ? 1 : 0;
        }
        return count;
    }

    /// The call that gets the next item that was deleted or claimed; null if there is none.
    consumer_call* next(kind what, std::uint64_t covered) {
        for (consumer_call& c : calls_) {
            if (c.number > covered)
                break;
            if (c.what == what && c.waiting())
                return &c;
        }
        return nullptr;
    }

private:
    static constexpr std::size_t largest_batch = 64;

    std::deque<consumer_call> calls_;
    sweep sweep_;
    bool perhaps_no_wait_ = false;  ///< some of the calls may be such
};

}  // namespace corozk::detail
