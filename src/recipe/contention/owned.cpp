// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/owned.hpp"

#include "driver/pending_call.hpp"

#include <utility>

namespace corozk::detail {

void held_calls::wait_lost(user_call<error_code> call) {
    call.ahead_of_copies();
    if (lost_reason_)
        return call.complete(error_code(), lost_reason_);
    if (given_back_)
        return call.fail(boost::asio::error::operation_aborted);
    sweep_(lost_, [](const auto& earlier) { return !earlier->waiting(); });
    lost_.push_back(cancellable(std::move(call), any_cancellation));
}

void held_calls::wait_release_requested(user_call<> call) {
    call.ahead_of_copies();
    if (lost_reason_)
        return call.fail(lost_reason_);
    if (given_back_)
        return call.fail(boost::asio::error::operation_aborted);
    if (requested_)
        return call.complete(error_code());
    if (request_ && request_->waiting())
        return call.fail(errc::busy);
    request_ = cancellable(std::move(call), any_cancellation);
}

void held_calls::lose(error_code reason) {
    lost_reason_ = reason;
    for (const auto& call : lost_)
        call->complete(error_code(), reason);
    if (request_)
        request_->fail(reason);
}

void held_calls::request_release() {
    requested_ = true;
    if (request_)
        request_->complete(error_code());
}

void held_calls::give_back() {
    given_back_ = true;
    for (const auto& call : lost_)
        call->fail(boost::asio::error::operation_aborted);
    if (request_)
        request_->fail(boost::asio::error::operation_aborted);
}

}  // namespace corozk::detail
