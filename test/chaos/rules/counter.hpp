// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "chaos/judgement.hpp"
#include "chaos/record.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace corozk::chaos {

/// A counter that everybody increases by one:
///
///  1. In the end it is the number of additions that succeeded, and of those in doubt at most all.
///  2. No sum was told twice.
///  3. A sum is larger than all that had been told before its addition began.
///  4. In the end the counter has not fallen below a sum that was told: additions in doubt that were
///     carried out would hide such a loss from 1.
class counter_judge {
public:
    explicit counter_judge(judgement& result) : result_(result) {}

    void hear(const record& r) {
        if (r.what == deed::adding) {
            ++tried_;
            told_before_[{r.who, r.number}] = largest_told();
        } else if (r.what == deed::not_added) {
            --tried_;
        } else if (r.what == deed::added) {
            ++certain_;
            hear_sum(r);
        }
    }

    void compare_with(std::int64_t counter) {
        result_.added = static_cast<std::size_t>(certain_);
        result_.in_doubt += static_cast<std::size_t>(std::max<std::int64_t>(tried_ - certain_, 0));
        std::string is = "the counter is " + std::to_string(counter);
        if (counter < certain_) {
            blame(is + " after " + std::to_string(certain_) + " additions");
        } else if (counter < largest_told()) {
            blame(is + ", and the sum " + std::to_string(largest_told()) + " was told");
        }
        if (counter > tried_)
            blame(is + ", and only " + std::to_string(tried_) + " additions were tried");
    }

private:
    void hear_sum(const record& r) {
        std::string sum = "the sum " + std::to_string(r.token) + " was told to " + r.who;
        auto begun = told_before_.find({r.who, r.number});
        auto [at, fresh] = told_to_.emplace(r.token, r.who);
        if (!fresh) {
            blame(sum + " and to " + at->second);
        } else if (begun != told_before_.end() && r.token <= begun->second) {
            blame(sum + ", whose addition began after " + std::to_string(begun->second) +
                  " had been told");
        }
    }

    std::int64_t largest_told() const { return told_to_.empty() ? 0 : told_to_.rbegin()->first; }

    void blame(std::string what) { result_.violations.push_back(std::move(what)); }

    judgement& result_;
    std::int64_t certain_ = 0;
    std::int64_t tried_ = 0;
    std::map<std::int64_t, std::string> told_to_;
    /// Of each addition, by who began it and its number: the largest sum that had been told then.
    std::map<std::pair<std::string, std::int64_t>, std::int64_t> told_before_;
};

inline void judge_counter(const std::vector<record>& records,
                          const final_state& last,
                          judgement& result) {
    counter_judge judge(result);
    for (const record& r : records)
        judge.hear(r);
    judge.compare_with(last.counter);
}

}  // namespace corozk::chaos
