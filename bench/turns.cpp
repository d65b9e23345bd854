// SPDX-License-Identifier: Apache-2.0
#include "turns.hpp"

#include <algorithm>
#include <stdexcept>

namespace corozk::bench {

void turns::released(bool shared, clock::time_point now) {
    last_release_ = now;
    if (!shared) {
        exclusive_ = false;
        last_exclusive_release_ = now;
        return;
    }
    --sharing_;
    if (permits_ > 0)
        free_permits_.push_back(now);
}

clock::time_point turns::granted(bool shared, std::int64_t token) {
    bool crowded =
        exclusive_ || (!shared && sharing_ > 0) || (shared && permits_ > 0 && sharing_ == permits_);
    if (crowded)
        throw std::logic_error("it was granted while others held it");
    // Permits and readers' turns that begin together may be told of in any order.
    if (token <= (shared ? exclusive_token_ : largest_token_)) {
        throw std::logic_error("it was granted out of order: it has two owners");
    }
    largest_token_ = std::max(largest_token_, token);
    if (!shared) {
        exclusive_ = true;
        exclusive_token_ = token;
        return last_release_;
    }
    ++sharing_;
    if (permits_ == 0)
        return last_exclusive_release_;
    if (free_permits_.empty())
        return last_release_;  // nobody had it before
    auto since = free_permits_.front();
    free_permits_.pop_front();
    return since;
}

}  // namespace corozk::bench
