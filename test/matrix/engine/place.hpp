// SPDX-License-Identifier: Apache-2.0
// Where in a scenario a fault is put.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace corozk::matrix {

struct place {
    enum class kind : std::uint8_t { whole, request, answer, state };

    place() = default;
    place(kind k, std::uint64_t n) : what(k), number(n) {}
    explicit place(std::string s) : what(kind::state), state(std::move(s)) {}

    /// "all", "7", "7a" (behind the answer of request 7), or the name of a state.
    std::string text() const;
    static place parse(const std::string& text);

    kind what = kind::whole;
    std::uint64_t number = 0;
    std::string state;
};

}  // namespace corozk::matrix
