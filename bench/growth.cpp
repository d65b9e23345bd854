// SPDX-License-Identifier: Apache-2.0
#include "growth.hpp"

#include "table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

namespace corozk::bench {

namespace {

constexpr double memory_tolerance = 1.01;

/// The largest value of the second quarter, and the smallest of the last.
template <class Member>
std::pair<double, double> before_and_after(std::span<const occupancy> samples, Member member) {
    auto value = [member](const occupancy& s) { return static_cast<double>(s.*member); };
    std::size_t quarter = samples.size() / 4;
    std::vector<double> second;
    std::vector<double> last;
    for (std::size_t i = 0; i < quarter; ++i) {
        second.push_back(value(samples[quarter + i]));
        last.push_back(value(samples[samples.size() - 1 - i]));
    }
    return {*std::max_element(second.begin(), second.end()),
            *std::min_element(last.begin(), last.end())};
}

}  // namespace

occupancy least_of(const occupancy& a, const occupancy& b) {
    return {std::min(a.heap_bytes, b.heap_bytes),
            std::min(a.resident_bytes, b.resident_bytes),
            std::min(a.descriptors, b.descriptors),
            std::min(a.threads, b.threads)};
}

std::string growth(std::span<const occupancy> samples) {
    if (samples.size() < least_samples)
        throw std::logic_error("too few samples to see growth");
    std::vector<std::string> what;
    auto look = [&](const char* name, auto member, double tolerance, std::string (*text)(double)) {
        auto [before, after] = before_and_after(samples, member);
        if (after > before * tolerance)
            what.push_back(fmt::format("{} from {} to {}", name, text(before), text(after)));
    };
    look("heap", &occupancy::heap_bytes, memory_tolerance, bytes_text);
    look("resident memory", &occupancy::resident_bytes, memory_tolerance, bytes_text);
    look("descriptors", &occupancy::descriptors, 1, count_text);
    look("threads", &occupancy::threads, 1, count_text);
    return fmt::format("{}", fmt::join(what, ", "));
}

}  // namespace corozk::bench
