// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/recipe/delay_queue_types.hpp>
#include <corozk/recipe/queue.hpp>
#include <corozk/time_limit.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <ratio>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

/**
 * @brief A queue whose items come out when they are due: in the order of their due times, and of the
 *        puts where these are the same.
 *
 * `take`, `consume` and their variants wait until an item is due; `try_take`, `try_consume` and
 * `peek` know only items that are. Whoever waits is woken by one timer, and by a watch when an item
 * is put that is due earlier. An item is taken exactly once, and consumed with acknowledgement, as
 * in every queue. `size` counts those that are not due, too, and so does a bound.
 *
 * As in `priority_queue` each round of takes has a listing that was asked for after the takes.
 *
 * @par Whose clock counts
 * The system clocks of those who take part. A delay becomes a point in time by the clock of whoever
 * puts, at the call of `put`; the item is due when the clock of whoever takes has reached it. Where
 * the two differ by d, the item comes up to d too early or too late. Nothing else depends on clocks:
 * none that is wrong, or jumps, loses an item or gives it out twice, and the order is the same for
 * all. If the taker's clock goes back, it waits until the time has come again; what it has taken
 * stays taken. If it goes ahead, it takes what has become due by that, a second later at most.
 *
 * @par Format
 * Items are called `queue-<due time>-<sequence>`: milliseconds since 1970 in thirteen digits, so that
 * names sort. Other children are not touched. Another format than `compatibility::native` gives
 * `errc::bad_option` in every operation but `size`.
 *
 * @par Puts
 * As in `queue`: each is applied exactly once.
 *
 * @par Cancellation of puts
 * As in `queue`.
 *
 * @par Origin
 * Curator's DistributedDelayQueue, whose items have a format of their own; bug catalogue Q13.
 */
class COROZK_DECL delay_queue : public basic_queue {
public:
    /// Says what time it is. It is called on the client's executor, never after the queue was
    /// destroyed, and must not throw.
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

    /**
     * @brief Adds an item; waits for room in a bounded queue.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * `errc::too_large` (for one request, or the bound), `errc::limit_mismatch`, `errc::bad_option`.
     */
    template <class Token = default_token>
    auto put(std::string data, due_time when, Token&& token = Token{}) {
        return put_items("delay_queue.put",
                         one_item(std::move(data), rank_of(when)),
                         clock::time_point::max(),
                         false,
                         std::forward<Token>(token));
    }

    /** @brief As `put`, but waits for room at most until then: `errc::deadline_exceeded`. */
    template <class Token = default_token>
    auto put_until(std::string data,
                   due_time when,
                   clock::time_point deadline,
                   Token&& token = Token{}) {
        return put_items("delay_queue.put",
                         one_item(std::move(data), rank_of(when)),
                         deadline,
                         false,
                         std::forward<Token>(token));
    }

    /** @brief The same, at most that long from now on. */
    template <class Token = default_token>
    auto put_for(std::string data, due_time when, time_limit budget, Token&& token = Token{}) {
        return put_until(std::move(data), when, budget.from_now(), std::forward<Token>(token));
    }

    /** @brief As `put`, but `errc::would_block` if a bounded queue is full. */
    template <class Token = default_token>
    auto try_put(std::string data, due_time when, Token&& token = Token{}) {
        return put_items("delay_queue.try_put",
                         one_item(std::move(data), rank_of(when)),
                         clock::time_point::max(),
                         true,
                         std::forward<Token>(token));
    }

    /** @brief As `put`: adds all of them, due at the same time, or none. */
    template <class Token = default_token>
    auto put_many(std::vector<std::string> data, due_time when, Token&& token = Token{}) {
        return put_items("delay_queue.put_many",
                         many_items(std::move(data), rank_of(when)),
                         clock::time_point::max(),
                         false,
                         std::forward<Token>(token));
    }

private:
    std::int64_t rank_of(due_time when) const;

    wall_clock time_;
};

}  // namespace corozk
