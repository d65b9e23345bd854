// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/contention/contention_settings.hpp"

#include <cstdint>
#include <utility>

namespace corozk::detail {

/// A limit, and the version of the parent's data that contains it.
struct known_limit {
    std::int32_t value = 0;
    std::int32_t version = 0;
};

/// The knowledge of the limit that a rule needs. No decision is based on one that may have changed.
class limit_state {
public:
    explicit limit_state(const contention_settings& s) noexcept
        : limit_{s.fixed_limit, 0}, state_(s.initial_limit > 0 ? state::unknown : state::fixed) {}

    std::int32_t value() const noexcept { return limit_.value; }
    std::int32_t version() const noexcept { return limit_.version; }

    /// Whether decisions have to wait for it.
    bool missing() const noexcept { return state_ == state::unknown || state_ == state::asked; }

    /// Whether it is stored in the parent's data and up to date.
    bool known() const noexcept { return state_ == state::known; }

    /// @return whether to read it now
    bool ask() noexcept {
        return missing() && std::exchange(state_, state::asked) == state::unknown;
    }

    /// @param watched whether a change would be reported
    void answered(const known_limit& found, bool watched) noexcept {
        limit_ = found;
        state_ = watched ? state::known : state::unknown;
    }
    void not_answered() noexcept { state_ = state::unknown; }

    /// It may have changed.
    void changed() noexcept {
        if (known())
            state_ = state::unknown;
    }

private:
    enum class state : std::uint8_t { fixed, unknown, asked, known };

    known_limit limit_;
    state state_;
};

}  // namespace corozk::detail
