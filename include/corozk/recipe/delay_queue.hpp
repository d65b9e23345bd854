// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/recipe/delay_queue_types.hpp>
#include <corozk/recipe/queue.hpp>

#include <chrono>
#include <functional>
#include <string>

namespace corozk {

/**
 * @brief A queue whose items come out when they are due: in the order of their due times, and of the
 *        puts where these are the same.
 *
 * `take`, `consume` and their variants wait until an item is due; `try_take`, `try_consume` and
 * `peek` see only items that are. Those that wait are woken by one timer, and by a watch when an item
 * is put that is due earlier. An item is taken exactly once, and consumed with acknowledgement, as
 * in every queue. `size` and the bound count items that are not due, too.
 *
 * As in `priority_queue` each round of takes has a listing that was requested after the takes.
 *
 * @par Whose clock counts
 * The system clocks of the participants. A delay becomes a point in time by the producer's clock when
 * `put` is called; the item is due when the consumer's clock has reached it. If the two differ by d,
 * the item is taken up to d too early or too late. Nothing else depends on clocks: a clock that is
 * wrong or jumps neither loses an item nor causes it to be taken twice, and the order is the same for
 * all clients. If the consumer's clock jumps back, the consumer waits until it has reached the time
 * again; if it jumps ahead, what has become due by that is taken at most a second later.
 *
 * @par Format
 * Items are called `queue-<due time>-<sequence>`: milliseconds since 1970 in thirteen digits, so that
 * names sort. Other children are ignored. With another format than `compatibility::native` every
 * operation but `size` fails with `errc::bad_option`. `put_many` adds items that are due at the same
 * time.
 *
 * @par Origin
 * Curator's DistributedDelayQueue, whose items have a format of their own.
 */
class COROZK_DECL delay_queue : public producing_queue<due_time> {
public:
    /// Returns the time. It is called on the client's executor, never after the queue was destroyed,
    /// and must not throw.
    using wall_clock = std::function<std::chrono::system_clock::time_point()>;

    delay_queue() noexcept = default;

    /**
     * @brief A delay queue at this path. Touches nothing until it is used.
     *
     * @param time  instead of the system clock, for instance one that follows a time server. Empty:
     *              the system clock
     */
    delay_queue(const client& c,
                std::string path,
                queue_options options = queue_options(),
                wall_clock time = wall_clock());
};

}  // namespace corozk
