// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/recipe/contention_recipe.hpp>
#include <corozk/detail/recipe/run_owned.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace corozk {

using shared_lock_options = contender_options;  ///< The options of a `shared_lock`.

/**
 * @brief A lock for all processes that use the same path, held by many readers or by one writer.
 *
 * First come, first served: a reader waits behind writers that arrived before it, so that writers
 * do not starve. When a writer releases, all readers up to the next writer are granted at once; any
 * other release wakes one contender. Not re-entrant: each acquisition is a separate contender.
 *
 * Waiting survives reconnects, and ends with `zk_errc::session_expired` on session loss.
 *
 * @par Names
 * `native`: "<guid>-read-<sequence>", "<guid>-write-<sequence>". `curator`:
 * "_c_<guid>-__READ__<sequence>", ..., as InterProcessReadWriteLock. `kazoo`:
 * "<guid>__rlock__<sequence>", "<guid>__lock__<sequence>", as ReadLock and WriteLock. Beware: Kazoo
 * 2.8's reader waits for the last writer, even one queued behind it, which is a deadlock (Kazoo
 * issue 649).
 *
 * @executor As `lock`.
 *
 * @origin "Shared Locks" on ZooKeeper's recipes page, and the note on the guid; CURATOR-45,
 * CURATOR-498, ZOOKEEPER-2931, ZOOKEEPER-4372.
 */
class COROZK_DECL shared_lock : public detail::contention_recipe {
public:
    /** @brief `path` is the parent node of the contenders, created when needed. Nothing is sent. */
    shared_lock(const client& c,
                std::string path,
                shared_lock_options options = shared_lock_options());
    shared_lock() noexcept = default;

