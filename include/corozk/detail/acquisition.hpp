// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/initiate.hpp>
#include <corozk/ownership.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace corozk::detail {

class session;

/// An acquisition of a recipe as part of a `multi_lock`. It can be started repeatedly, also after
/// the recipe object has been destroyed.
class acquisition {
public:
    using handler_type = any_handler<void(error_code, ownership)>;
    using starter = std::function<void(bool try_only, handler_type handler)>;

    acquisition() = default;
    acquisition(std::shared_ptr<session> s, std::string path, starter start)
        : session_(std::move(s)), path_(std::move(path)), start_(std::move(start)) {}

    const std::shared_ptr<session>& owner() const noexcept { return session_; }
    const std::string& path() const noexcept { return path_; }

    /// Supports cancellation by the handler's slot.
    void start(bool try_only, handler_type handler) const { start_(try_only, std::move(handler)); }

private:
    std::shared_ptr<session> session_;
    std::string path_;
    starter start_;
};

}  // namespace corozk::detail
