// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/toolkit/either_call.hpp"
#include <corozk/recipe/queue.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>

namespace corozk::detail {

/// A call of `take`, `peek` or `consume`.
struct consumer_call {
    enum class kind : std::uint8_t { take, peek, consume };

    kind what = kind::take;
    bool no_wait = false;
    std::uint64_t number = 0;  ///< in the order of the calls
    either_call<queue_item, queue_claim> result;

    bool waiting() const { return result.waiting(); }
};

/// The calls that wait for items, served in their order. `covered`: the last call that the listing is
/// good for.
class consumer_calls {
public:
    using kind = consumer_call::kind;

    /// After `drop_finished`.
    bool empty() const noexcept { return calls_.empty(); }
    kind first() const noexcept { return calls_.front().what; }

    void push(consumer_call call);
    void drop_finished();
    void fail(error_code ec);
    void fail_those_that_cannot_wait(error_code ec);
    bool some_cannot_wait() const;

    /// How many calls at the front are of this kind; at most a batch.
    std::size_t batch_size(kind what, std::uint64_t covered) const;

    /// The call that gets what was deleted or claimed; null if there is none.
    consumer_call* next(kind what, std::uint64_t covered);

private:
    std::deque<consumer_call> calls_;
    std::size_t sweep_at_ = 0;
};

}  // namespace corozk::detail
