// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/initiate.hpp>
#include <corozk/ownership.hpp>
#include <corozk/time_limit.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace corozk::detail {

class session_view;

/// The parameters of an acquisition.
struct acquire_request {
    using time_point = time_limit::time_point;

    explicit acquire_request(std::uint8_t kind_ = 0, std::int32_t weight_ = 1) noexcept
        : kind(kind_), weight(weight_) {}

    acquire_request within(time_limit l) const noexcept {
        acquire_request result = *this;
        result.limit = l;
        return result;
    }
    acquire_request trying() const noexcept {
        acquire_request result = *this;
        result.try_only = true;
        return result;
    }

    std::uint8_t kind;      ///< such as reading or writing
    bool try_only = false;  ///< fail with `would_block` instead of waiting
    std::int32_t weight;    ///< the number of permits, or the priority
    time_limit limit = time_limit::for_ever();
    time_point deadline = time_point::max();  ///< known when it starts
};

/// An acquisition of a recipe as part of a `multi_lock`. It can be started repeatedly, even after
/// the recipe object has been destroyed.
class acquisition {
public:
    using handler_type = handler_of<ownership>;
    using starter = std::function<void(bool try_only, handler_type handler)>;

    acquisition() = default;
    acquisition(std::shared_ptr<session_view> s, std::string path, starter start)
        : session_(std::move(s)), path_(std::move(path)), start_(std::move(start)) {}

    const std::shared_ptr<session_view>& owner() const noexcept { return session_; }
    const std::string& path() const noexcept { return path_; }

    /// Supports cancellation by the handler's slot.
    void start(bool try_only, handler_type handler) const { start_(try_only, std::move(handler)); }

private:
    std::shared_ptr<session_view> session_;
    std::string path_;
    starter start_;
};

}  // namespace corozk::detail
