// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

namespace corozk::detail {

class session;

/// What the object of a recipe holds: its client's session, and what works there for it. That is told
/// (`Impl::stop()`) when the object goes, or gets another one's: it ends what has been asked for, and
/// cleans up behind itself. `Impl` is complete where this is moved and destroyed: in the recipe's own
/// file.
template <class Impl>
class recipe_object {
protected:
    recipe_object() noexcept = default;
    explicit recipe_object(std::shared_ptr<session> s,
                           std::shared_ptr<Impl> impl = nullptr) noexcept
        : session_(std::move(s)), impl_(std::move(impl)) {}
    recipe_object(recipe_object&&) noexcept = default;
    recipe_object& operator=(recipe_object&& other) noexcept {
        if (this != &other) {
            stop();
            impl_ = std::move(other.impl_);  // first: it refers to the session
            session_ = std::move(other.session_);
        }
        return *this;
    }
    ~recipe_object() { stop(); }

    std::shared_ptr<session> session_;
    std::shared_ptr<Impl> impl_;  ///< null if the client was moved from

private:
    void stop() noexcept {
        if (impl_)
            impl_->stop();
    }
};

}  // namespace corozk::detail
