// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/object.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace corozk::bench {

/// How values are distributed, with HdrHistogram's technique: buckets whose width doubles, each
/// divided linearly, so that every value is known to three significant digits however large it is.
/// Microseconds; a nanosecond is the least that is told apart.
class histogram {
public:
    /// Values up to 2 * 10^3 units have buckets of their own: the next power of two.
    static constexpr std::uint64_t sub_buckets = 2'048;

    void add(double microseconds);
    void add(const histogram& other);

    std::uint64_t count() const noexcept { return total_; }
    double mean() const;
    double deviation() const;
    double max() const;

    /// The smallest value that at least this share of all does not exceed; 0 when there are none.
    double quantile(double share) const;

    /// So many of all values are not greater than this one.
    struct point {
        double value = 0;
        double share = 0;
        std::uint64_t count = 0;
    };

    /// From the smallest to the largest, with finer steps the closer the share is to 1: five for
    /// each halving of the rest.
    std::vector<point> percentiles() const;

    /// {"count", "mean", "deviation", "max", "percentiles": [[value, share, count]...]}
    boost::json::object to_json() const;

private:
    static std::size_t index_of(std::uint64_t nanoseconds);
    /// The greatest value that is counted there; and the one in the middle.
    static double greatest_at(std::size_t index);
    static double middle_at(std::size_t index);

    std::vector<std::uint64_t> counts_;
    std::uint64_t total_ = 0;
    std::uint64_t greatest_ = 0;
};

/// The same as text in HdrHistogram's format (.hgrm), which its plotters read.
/// @param distribution what `histogram::to_json` gave
std::string to_hgrm(const boost::json::object& distribution);

}  // namespace corozk::bench
