// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/recipe/contention_recipe.hpp>
#include <corozk/detail/recipe/run_owned.hpp>

#include <string>
#include <utility>

namespace corozk {

using lock_options = contender_options;  ///< The options of a `lock`.

/**
 * @brief An exclusive lock for all processes that use the same path.
 *
 * First come, first served; a release wakes one contender. Not re-entrant: each `acquire` is a
 * separate contender, even of the same object. Thousands can wait on one thread.
 *
 * Waiting survives reconnects, and ends with `zk_errc::session_expired` on session loss.
 *
 * @par Names
 * `native`: "<guid>-lock-<sequence>". `curator`: "_c_<guid>-lock-<sequence>", as InterProcessMutex.
 * `kazoo`: "<guid>__lock__<sequence>", as Lock.
 *
 * @executor As `client`, but pending operations continue when it is destroyed.
 *
 * @origin "Locks" on ZooKeeper's recipes page, and the note on the guid; CURATOR-45, CURATOR-498,
 * ZOOKEEPER-2931.
 */
class COROZK_DECL lock : public detail::contention_recipe {
public:
    /** @brief `path` is the parent node of the contenders, created when needed. Nothing is sent. */
    lock(const client& c, std::string path, lock_options options = lock_options());
    lock() noexcept = default;

    /**
     * @brief Acquires the lock.
     *
     * @completes `void(error_code, ownership)`
     *
     * @errors `zk_errc::session_expired`: the session was lost. `errc::ownership_lost`: another
     * client deleted the contender's node. `zk_errc::no_auth`, `errc::closed`, `errc::bad_path`,
     * `errc::not_connected`, `zk_errc::not_read_only`. `errc::sequence_exhausted`: after about 2^31
     * contenders, until the parent is empty. No node remains after an error.
     *
     * @cancellation All types: completes at once. The contender's node is reliably
     * deleted, even if its creation is still in flight; a simultaneous grant is either delivered or
     * released.
     */
    template <class Token = default_token>
    auto acquire(Token&& token = Token{}) {
        return begin("lock.acquire", claim(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto acquire_for(time_limit limit, Token&& token = Token{}) {
        return begin("lock.acquire", claim().within(limit), std::forward<Token>(token));
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto acquire_until(time_point deadline, Token&& token = Token{}) {
        return acquire_for(deadline, std::forward<Token>(token));
    }

    /** @brief As `acquire`, but fails with `errc::would_block` if there is a holder or waiter. */
    template <class Token = default_token>
    auto try_acquire(Token&& token = Token{}) {
        return begin("lock.try_acquire", claim().trying(), std::forward<Token>(token));
    }

    /**
     * @brief Runs a coroutine under the lock: `co_await l.run(body)` with
     *        `awaitable<T> body(ownership&)`.
     *
     * Acquires the lock, awaits the body, releases the lock, and returns the body's result. If the
     * lock is lost, cancels the body (terminal) and, after it has ended, throws the reason
     * (`errc::ownership_lost`, `zk_errc::session_expired`, `errc::closed`). It also throws if only
     * the release detects the loss; the body's result is then discarded.
     *
     * @cancellation As `acquire`. During the body: cancels the body and, after it has ended, throws
     * its exception or `boost::asio::error::operation_aborted`. The lock is always released.
     */
    template <class Body>
    auto run(Body body) {
        return detail::run_owned(acquire(), std::move(body), "lock.run", path());
    }

    /** @brief For `multi_lock::add`. */
    detail::acquisition part() const { return part_of(claim()); }
};

}  // namespace corozk
