// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/compatibility.hpp>
#include <corozk/detail/contention_recipe.hpp>
#include <corozk/detail/run_owned.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace corozk {

/** @brief How a shared lock behaves. */
struct shared_lock_options {
    shared_lock_options() = default;
    explicit shared_lock_options(std::string identity_) : identity(std::move(identity_)) {}

    /// Written into the contender's node: who is it? Shown by `contenders`.
    std::string identity;

    /// Of the contenders' nodes and of folders that are missing. Empty means open to everybody.
    corozk::acl acl;

    /// Whose contenders exclude each other. `native`: "<guid>-read-<sequence>",
    /// "<guid>-write-<sequence>". `curator`: "_c_<guid>-__READ__<sequence>", ..., those of
    /// InterProcessReadWriteLock. `kazoo`: "<guid>__rlock__<sequence>", "<guid>__lock__<sequence>",
    /// those of ReadLock and WriteLock. Beware: Kazoo 2.8's reader waits for the last writer in the
    /// folder, those behind it included, who wait for it (Kazoo issue 649).
    corozk::compatibility compatibility = corozk::compatibility::native;

    /// What is written into a holder's node by `request_release`: behind what its owner wrote, or,
    /// with Curator's names, instead of it. Curator's word is "__REVOKE__".
    std::string release_request = "unlock";
};

/**
 * @brief A lock for all processes that use the same path, held by many readers or by one writer.
 *
 * First come, first served: a reader that comes after a waiting writer waits behind it, so that
 * writers do not starve. When a writer leaves, all readers up to the next writer go at once; every
 * other release wakes one contender. Not re-entrant: each acquisition is a contender of its own.
 *
 * Waiting survives reconnects. It ends with `zk_errc::session_expired` when the session is lost.
 *
 * @par Thread safety
 * Distinct objects: safe. Shared objects: unsafe; use it on the client's executor.
 *
 * @par Lifetime
 * May be destroyed while an acquisition is under way (it goes on), and outlive the client (then
 * everything fails with `errc::closed`).
 *
 * @see Recipes page, "Shared Locks" and the note on the guid; CURATOR-45, CURATOR-498,
 * ZOOKEEPER-2931, ZOOKEEPER-4372.
 */
class COROZK_DECL shared_lock : public detail::contention_recipe {
public:
    /// `path` is the folder of the lock; it is created when it is needed.
    shared_lock(const client& c,
                std::string path,
                shared_lock_options options = shared_lock_options());
    shared_lock() noexcept;
    shared_lock(shared_lock&&) noexcept;
    shared_lock& operator=(shared_lock&&) noexcept;
    ~shared_lock();

    /**
     * @brief Waits until no writer is ahead.
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
    auto acquire_read(Token&& token = Token{}) {
        return begin("shared_lock.acquire_read", claim(read), std::forward<Token>(token));
    }

    /** @brief The same, until the deadline (see `time_limit`).
     *  @par Errors
     *  Also `errc::deadline_exceeded`. */
    template <class Token = default_token>
    auto acquire_read_until(time_point deadline, Token&& token = Token{}) {
        return begin(
            "shared_lock.acquire_read", claim(read).until(deadline), std::forward<Token>(token));
    }

    /** @brief The same, at most that long from now on. */
    template <class Token = default_token>
    auto acquire_read_for(time_limit budget, Token&& token = Token{}) {
        return acquire_read_until(budget.from_now(), std::forward<Token>(token));
    }

    /** @brief The same, if it is possible without waiting for a writer.
     *  @par Errors
     *  Also `errc::would_block`. */
    template <class Token = default_token>
    auto try_acquire_read(Token&& token = Token{}) {
        return begin(
            "shared_lock.try_acquire_read", claim(read).trying(), std::forward<Token>(token));
    }

    /** @brief Waits until nobody is ahead. Otherwise as `acquire_read`. */
    template <class Token = default_token>
    auto acquire_write(Token&& token = Token{}) {
        return begin("shared_lock.acquire_write", claim(write), std::forward<Token>(token));
    }

    /** @brief The same, until the deadline (see `time_limit`).
     *  @par Errors
     *  Also `errc::deadline_exceeded`. */
    template <class Token = default_token>
    auto acquire_write_until(time_point deadline, Token&& token = Token{}) {
        return begin(
            "shared_lock.acquire_write", claim(write).until(deadline), std::forward<Token>(token));
    }

    /** @brief The same, at most that long from now on. */
    template <class Token = default_token>
    auto acquire_write_for(time_limit budget, Token&& token = Token{}) {
        return acquire_write_until(budget.from_now(), std::forward<Token>(token));
    }

    /** @brief The same, if nobody holds the lock or waits for it.
     *  @par Errors
     *  Also `errc::would_block`. */
    template <class Token = default_token>
    auto try_acquire_write(Token&& token = Token{}) {
        return begin(
            "shared_lock.try_acquire_write", claim(write).trying(), std::forward<Token>(token));
    }

