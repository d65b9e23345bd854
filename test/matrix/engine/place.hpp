// SPDX-License-Identifier: Apache-2.0
// Where in a scenario a fault is put.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace corozk::matrix {

struct place {
    enum class kind : std::uint8_t { whole, request, answer, notification, turn, state };

    place() = default;
    place(kind k, std::uint64_t n) : what(k), number(n) {}
    explicit place(std::string s, bool settled_ = false)
        : what(kind::state), state(std::move(s)), settled(settled_) {}

    /// "all", "7" (request 7), "7a" (its response), "2n" (the second notification), "12t" (after 12
    /// handlers of the event loop), the name of a state, or that and "+": the scenario goes on only
    /// after the client has recovered.
    std::string text() const;
    static place parse(const std::string& text);

    kind what = kind::whole;
    std::uint64_t number = 0;
    std::string state;
    bool settled = false;
};

}  // namespace corozk::matrix