    /**
     * @brief Acquires the lock as a reader: waits until no writer is ahead.
     *
     * @completes As `lock::acquire`.
     *
     * @errors As `lock::acquire`.
     *
     * @cancellation As `lock::acquire`.
     */
    template <class Token = default_token>
    auto acquire_read(Token&& token = Token{}) {
        return begin("shared_lock.acquire_read", claim(read), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto acquire_read_for(time_limit limit, Token&& token = Token{}) {
        return begin(
            "shared_lock.acquire_read", claim(read).within(limit), std::forward<Token>(token));
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto acquire_read_until(time_point deadline, Token&& token = Token{}) {
        return acquire_read_for(deadline, std::forward<Token>(token));
    }

    /** @brief As `acquire_read`, but fails with `errc::would_block` if it had to wait. */
    template <class Token = default_token>
    auto try_acquire_read(Token&& token = Token{}) {
        return begin(
            "shared_lock.try_acquire_read", claim(read).trying(), std::forward<Token>(token));
    }

    /** @brief As `acquire_read`, but as a writer: waits until no other contender is ahead. */
    template <class Token = default_token>
    auto acquire_write(Token&& token = Token{}) {
        return begin("shared_lock.acquire_write", claim(write), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto acquire_write_for(time_limit limit, Token&& token = Token{}) {
        return begin(
            "shared_lock.acquire_write", claim(write).within(limit), std::forward<Token>(token));
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto acquire_write_until(time_point deadline, Token&& token = Token{}) {
        return acquire_write_for(deadline, std::forward<Token>(token));
    }

    /** @brief As `acquire_write`, but fails with `errc::would_block` if it had to wait. */
    template <class Token = default_token>
    auto try_acquire_write(Token&& token = Token{}) {
        return begin(
            "shared_lock.try_acquire_write", claim(write).trying(), std::forward<Token>(token));
    }

    /**
     * @brief Runs a coroutine as a reader: `co_await l.run_read(body)` with
     *        `awaitable<T> body(ownership&)`.
     *
     * As `lock::run`.
     */
    template <class Body>
    auto run_read(Body body) {
        return detail::run_owned(acquire_read(), std::move(body), "shared_lock.run_read", path());
    }

    /** @brief Same as above, as a writer. */
    template <class Body>
    auto run_write(Body body) {
        return detail::run_owned(acquire_write(), std::move(body), "shared_lock.run_write", path());
    }

    /**
     * @brief Turns a writer into a reader that keeps its place, so that no other client can write
     *        in between.
     *
     * Atomically replaces the writer's node by a reader's. Readers that wait directly behind it are
     * granted at once; a writer behind it continues to wait. `held` remains the same object with
     * another path, and keeps its fencing token.
     *
     * @par Preconditions
     * `held` was acquired from a `shared_lock` of the same session and path.
     *
     * @completes `void(error_code)`
     *
     * @errors `errc::ownership_lost`, `zk_errc::session_expired`: it was lost. `errc::busy`:
     * another downgrade is in progress. `errc::bad_option`: not held from this path, or not (yet) a
     * writer. After any other error (`zk_errc::no_auth`, `zk_errc::not_read_only`) it is still a
     * writer.
     *
     * @cancellation Terminal and partial: stops waiting; the change takes place anyway. Total:
     * ignored.
     *
     * @see CURATOR-276, CURATOR-621: a queued writer was granted.
     */
    template <class Token = default_token>
    auto downgrade(const ownership& held, Token&& token = Token{}) {
        return downgrade_for(held, time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto downgrade_for(const ownership& held, time_limit limit, Token&& token = Token{}) {
        return initiate_about<&start_downgrade>("shared_lock.downgrade",
                                                held.path(),
                                                std::forward<Token>(token),
                                                held.implementation(),
                                                limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto downgrade_until(const ownership& held, time_point deadline, Token&& token = Token{}) {
        return downgrade_for(held, deadline, std::forward<Token>(token));
    }

    /**
     * @brief Turns a reader into a writer once the other readers have released; new ones wait.
     *
     * Fails with `errc::would_deadlock` if a writer, or the upgrade of another reader, is queued
     * behind this reader: each would wait for the other. Of two readers that upgrade at the same
     * time, one fails and the other one waits for its release. After an error, except for the loss
     * of `held`, that is still a reader. `held` remains the same object with another path and
     * fencing token. Data that it has read remains valid: no other client has written in between.
     *
     * Upgrades by readers of other libraries cannot be recognised: use a deadline.
     *
     * @par Preconditions
     * `held` was acquired from a `shared_lock` of the same session and path.
     *
     * @completes `void(error_code)`
     *
     * @errors `errc::would_deadlock`; `errc::ownership_lost`, `zk_errc::session_expired`: `held`
     * was lost or released; or (`errc::ownership_lost`) another client deleted the node that waits
     * for the upgrade. `errc::busy`: another upgrade is in progress. `errc::bad_option`: not held
     * from this path, or not (yet) a reader. Otherwise as `acquire_write`.
     *
     * @cancellation All types: completes at once; `held` is still a reader, or a
     * writer if that was granted at the same time.
     */
    template <class Token = default_token>
    auto upgrade(const ownership& held, Token&& token = Token{}) {
        return begin_upgrade("shared_lock.upgrade", held, claim(write), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto upgrade_for(const ownership& held, time_limit limit, Token&& token = Token{}) {
        return begin_upgrade(
            "shared_lock.upgrade", held, claim(write).within(limit), std::forward<Token>(token));
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto upgrade_until(const ownership& held, time_point deadline, Token&& token = Token{}) {
        return upgrade_for(held, deadline, std::forward<Token>(token));
    }

    /** @brief As `upgrade`, but fails with `errc::would_block` if it had to wait. */
    template <class Token = default_token>
    auto try_upgrade(const ownership& held, Token&& token = Token{}) {
        return begin_upgrade(
            "shared_lock.try_upgrade", held, claim(write).trying(), std::forward<Token>(token));
    }

    /** @brief For `multi_lock::add_read` and `add_write`. */
    detail::acquisition read_part() const { return part_of(claim(read)); }
    detail::acquisition write_part() const { return part_of(claim(write)); }

private:
    using owned_ptr = std::shared_ptr<detail::owned>;

    template <class Token>
    auto begin_upgrade(const char* operation, const ownership& held, claim what, Token&& token) {
        return initiate_about<&start_upgrade>(
            operation, held.path(), std::forward<Token>(token), held.implementation(), what);
    }

    static void start_downgrade(const callee& of,
                                const owned_ptr& held,
                                time_limit limit,
                                handler_of<> handler);
    static void start_upgrade(const callee& of,
                              const owned_ptr& held,
                              claim what,
                              handler_of<> handler);

    static constexpr std::uint8_t read = 0;
    static constexpr std::uint8_t write = 1;
};

}  // namespace corozk