    /**
     * @brief Runs a coroutine as a reader: `co_await l.run_read(body)` with
     *        `awaitable<T> body(ownership&)`.
     *
     * Acquires, awaits the body, releases, and gives the body's result. If the lock is lost
     * meanwhile the body is cancelled (terminal), and this throws the reason
     * (`errc::ownership_lost`, `zk_errc::session_expired`, `errc::closed`) when the body has ended.
     *
     * @par Cancellation
     * As `acquire_read`; then the body is cancelled, and when it has ended this throws what it
     * threw, or `operation_aborted`. The lock is released in every case.
     */
    template <class Body>
    auto run_read(Body body) {
        return detail::run_owned(acquire_read(), std::move(body), "shared_lock.run_read", path());
    }

    /** @brief The same, as a writer. */
    template <class Body>
    auto run_write(Body body) {
        return detail::run_owned(acquire_write(), std::move(body), "shared_lock.run_write", path());
    }

    /**
     * @brief Turns a writer into a reader that keeps its place: nobody can write in between.
     *
     * In one step at the server a reader's node takes the place of the writer's. Readers that wait
     * right behind it go at once; a writer behind it waits on. `held` stays the same object; its
     * path and its fencing token change.
     *
     * @par Preconditions
     * `held` came from a `shared_lock` of the same session and path.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * `errc::ownership_lost` or `zk_errc::session_expired`: it was lost. `errc::busy`: another
     * change is under way. `errc::bad_option`: not a lock of this path, or not a writer. After any
     * other error (`zk_errc::no_auth`) it is still a writer.
     *
     * @par Cancellation
     * Terminal and partial: stops waiting; the change takes place all the same. Total: ignored.
     *
     * @see CURATOR-276, CURATOR-621: a queued writer was let in.
     */
    template <class Token = default_token>
    auto downgrade(const ownership& held, Token&& token = Token{}) {
        return initiate<&start_downgrade>("shared_lock.downgrade",
                                          held.path(),
                                          std::forward<Token>(token),
                                          held.implementation());
    }

    /**
     * @brief Turns a reader into a writer, as soon as the other readers have left; new ones wait.
     *
     * Refused with `errc::would_deadlock` if a writer is queued behind this reader, another
     * reader's upgrade included: each would wait for the other. Then, and after every error but the
     * loss of the lock, `held` is a reader as before. Of two readers that upgrade at the same time
     * one is refused, and the other one waits for its release. `held` stays the same object; its
     * path and its fencing token change. What it read before may be used: nobody wrote in between.
     *
     * A reader of another library that waits for its own upgrade is not known as such: give a
     * deadline.
     *
     * @par Preconditions
     * `held` came from a `shared_lock` of the same session and path.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * `errc::would_deadlock`; `errc::ownership_lost` or `zk_errc::session_expired`: it was lost, or
     * released meanwhile. `errc::busy`: another change is under way. `errc::bad_option`: not a lock
     * of this line, or not a reader. Otherwise as `acquire_write`.
     *
     * @par Cancellation
     * Terminal, partial, total: completes at once; `held` stays a reader, or has become a writer if
     * that was granted in the same instant.
     */
    template <class Token = default_token>
    auto upgrade(const ownership& held, Token&& token = Token{}) {
        return upgrade_until(held, time_point::max(), std::forward<Token>(token));
    }

    /** @brief The same, with an absolute budget.
     *  @par Errors
     *  Also `errc::deadline_exceeded`. */
    template <class Token = default_token>
    auto upgrade_until(const ownership& held, time_point deadline, Token&& token = Token{}) {
        return initiate<&start_upgrade>("shared_lock.upgrade",
                                        held.path(),
                                        std::forward<Token>(token),
                                        held.implementation(),
                                        deadline);
    }

    /** @brief The same, at most that long from now on. */
    template <class Token = default_token>
    auto upgrade_for(const ownership& held, time_limit budget, Token&& token = Token{}) {
        return upgrade_until(held, budget.from_now(), std::forward<Token>(token));
    }

    /** @brief For `multi_lock::add_read` and `add_write`. */
    detail::acquisition read_part() const { return part_of(claim(read)); }
    detail::acquisition write_part() const { return part_of(claim(write)); }

private:
    using owned_ptr = std::shared_ptr<detail::owned>;

    static void start_downgrade(const callee& of, const owned_ptr& held, handler_of<> handler);
    static void start_upgrade(const callee& of,
                              const owned_ptr& held,
                              time_point deadline,
                              handler_of<> handler);

    static constexpr std::uint8_t read = 0;
    static constexpr std::uint8_t write = 1;
};

}  // namespace corozk
