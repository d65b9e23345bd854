// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"

#include <boost/asio/cancellation_signal.hpp>

#include <utility>

namespace corozk::detail {

/// A good result that its handler gets when the last local copy lets go of this. Cancelling and
/// the deadline do not change what has happened: it goes at once then.
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
        // The slot's function may be the caller: nothing of it is touched after this.
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
