// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/contention_recipe.hpp>
#include <corozk/detail/run_owned.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace corozk {

/** @brief Options of a priority lock. */
struct priority_lock_options {
    priority_lock_options() = default;
    explicit priority_lock_options(std::string identity_) : identity(std::move(identity_)) {}

    /// Stored in the contender's nodes and shown by `contenders`.
    std::string identity;

    /// ACL of the contenders' nodes and of missing parents. Empty means open to everyone.
    corozk::acl acl;

    /// If positive, prevents starvation: to overtake a waiter, a contender's priority must be
    /// better by one for each `ageing` nodes that were created at the path since the waiter arrived
    /// (one per contender and one per grant). 0: a better priority always comes first. All
    /// participants must use the same value; it is stored in the parent node's data.
    std::int32_t ageing = 0;

    /// Whether a contender requests blocking holders of a lower priority to release, as
    /// `request_release` does. It is up to them.
    bool ask_holder_to_release = false;

    /// What `request_release` appends to the data of the holder's node.
    std::string release_request = "unlock";
};

/**
 * @brief A lock for all processes that use the same path, granted by priority: to one writer, or to
 *        readers together.
 *
 * Lower numbers come first, equal ones in the order of arrival. A contender may overtake waiters,
 * but never preempts a holder, which has a record at the server. A reader joins readers that hold
 * the lock unless a writer that comes before it waits. Not re-entrant: each acquisition is a
 * separate contender.
 *
 * Waiting survives reconnects, and ends with `zk_errc::session_expired` on session loss.
 *
 * The `ownership` refers to the record, so that its `fencing_token` increases with every grant,
 * regardless of the order of arrival.
 *
 * @par Thread safety
 * Distinct objects: safe. Shared objects: unsafe; use it on the client's executor.
 *
 * @par Lifetime
 * May be destroyed while operations are pending (they continue), and may outlive the client
 * (operations then fail with `errc::closed`).
 *
 * @see Recipes page, "Locks", which leaves it as an exercise; "Revocable Shared Locks".
 */
class COROZK_DECL priority_lock : public detail::contention_recipe {
private:
    struct wish {
        std::uint8_t kind = 1;
        std::int32_t priority = 0;
        bool try_only = false;
        time_point deadline = time_point::max();
    };

    static constexpr std::uint8_t read = 0;
    static constexpr std::uint8_t write = 1;

    static wish wish_for(std::uint8_t kind,
                         std::int32_t priority,
                         time_point deadline = time_point::max(),
                         bool try_only = false) noexcept {
        wish w;
        w.kind = kind;
        w.priority = priority;
        w.deadline = deadline;
        w.try_only = try_only;
        return w;
    }

    template <class Token>
    auto ask(const char* operation, wish what, Token&& token) {
        return initiate<&start>(operation, path(), std::forward<Token>(token), what);
    }

public:
    /// `path` is the parent node of the contenders; it is created when needed.
    priority_lock(const client& c,
                  std::string path,
                  priority_lock_options options = priority_lock_options());
    priority_lock() noexcept = default;

    /**
     * @brief Acquires the lock exclusively.
     *
     * @par Completion signature
     * `void(error_code, ownership)`
     *
     * @par Errors
     * `zk_errc::session_expired`: the session was lost. `errc::ownership_lost`: another client
     * deleted the contender's node. `errc::limit_mismatch`: others use a different ageing.
     * `errc::foreign_data`: the parent's data is not an ageing. `errc::bad_option`: a negative
     * ageing. `zk_errc::no_auth`, `errc::closed`, `errc::bad_path`. No node remains after an error.
     *
     * @par Cancellation
     * Terminal, partial, total: completes at once. The contender's nodes are reliably deleted, even
     * if their creation is still in flight; a simultaneous grant is either delivered or released.
     */
    template <class Token = default_token>
    auto acquire(std::int32_t priority, Token&& token = Token{}) {
        return ask("priority_lock.acquire", wish_for(write, priority), std::forward<Token>(token));
    }

    /** @brief Same as above, with a deadline (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto acquire_until(std::int32_t priority, time_point deadline, Token&& token = Token{}) {
        return ask("priority_lock.acquire",
                   wish_for(write, priority, deadline),
                   std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit. */
    template <class Token = default_token>
    auto acquire_for(std::int32_t priority, time_limit budget, Token&& token = Token{}) {
        return acquire_until(priority, budget.from_now(), std::forward<Token>(token));
    }

    /** @brief As `acquire`, but fails with `errc::would_block` if it had to wait. */
    template <class Token = default_token>
    auto try_acquire(std::int32_t priority, Token&& token = Token{}) {
        return ask("priority_lock.try_acquire",
                   wish_for(write, priority, time_point::max(), true),
                   std::forward<Token>(token));
    }

    /** @brief As `acquire`, but as a reader: other readers may hold the lock as well. */
    template <class Token = default_token>
    auto acquire_read(std::int32_t priority, Token&& token = Token{}) {
        return ask(
            "priority_lock.acquire_read", wish_for(read, priority), std::forward<Token>(token));
    }

    /** @brief Same as above, with a deadline (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto acquire_read_until(std::int32_t priority, time_point deadline, Token&& token = Token{}) {
        return ask("priority_lock.acquire_read",
                   wish_for(read, priority, deadline),
                   std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit. */
    template <class Token = default_token>
    auto acquire_read_for(std::int32_t priority, time_limit budget, Token&& token = Token{}) {
        return acquire_read_until(priority, budget.from_now(), std::forward<Token>(token));
    }

    /** @brief As `acquire_read`, but fails with `errc::would_block` if it had to wait. */
    template <class Token = default_token>
    auto try_acquire_read(std::int32_t priority, Token&& token = Token{}) {
        return ask("priority_lock.try_acquire_read",
                   wish_for(read, priority, time_point::max(), true),
                   std::forward<Token>(token));
    }

    /**
     * @brief Runs a coroutine that holds the lock exclusively: `co_await l.run(priority, body)`
     *        with `awaitable<T> body(ownership&)`.
     *
     * As `lock::run`.
     */
    template <class Body>
    auto run(std::int32_t priority, Body body) {
        return detail::run_owned(acquire(priority), std::move(body), "priority_lock.run", path());
    }

    /** @brief Same as above, as a reader. */
    template <class Body>
    auto run_read(std::int32_t priority, Body body) {
        return detail::run_owned(
            acquire_read(priority), std::move(body), "priority_lock.run_read", path());
    }

    /** @brief For `multi_lock::add`, `add_read` and `add_write`. */
    detail::acquisition part(std::int32_t priority) const { return write_part(priority); }
    detail::acquisition read_part(std::int32_t priority) const {
        return ranked_part(wish_for(read, priority));
    }
    detail::acquisition write_part(std::int32_t priority) const {
        return ranked_part(wish_for(write, priority));
    }

private:
    detail::acquisition ranked_part(wish what) const;

    static void start(const callee&, wish what, detail::any_handler<void(error_code, ownership)>);
};

}  // namespace corozk
