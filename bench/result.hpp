// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "histogram.hpp"
#include "statistics.hpp"

#include <boost/json/object.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corozk::bench {

/// What a row says of a figure that it has of several repetitions.
enum class of_repetitions {
    median,
    most,  ///< of what must not happen: once is enough
    least,
};

/// One row: what was measured, and a figure per repetition for each of its keys. A dot in a key
/// makes an object: "handover_us.p50".
class result {
public:
    result() = default;

    /// What it is about; not repeated.
    result& set(std::string_view key, std::string_view value);
    result& set(std::string_view key, std::size_t value);

    /// One more repetition of a figure.
    result& add(std::string_view key, double value, of_repetitions told = of_repetitions::median);

    /// More of what `distribution_us` shows, over all repetitions: see histogram.hpp.
    result& add(const latencies& more);

    bool has(std::string_view key) const { return find(key) != nullptr; }
    bool has_figures() const { return !figures_.empty(); }

    /// The median over the repetitions; 0 when there are none.
    double median(std::string_view key) const;
    /// Of the repetition that was added last.
    double last(std::string_view key) const;
    double least(std::string_view key) const;
    double most(std::string_view key) const;

    /// What was `set`: 0 or "" when it was not.
    double number(std::string_view key) const;
    std::string_view text(std::string_view key) const;

    /// All of it: what is told of the repetitions, and where there are several of them their spread. Without
    /// figures that are infinite or no numbers.
    boost::json::object to_json() const;

private:
    struct figure {
        std::string key;
        of_repetitions told;
        std::vector<double> values;

        double value() const;
    };

    const figure* find(std::string_view key) const;

    boost::json::object facts_;
    histogram distribution_;
    std::vector<figure> figures_;
};

}  // namespace corozk::bench
