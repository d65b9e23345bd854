// SPDX-License-Identifier: Apache-2.0
// A clock on the wall that goes only when a test turns it.
#pragma once

#include <chrono>
#include <functional>

namespace corozk::testing {

class hand_clock {
public:
    using time_point = std::chrono::system_clock::time_point;

    explicit hand_clock(std::chrono::milliseconds since_1970 = std::chrono::hours(24 * 365))
        : now_(since_1970) {}
    hand_clock(const hand_clock&) = delete;
    hand_clock& operator=(const hand_clock&) = delete;

    time_point now() const noexcept { return now_; }
    void turn(std::chrono::milliseconds by) noexcept { now_ += by; }

    /// For a recipe; the clock must outlive it.
    std::function<time_point()> reader() {
        return [this] { return now_; };
    }

private:
    time_point now_;
};

}  // namespace corozk::testing
