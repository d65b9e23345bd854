// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/user_call.hpp"
#include "session/session_view.hpp"

#include <memory>
#include <string>
#include <utility>

namespace corozk::detail {

/// A client operation with its completion handler. Owns itself after `launch`.
template <class Convert, class... Values>
class user_operation final : public operation {
public:
    user_operation(const std::shared_ptr<session_view>& s,
                   op_code code_,
                   std::string path_,
                   handler_of<Values...> handler,
                   Convert convert)
        : operation(code_, std::move(path_)),
          session_(*s),
          call_(*s, std::move(handler)),
          convert_(std::move(convert)) {}

    void launch() {
        if (!changes_state(code))
            call_.ahead_of_copies();
        call_.on_cancel([this](cancellation_type type) { cancel(type); });
        session_.start(*this);
    }

private:
    void cancel(cancellation_type type) {
        // In flight and with an effect: total cancellation would promise none, so it is ignored.
        bool effect = changes_state(code) && state == progress::sent;
        bool total_only = (type & (cancellation_type::terminal | cancellation_type::partial)) ==
                          cancellation_type::none;
        if (effect && total_only)
            return;
        bool mine = session_.withdraw(*this);
        call_.fail(boost::asio::error::operation_aborted);
        if (mine)
            delete this;
    }

    void finished() noexcept override {
        if constexpr (sizeof...(Values) == 0) {
            // Also if nobody waits any more: the client keeps accepted credentials.
            convert_(static_cast<operation&>(*this));
            call_.complete(error);
        } else if (call_.waiting()) {
            auto value = convert_(static_cast<operation&>(*this));
            call_.complete(error, std::move(value));
        }
        delete this;
    }

    void abandoned() noexcept override { delete this; }

    session_view& session_;
    user_call<Values...> call_;
    Convert convert_;
};

}  // namespace corozk::detail
