// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace corozk::bench {

using clock = std::chrono::steady_clock;

template <class Duration>
double to_microseconds(Duration d) {
    return std::chrono::duration<double, std::micro>(d).count();
}

template <class Duration>
double to_seconds(Duration d) {
    return std::chrono::duration<double>(d).count();
}

/// Latencies in microseconds, every one of them kept.
class latencies {
public:
    void reserve(std::size_t n) { values_.reserve(n); }
    void add(double microseconds) {
        values_.push_back(microseconds);
        sorted_ = false;
    }
    void add(const latencies& other);

    const std::vector<double>& values() const noexcept { return values_; }
    bool empty() const noexcept { return values_.empty(); }
    std::size_t size() const noexcept { return values_.size(); }

    /// The smallest value that at least this share of all does not exceed; 0 when there are none.
    double quantile(double share) const;
    double p50() const { return quantile(0.5); }
    double p99() const { return quantile(0.99); }
    double max() const { return quantile(1.0); }
    double mean() const;

private:
    mutable std::vector<double> values_;
    mutable bool sorted_ = true;
};

double median(std::vector<double> values);

}  // namespace corozk::bench
