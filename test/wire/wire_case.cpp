// SPDX-License-Identifier: Apache-2.0
#include "wire_case.hpp"

#include <stdexcept>
#include <vector>

namespace corozk::wire {

std::string wire_case::text() const {
    return scenario + "/" + attack + "/" + std::to_string(at) + (persistent ? "+" : "") + "/" +
           std::to_string(seed);
}

wire_case wire_case::parse(const std::string& text) {
    std::vector<std::string> parts(1);
    for (char c : text) {
        if (c == '/') {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    if (parts.size() != 4)
        throw std::invalid_argument("a case is SCENARIO/ATTACK/FRAME/SEED");
    wire_case result;
    result.scenario = parts[0];
    result.attack = parts[1];
    result.at = std::stoull(parts[2]);
    result.persistent = parts[2].ends_with('+');
    result.seed = std::stoull(parts[3]);
    return result;
}

}  // namespace corozk::wire
