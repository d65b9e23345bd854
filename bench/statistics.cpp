// SPDX-License-Identifier: Apache-2.0
#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace corozk::bench {

void latencies::add(const latencies& other) {
    values_.insert(values_.end(), other.values_.begin(), other.values_.end());
    sorted_ = false;
}

double latencies::quantile(double share) const {
    if (values_.empty())
        return 0;
    if (!sorted_)
        std::sort(values_.begin(), values_.end());
    sorted_ = true;
    auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values_.size())));
    return values_[std::clamp<std::size_t>(rank, 1, values_.size()) - 1];
}

double latencies::mean() const {
    if (values_.empty())
        return 0;
    return std::accumulate(values_.begin(), values_.end(), 0.0) /
           static_cast<double>(values_.size());
}

double median(std::vector<double> values) {
    if (values.empty())
        return 0;
    std::sort(values.begin(), values.end());
    std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace corozk::bench
