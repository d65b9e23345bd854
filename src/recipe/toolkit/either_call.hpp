// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/pending_call.hpp"

#include <memory>
#include <utility>
#include <variant>

namespace corozk::detail {

/// A user's call with one of several result types, so that a driver can keep them in one queue.
template <class... Results>
class either_call {
public:
    either_call() = default;  ///< empty

    template <class Result>
    either_call(std::unique_ptr<pending_call<Result>> call) noexcept : call_(std::move(call)) {}

    bool waiting() const {
        return std::visit([](const auto& call) { return call->waiting(); }, call_);
    }

    void fail(error_code ec) {
        std::visit([ec](const auto& call) { call->fail(ec); }, call_);
    }

    /// The call, if it has this result type; otherwise null.
    template <class Result>
    pending_call<Result>* get() const noexcept {
        auto* call = std::get_if<std::unique_ptr<pending_call<Result>>>(&call_);
        return call ? call->get() : nullptr;
    }

private:
    std::variant<std::unique_ptr<pending_call<Results>>...> call_;
};

}  // namespace corozk::detail
