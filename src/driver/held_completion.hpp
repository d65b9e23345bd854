// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"

#include <boost/asio/cancellation_signal.hpp>

#include <utility>

namespace corozk::detail {

/// Delays a successful completion until the last local copy releases it. As the operation has
/// succeeded already, cancellation and the deadline deliver the same result at once.
class held_completion final : public unfinished_call, private timer_node {
public:
    held_completion(port& p,
                    completion result,
                    boost::asio::cancellation_slot slot,
                    time_point deadline)
        : port_(p), result_(std::move(result)), slot_(slot) {
        p.watch_over(*this);
        if (slot_.is_connected())
            slot_.assign([this](boost::asio::cancellation_type) { deliver(); });
        if (deadline != time_point::max())
            p.start_timer(*this, deadline);
    }
    ~held_completion() { deliver(); }

    void drop() noexcept override { completion last = take(); }

private:
    void expired() noexcept override { deliver(); }

    void deliver() {
        if (!result_)
            return;
        // Destroys the slot's function, which may be the caller: do not touch it afterwards.
        port_.complete(take());
    }

    completion take() noexcept {
        timer_node::cancel();
        unfinished_call::unlink();
        if (slot_.is_connected())
            slot_.clear();
        return std::exchange(result_, nullptr);
    }

    port& port_;
    completion result_;
    boost::asio::cancellation_slot slot_;
};

}  // namespace corozk::detail
