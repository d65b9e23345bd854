// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/recipe/delay_queue_types.hpp>
#include <corozk/recipe/queue.hpp>

#include <chrono>
#include <functional>
#include <string>

namespace corozk {

/**
 * @brief A queue whose items become available at their due times, in that order; items with equal
 *        due times in the order of the puts.
 *
 * `take`, `consume` and their variants wait until an item is due; `try_take`, `try_consume` and
 * `peek` consider only due items. Waiters are woken by a timer, and by a watch if an item with an
 * earlier due time is put. Otherwise as any queue: items are taken exactly once or acknowledged.
 * `count_items` and the bound also count items that are not due.
 *
 * As in `priority_queue`, takes use a listing that was requested after them.
 *
 * @par Clocks
 * The system clocks of the participants. A delay is added to the producer's clock when `put` is
 * called; the item is due when the consumer's clock reaches the result. If the clocks differ by d,
 * the item is taken up to d too early or too late. Nothing else depends on clocks: clocks that are
 * wrong or jump neither lose nor duplicate items, and the order is the same for all clients. If the
 * consumer's clock is set back, the item waits until it is due again; if set forward, items that
 * became due are taken within a second.
 *
 * @par Format
 * Items are named `queue-<due time>-<sequence>`, in milliseconds since 1970 with thirteen digits,
 * so that names sort. Other children are ignored. With another `compatibility` than `native`, all
 * operations except `count_items` fail with `errc::bad_option`. `put_many` adds items with the same due
 * time.
 *
 * @origin Curator's DistributedDelayQueue, whose item format is different.
 */
class COROZK_DECL delay_queue : public producing_queue<due_time> {
public:
    /// Returns the time. Called on the client's executor, never after the queue was destroyed. Must
    /// not throw.
    using wall_clock = std::function<std::chrono::system_clock::time_point()>;

    delay_queue() noexcept = default;

    /**
     * @brief `path` is the parent node of the items. Nothing is sent.
     *
     * @param time the clock, for instance one that follows a time server; empty: the system clock
     */
    delay_queue(const client& c,
                std::string path,
                queue_options options = queue_options(),
                wall_clock time = wall_clock());
};

}  // namespace corozk
