// SPDX-License-Identifier: Apache-2.0
// Where in a scenario a fault is put.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace corozk::matrix {

struct place {
    enum class kind : std::uint8_t { whole, request, answer, notification, state };

    place() = default;
    place(kind k, std::uint64_t n) : what(k), number(n) {}
    explicit place(std::string s, bool settled_ = false)
        : what(kind::state), state(std::move(s)), settled(settled_) {}

    /// "all", "7", "7a" (the answer to request 7), "2n" (the second notification), the name of a
    /// state, or that and "+": what the fault causes is waited for before the scenario goes on.
    std::string text() const;
    static place parse(const std::string& text);

    kind what = kind::whole;
    std::uint64_t number = 0;
    std::string state;
    bool settled = false;
};

}  // namespace corozk::matrix
