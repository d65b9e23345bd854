// SPDX-License-Identifier: Apache-2.0
#include "lie_witness.hpp"

#include <iostream>
#include <sstream>
#include <string_view>
#include <utility>

namespace corozk::wire {

namespace {

constexpr std::string_view occasion_word = "chances ";

}  // namespace

lie_witness::lie_witness(testing::liar tells) : tells_(std::move(tells)) {}

std::string lie_witness::operator()(const testing::frame_info& frame, std::string bytes) {
    {
        std::lock_guard guard(mutex_);
        for (testing::wire_occasion occasion : testing::all_wire_occasions())
            occasions_[occasion] += is_occasion(occasion, frame) ? 1 : 0;
    }
    std::uint64_t before = tells_.lies();
    testing::op_code op = frame.op;
    std::string sent = tells_(frame, std::move(bytes));
    if (tells_.lies() != before && lied_at_.insert(op).second)
        std::cout << lied << to_string(op) << std::endl;
    return sent;
}

std::string lie_witness::describe_occasions() const {
    std::lock_guard guard(mutex_);
    std::ostringstream text;
    for (const auto& [occasion, count] : occasions_)
        text << occasion_word << to_string(occasion) << " " << count << "\n";
    return text.str();
}

occasion_counts occasions_in(const std::string& output) {
    occasion_counts counts;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(occasion_word))
            continue;
        std::istringstream words(line.substr(occasion_word.size()));
        std::string name;
        std::uint64_t count = 0;
        words >> name >> count;
        if (auto occasion = testing::wire_occasion_named(name))
            counts[*occasion] = count;
    }
    return counts;
}

}  // namespace corozk::wire
