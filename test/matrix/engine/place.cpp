// SPDX-License-Identifier: Apache-2.0
#include "place.hpp"

namespace corozk::matrix {

std::string place::text() const {
    switch (what) {
        case kind::whole:
            return "all";
        case kind::request:
            return std::to_string(number);
        case kind::answer:
            return std::to_string(number) + "a";
        case kind::state:
            return state;
    }
    return std::string();
}

place place::parse(const std::string& text) {
    if (text == "all")
        return place();
    if (text.empty() || text[0] < '0' || text[0] > '9')
        return place(text);
    bool answer = text.back() == 'a';
    return place(answer ? kind::answer : kind::request, std::stoull(text));
}

}  // namespace corozk::matrix
