// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/owned.hpp"

#include "driver/cancellable.hpp"

#include <utility>

namespace corozk::detail {

/// Stores a pending call.
template <class... Values>
void held_calls::keep(user_call<Values...> call, std::shared_ptr<user_call<Values...>>& kept) {
    if (given_back_)
        return call.fail(boost::asio::error::operation_aborted);
    if (kept && kept->waiting())
        return call.fail(errc::busy);
    kept = cancellable(std::move(call), any_cancellation);
}

void held_calls::wait_lost(user_call<error_code> call) {
    call.ahead_of_copies();
    if (lost_reason_)
        return call.complete(error_code(), lost_reason_);
    keep(std::move(call), lost_);
}

void held_calls::wait_release_requested(user_call<> call) {
    call.ahead_of_copies();
    if (lost_reason_)
        return call.fail(lost_reason_);
    if (requested_ && !given_back_)
        return call.complete(error_code());
    keep(std::move(call), request_);
}

void held_calls::lose(error_code reason) {
    lost_reason_ = reason;
    if (lost_)
        lost_->complete(error_code(), reason);
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
    if (lost_)
        lost_->fail(boost::asio::error::operation_aborted);
    if (request_)
        request_->fail(boost::asio::error::operation_aborted);
}

}  // namespace corozk::detail
