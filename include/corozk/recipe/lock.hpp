// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>
#include <chrono>
#include <corozk/client.hpp>
#include <corozk/detail/run_owned.hpp>
#include <corozk/recipe/contender_info.hpp>
#include <corozk/recipe/ownership.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

namespace detail {
class lock_impl;
}

/** @brief How the contenders' nodes are named: by the recipes page, or as another library does, so
 *         that its locks and ours exclude each other. */
enum class lock_naming : std::uint8_t {
    standard,  ///< "<guid>-lock-<sequence>"
    curator,   ///< "_c_<guid>-lock-<sequence>": Curator's InterProcessMutex
    kazoo,     ///< "<guid>__lock__<sequence>": Kazoo's Lock
};

/** @brief How a lock behaves. */
struct lock_options {
    lock_options() = default;
    explicit lock_options(std::string identity_) : identity(std::move(identity_)) {}

    /// Written into the contender's node: who is it? Shown by `lock::contenders`.
    std::string identity;

    /// Of the contenders' nodes and of folders that are missing. Empty means open to everybody.
    acl entries;

    lock_naming naming = lock_naming::standard;
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
 * May be destroyed while `acquire` is under way (it goes on), and outlive the client (then everything
 * fails with `errc::closed`).
 *
 * @see Recipes page, "Locks" and the note on the guid; CURATOR-45, CURATOR-498, ZOOKEEPER-2931.
 */
class COROZK_DECL lock {
private:
    enum class mode : std::uint8_t { wait, try_only };
    using session_ptr = std::shared_ptr<detail::session>;
    using impl_ptr = std::shared_ptr<const detail::lock_impl>;

    template <class Token>
    auto begin(const char* operation, mode how, std::chrono::steady_clock::time_point deadline, Token&& token) {
        return detail::initiate<void(error_code, ownership)>(
            detail::call_site(operation, path()), token,
            [session = session_, impl = impl_, how, deadline](auto handler) {
                start_acquire(session, impl, how, deadline, std::move(handler));
            });
    }

public:
    using duration = std::chrono::steady_clock::duration;
    using time_point = std::chrono::steady_clock::time_point;

    /// `path` is the folder of the lock; it is created when it is needed.
    lock(const client& c, std::string path, lock_options options = lock_options());
    lock(lock&&) noexcept;
    lock& operator=(lock&&) noexcept;
    ~lock();

    /** @brief The folder; empty after a move. */
    const std::string& path() const noexcept;

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
        return begin("lock.acquire", mode::wait, time_point::max(), token);
    }

    /** @brief The same, with an absolute budget over all steps.
     *  @par Errors
     *  Also `errc::deadline_exceeded`. */
    template <class Token = default_token>
    auto acquire_until(time_point deadline, Token&& token = Token{}) {
        return begin("lock.acquire", mode::wait, deadline, token);
    }

    /** @brief The same, with a budget from now on. */
    template <class Token = default_token>
    auto acquire_for(duration budget, Token&& token = Token{}) {
        return begin("lock.acquire", mode::wait, std::chrono::steady_clock::now() + budget, token);
    }

    /** @brief Takes the lock if nobody has it or waits for it.
     *  @par Errors
     *  Also `errc::would_block`. */
    template <class Token = default_token>
    auto try_acquire(Token&& token = Token{}) {
        return begin("lock.try_acquire", mode::try_only, time_point::max(), token);
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
     * As `acquire`; then the body is cancelled, and when it has ended `run` throws what it threw, or
     * `operation_aborted`. The lock is released in every case.
     */
    template <class Body>
    auto run(Body body) {
        return detail::run_owned(acquire(), std::move(body), "lock.run", path());
    }

    /**
     * @brief Who holds the lock and who waits, in order.
     *
     * @par Completion signature
     * `void(error_code, std::vector<contender_info>)`
     */
    template <class Token = default_token>
    auto contenders(Token&& token = Token{}) {
        return detail::initiate<void(error_code, std::vector<contender_info>)>(
            detail::call_site("lock.contenders", path()), token,
            [session = session_, impl = impl_](auto handler) {
                start_contenders(session, impl, std::move(handler));
            });
    }

    /**
     * @brief Erases a contender's node, as found by `contenders`: its owner is told that it has lost
     *        the lock, or that it waits no more (at the latest when its turn would have come).
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * `zk_errc::no_node`: it was gone already. `errc::bad_path`: not a contender of this lock.
     */
    template <class Token = default_token>
    auto break_lock(std::string contender_path, Token&& token = Token{}) {
        return detail::initiate<void(error_code)>(
            detail::call_site("lock.break_lock", contender_path), token,
            [session = session_, impl = impl_, contender_path](auto handler) mutable {
                start_break(session, impl, std::move(contender_path), std::move(handler));
            });
    }

private:
    static void start_acquire(const session_ptr& s,
                              const impl_ptr& impl,
                              mode how,
                              time_point deadline,
                              detail::any_handler<void(error_code, ownership)> handler);
    static void start_contenders(
        const session_ptr& s,
        const impl_ptr& impl,
        detail::any_handler<void(error_code, std::vector<contender_info>)> handler);
    static void start_break(const session_ptr& s,
                            const impl_ptr& impl,
                            std::string contender_path,
                            detail::any_handler<void(error_code)> handler);

    session_ptr session_;
    impl_ptr impl_;
};

}  // namespace corozk
