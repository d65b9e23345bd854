// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/compatibility.hpp>
#include <corozk/detail/contention_recipe.hpp>
#include <corozk/detail/run_owned.hpp>

#include <string>
#include <utility>

namespace corozk {

/** @brief How a lock behaves. */
struct lock_options {
    lock_options() = default;
    explicit lock_options(std::string identity_) : identity(std::move(identity_)) {}

    /// Written into the contender's node: who is it? Shown by `lock::contenders`.
    std::string identity;

    /// Of the contenders' nodes and of folders that are missing. Empty means open to everybody.
    corozk::acl acl;

    /// Whose contenders exclude each other. `native`: "<guid>-lock-<sequence>". `curator`:
    /// "_c_<guid>-lock-<sequence>", those of InterProcessMutex. `kazoo`:
    /// "<guid>__lock__<sequence>", those of Lock.
    corozk::compatibility compatibility = corozk::compatibility::native;

    /// What `request_release` writes: behind the holder's data, or, with Curator's names, instead
    /// of it. Curator's word is "__REVOKE__".
    std::string release_request = "unlock";
};

/**
 * @brief An exclusive lock for all processes that use the same path.
 *
 * First come, first served; a release wakes one contender. Not re-entrant: every `acquire` is a
 * contender of its own, also of the same object. Thousands may wait on one thread.
 *
 * Waiting survives reconnects. It ends with `zk_errc::session_expired` when the session is lost.
 *
 * @par Thread safety
 * Distinct objects: safe. Shared objects: unsafe; use it on the client's executor.
 *
 * @par Lifetime
 * May be destroyed while `acquire` is under way (it goes on), and outlive the client (then
 * everything fails with `errc::closed`).
 *
 * @see Recipes page, "Locks" and the note on the guid; CURATOR-45, CURATOR-498, ZOOKEEPER-2931.
 */
class COROZK_DECL lock : public detail::contention_recipe {
public:
    /// `path` is the folder of the lock; it is created when it is needed.
    lock(const client& c, std::string path, lock_options options = lock_options());
    lock() noexcept;
    lock(lock&&) noexcept;
    lock& operator=(lock&&) noexcept;
    ~lock();

    /**
     * @brief Waits for the lock.
     *
     * @par Completion signature
     * `void(error_code, ownership)`
     *
     * @par Errors
     * `zk_errc::session_expired`: the session was lost while waiting. `errc::ownership_lost`:
     * somebody erased the contender's node. `zk_errc::no_auth`, `errc::closed`, `errc::bad_path`,
     * `errc::not_connected`. After an error nothing is left behind.
     *
     * @par Cancellation
     * Terminal, partial, total: completes at once. The contender's node is erased for certain, also
     * if its creation is still under way; if the lock was granted in the same instant, it is either
     * delivered or given back.
     */
    template <class Token = default_token>
    auto acquire(Token&& token = Token{}) {
        return begin("lock.acquire", claim(), std::forward<Token>(token));
    }

    /** @brief The same, until the deadline (see `time_limit`).
     *  @par Errors
     *  Also `errc::deadline_exceeded`. */
    template <class Token = default_token>
    auto acquire_until(time_point deadline, Token&& token = Token{}) {
        return begin("lock.acquire", claim().until(deadline), std::forward<Token>(token));
    }

    /** @brief The same, at most that long from now on. */
    template <class Token = default_token>
    auto acquire_for(time_limit budget, Token&& token = Token{}) {
        return acquire_until(budget.from_now(), std::forward<Token>(token));
    }

    /** @brief As `acquire`, but only if nobody has the lock or waits for it.
     *  @par Errors
     *  Also `errc::would_block`. */
    template <class Token = default_token>
    auto try_acquire(Token&& token = Token{}) {
        return begin("lock.try_acquire", claim().trying(), std::forward<Token>(token));
    }

    /**
     * @brief Runs a coroutine under the lock: `co_await l.run(body)` with
     *        `awaitable<T> body(ownership&)`.
     *
     * Acquires the lock, awaits the body, releases the lock, and gives the body's result. If the
     * lock is lost meanwhile the body is cancelled (terminal), and `run` throws the reason
     * (`errc::ownership_lost`, `zk_errc::session_expired`, `errc::closed`) when the body has ended.
     *
     * @par Cancellation
     * As `acquire`; then the body is cancelled, and when it has ended `run` throws what it threw,
     * or `operation_aborted`. The lock is released in every case.
     */
    template <class Body>
    auto run(Body body) {
        return detail::run_owned(acquire(), std::move(body), "lock.run", path());
    }

    /**
     * @brief Erases a contender's node, as found by `contenders`: its owner is told that it has
     * lost the lock, or that it waits no more (at the latest when its turn would have come).
     *
     * The same as `break_contender`, under the name that people look for.
     */
    template <class Token = default_token>
    auto break_lock(std::string contender_path, Token&& token = Token{}) {
        return break_contender(std::move(contender_path), std::forward<Token>(token));
    }

    /** @brief For `multi_lock::add`. */
    detail::acquisition part() const { return part_of(claim()); }
};

}  // namespace corozk
