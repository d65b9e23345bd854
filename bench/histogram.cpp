// SPDX-License-Identifier: Apache-2.0
#include "histogram.hpp"

#include <boost/json/array.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace corozk::bench {

namespace {

constexpr std::uint64_t half = histogram::sub_buckets / 2;
constexpr int sub_bucket_bits = std::bit_width(histogram::sub_buckets) - 1;
constexpr double steps_per_halving = 5;

/// Which values share a counter: from `first`, `width` of them.
struct range {
    std::uint64_t first = 0;
    std::uint64_t width = 1;
};

range range_of(std::size_t index) {
    std::uint64_t bucket = index / half;
    if (bucket < 2)
        return {index, 1};
    return {(index % half + half) << (bucket - 1), std::uint64_t{1} << (bucket - 1)};
}

}  // namespace

std::size_t histogram::index_of(std::uint64_t nanoseconds) {
    int bucket =
        static_cast<int>(std::bit_width(nanoseconds | (sub_buckets - 1))) - sub_bucket_bits;
    auto shift = static_cast<std::uint64_t>(bucket);
    return static_cast<std::size_t>((shift * half) + (nanoseconds >> shift));
}

double histogram::greatest_at(std::size_t index) {
    range r = range_of(index);
    return static_cast<double>(r.first + r.width - 1) / 1e3;
}

double histogram::middle_at(std::size_t index) {
    range r = range_of(index);
    return static_cast<double>(r.first + r.width / 2) / 1e3;
}

void histogram::add(double microseconds) {
    auto value = static_cast<std::uint64_t>(std::max(std::llround(microseconds * 1e3), 0LL));
    std::size_t index = index_of(value);
    if (index >= counts_.size())
        counts_.resize(index + 1);
    ++counts_[index];
    ++total_;
    greatest_ = std::max(greatest_, value);
}

void histogram::add(const histogram& other) {
    counts_.resize(std::max(counts_.size(), other.counts_.size()));
    for (std::size_t i = 0; i < other.counts_.size(); ++i)
        counts_[i] += other.counts_[i];
    total_ += other.total_;
    greatest_ = std::max(greatest_, other.greatest_);
}

double histogram::mean() const {
    double sum = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i)
        sum += static_cast<double>(counts_[i]) * middle_at(i);
    return total_ > 0 ? sum / static_cast<double>(total_) : 0;
}

double histogram::deviation() const {
    double average = mean();
    double sum = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        double distance = middle_at(i) - average;
        sum += static_cast<double>(counts_[i]) * distance * distance;
    }
    return total_ > 0 ? std::sqrt(sum / static_cast<double>(total_)) : 0;
}

double histogram::max() const {
    return static_cast<double>(greatest_) / 1e3;
}

double histogram::quantile(double share) const {
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        seen += counts_[i];
        if (counts_[i] > 0 &&
            static_cast<double>(seen) + 1e-6 >= share * static_cast<double>(total_))
            return std::min(greatest_at(i), max());
    }
    return 0;
}

std::vector<histogram::point> histogram::percentiles() const {
    std::vector<point> points;
    double wanted = 0;
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        if (counts_[i] == 0)
            continue;
        seen += counts_[i];
        // Sums of fractions are not exact: that must not ask for one value more.
        double share = (static_cast<double>(seen) + 1e-6) / static_cast<double>(total_);
        double value = std::min(greatest_at(i), max());
        while (seen < total_ && share >= wanted) {
            points.push_back({value, wanted, seen});
            double halvings = std::floor(-std::log2(1 - wanted)) + 1;
            wanted += 1 / (steps_per_halving * std::exp2(halvings));
        }
        if (seen == total_)
            points.push_back({value, 1, seen});
    }
    return points;
}

boost::json::object histogram::to_json() const {
    auto rounded = [](double value) { return std::round(value * 1e3) / 1e3; };
    boost::json::object object;
    object["count"] = total_;
    object["mean"] = rounded(mean());
    object["deviation"] = rounded(deviation());
    object["max"] = rounded(max());
    boost::json::array points;
    for (const point& p : percentiles()) {
        boost::json::array one;
        one.emplace_back(rounded(p.value));
        one.emplace_back(p.share);
        one.emplace_back(p.count);
        points.emplace_back(std::move(one));
    }
    object["percentiles"] = std::move(points);
    return object;
}

std::string to_hgrm(const boost::json::object& distribution) {
    auto number = [](const boost::json::value& v) { return v.to_number<double>(); };
    std::string text = fmt::format(
        "{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    for (const auto& each : distribution.at("percentiles").as_array()) {
        const auto& point = each.as_array();
        double share = number(point.at(1));
        text += fmt::format(
            "{:12.3f} {:14.12f} {:10.0f}", number(point.at(0)), share, number(point.at(2)));
        text += share < 1 ? fmt::format(" {:14.2f}\n", 1 / (1 - share)) : "\n";
    }
    double max = number(distribution.at("max"));
    auto nanoseconds = static_cast<std::uint64_t>(max * 1e3);
    auto buckets = static_cast<int>(std::bit_width(nanoseconds | (histogram::sub_buckets - 1))) -
                   sub_bucket_bits + 1;
    text += fmt::format("#[Mean    = {:12.3f}, StdDeviation   = {:12.3f}]\n",
                        number(distribution.at("mean")),
                        number(distribution.at("deviation")));
    text += fmt::format("#[Max     = {:12.3f}, Total count    = {:12.0f}]\n",
                        max,
                        number(distribution.at("count")));
    text += fmt::format(
        "#[Buckets = {:12}, SubBuckets     = {:12}]\n", buckets, histogram::sub_buckets);
    return text;
}

}  // namespace corozk::bench
