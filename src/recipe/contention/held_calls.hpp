// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/user_call.hpp"

#include <memory>

namespace corozk::detail {

/// What the holder of something waits for, one call each: that it is lost, and that somebody asks
/// for it.
class held_calls {
public:
    /// Completes with the reason of the loss. `busy` while another one waits; `operation_aborted`
    /// when it is given back.
    void wait_lost(user_call<error_code> call);

    /// Fails with the reason of a loss; otherwise as `wait_lost`.
    void wait_release_requested(user_call<> call);

    void lose(error_code reason);
    void request_release();
    void give_back();

    /// No error while it is not lost.
    const error_code& lost_reason() const noexcept { return lost_reason_; }

private:
    template <class... Values>
    void keep(user_call<Values...> call, std::shared_ptr<user_call<Values...>>& kept);

    std::shared_ptr<user_call<error_code>> lost_;
    std::shared_ptr<user_call<>> request_;
    error_code lost_reason_;
    bool requested_ = false;
    bool given_back_ = false;
};

}  // namespace corozk::detail
