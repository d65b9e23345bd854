// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/signal.hpp"
#include "driver/user_call.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <memory>
#include <tuple>
#include <utility>

namespace corozk::detail {

/// A user operation (with a completion handler) that is started by a driver, whose signal is set
/// when it completes. If this is destroyed first, the result is destroyed: an ownership is
/// released.
template <class... Values>
class inner_call {
public:
    inner_call(port& p, signal& wake) : state_(std::make_shared<call_state>()) {
        state_->wake = &wake;
        executor_ = p.executor();
    }
    inner_call(const inner_call&) = delete;
    inner_call& operator=(const inner_call&) = delete;
    ~inner_call() { state_->wake = nullptr; }

    /// The operation's handler. Call once.
    handler_of<Values...> handler() { return token(); }

    /// Same as above, for a public operation, which erases the type by itself.
    auto token() {
        auto finished = [state = state_](error_code ec, Values... values) {
            state->done = true;
            state->ec = ec;
            if (!state->wake)
                return;
            state->values = std::tuple<Values...>(std::move(values)...);
            state->wake->set();
        };
        auto cancellable =
            boost::asio::bind_cancellation_slot(state_->cancel.slot(), std::move(finished));
        return boost::asio::bind_executor(executor_, std::move(cancellable));
    }

    void cancel() { state_->cancel.emit(cancellation_type::terminal); }

    bool done() const noexcept { return state_->done; }
    const error_code& error() const noexcept { return state_->ec; }
    auto& value() noexcept { return std::get<0>(state_->values); }

private:
    struct call_state {
        bool done = false;
        error_code ec;
        std::tuple<Values...> values;
        signal* wake = nullptr;  ///< null once this was destroyed
        boost::asio::cancellation_signal cancel;
    };

    boost::asio::any_io_executor executor_;
    std::shared_ptr<call_state> state_;
};

}  // namespace corozk::detail
