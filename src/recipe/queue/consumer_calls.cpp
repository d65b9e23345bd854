// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/consumer_calls.hpp"

#include <algorithm>
#include <utility>

namespace corozk::detail {

namespace {

constexpr std::size_t largest_batch = 64;

/// Fewer calls than these are not swept.
constexpr std::size_t least_sweep = 16;

}  // namespace

void consumer_calls::push(consumer_call call) {
    drop_finished();
    calls_.push_back(std::move(call));
}

/// Finished calls behind one that waits are swept only when the number of calls has doubled: amortised
/// O(1).
void consumer_calls::drop_finished() {
    while (!calls_.empty() && !calls_.front().waiting())
        calls_.pop_front();
    if (calls_.size() < sweep_at_)
        return;
    std::erase_if(calls_, [](const consumer_call& c) { return !c.waiting(); });
    sweep_at_ = std::max(least_sweep, 2 * calls_.size());
}

void consumer_calls::fail(error_code ec) {
    for (consumer_call& c : calls_)
        c.result.fail(ec);
}

void consumer_calls::fail_those_that_cannot_wait(error_code ec) {
    for (consumer_call& c : calls_) {
        if (c.no_wait)
            c.result.fail(ec);
    }
}

bool consumer_calls::some_cannot_wait() const {
    return std::any_of(calls_.begin(), calls_.end(), [](const consumer_call& c) {
        return c.no_wait && c.waiting();
    });
}

std::size_t consumer_calls::batch_size(kind what, std::uint64_t covered) const {
    std::size_t count = 0;
    for (const consumer_call& c : calls_) {
        if (c.number > covered || count == largest_batch)
            break;
        if (!c.waiting())
            continue;
        if (c.what != what)
            break;
        ++count;
    }
    return count;
}

consumer_call* consumer_calls::next(kind what, std::uint64_t covered) {
    for (consumer_call& c : calls_) {
        if (c.number > covered)
            break;
        if (c.what == what && c.waiting())
            return &c;
    }
    return nullptr;
}

}  // namespace corozk::detail
