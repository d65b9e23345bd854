// SPDX-License-Identifier: Apache-2.0
#include "place.hpp"

#include <charconv>
#include <stdexcept>

namespace corozk::matrix {

std::string place::text() const {
    switch (what) {
        case kind::whole: return "all";
        case kind::request: return std::to_string(number);
        case kind::answer: return std::to_string(number) + "a";
        case kind::notification: return std::to_string(number) + "n";
        case kind::turn: return std::to_string(number) + "t";
        case kind::state: return settled ? state + "+" : state;
    }
    return std::string();
}

place place::parse(const std::string& text) {
    if (text.empty())
        throw std::invalid_argument("a case needs a place");
    if (text == "all")
        return place();
    if (text[0] < '0' || text[0] > '9') {
        bool settled = text.back() == '+';
        return place(text.substr(0, text.size() - (settled ? 1 : 0)), settled);
    }
    std::uint64_t number = 0;
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    std::string rest(end, text.data() + text.size());
    if (problem == std::errc()) {
        if (rest.empty())
            return place(kind::request, number);
        if (rest == "a")
            return place(kind::answer, number);
        if (rest == "n")
            return place(kind::notification, number);
        if (rest == "t")
            return place(kind::turn, number);
    }
    throw std::invalid_argument("no such place: " + text);
}

}  // namespace corozk::matrix
