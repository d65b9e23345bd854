// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/user_call.hpp"

#include <memory>

namespace corozk::detail {

/// The pending calls of a holder, one each: for its loss, and for a release request.
class held_calls {
public:
    /// Completes with the reason for the loss. `busy` while another one is pending;
    /// `operation_aborted` when released.
    void wait_lost(user_call<error_code> call);

    /// Fails with the reason for a loss; otherwise as `wait_lost`.
    void wait_release_requested(user_call<> call);

    void lose(error_code reason);
    void request_release();
    void give_back();

    /// No error unless it is lost.
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
