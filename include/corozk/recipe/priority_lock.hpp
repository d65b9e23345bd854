// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/contention_recipe.hpp>
#include <corozk/detail/run_owned.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace corozk {

/** @brief How a priority lock behaves. */
struct priority_lock_options {
    priority_lock_options() = default;
    explicit priority_lock_options(std::string identity_) : identity(std::move(identity_)) {}

    /// Written into the contender's nodes: who is it? Shown by `contenders`.
    std::string identity;

    /// Of the contenders' nodes and of folders that are missing. Empty means open to everybody.
    corozk::acl acl;

    /// If positive, each contender that came later must be better by one priority for this many
    /// nodes that were created in the folder since (a waiter's, and one at each grant), or else it
    /// waits behind: then nobody starves. 0: a better priority always goes first. All participants
    /// must use the same; it stands in the folder's data.
    std::int32_t ageing = 0;

    /// A contender asks holders of a lower priority that are in its way to release, as
    /// `request_release` does. They decide.
    bool ask_holder_to_release = false;

    /// What is written into a holder's node by `request_release`, behind what its owner wrote.
    std::string release_request = "unlock";
};

/**
 * @brief A lock for all processes that use the same path, given to the best priority that waits:
 *        to a writer alone, or to readers together.
 *
 * The lower number comes first; of equal ones whoever came first. A newcomer overtakes those who
 * wait, never one who holds: who holds has a record at the server. A reader joins readers that hold
 * unless a writer that comes before it waits. Not re-entrant: each acquisition is a contender of
 * its own.
 *
 * Waiting survives reconnects. It ends with `zk_errc::session_expired` when the session is lost.
 *
 * What is owned is the record: its `fencing_token` grows with every grant, whatever the order in
 * which the contenders came.
 *
 * @par Thread safety
 * Distinct objects: safe. Shared objects: unsafe; use it on the client's executor.
 *
 * @par Lifetime
 * May be destroyed while an acquisition is under way (it goes on), and outlive the client (then
 * everything fails with `errc::closed`).
 *
 * @see Recipes page, "Locks", which names it as an exercise; "Revocable Shared Locks".
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
    /// `path` is the folder of the lock; it is created when it is needed.
    priority_lock(const client& c,
                  std::string path,
                  priority_lock_options options = priority_lock_options());
    priority_lock() noexcept;
    priority_lock(priority_lock&&) noexcept;
    priority_lock& operator=(priority_lock&&) noexcept;
    ~priority_lock();

    /**
     * @brief Waits until nobody holds the lock and nobody who comes first waits for it.
     *
     * @par Completion signature
     * `void(error_code, ownership)`
     *
     * @par Errors
     * `zk_errc::session_expired`: the session was lost while waiting. `errc::ownership_lost`:
     * somebody erased the contender's node. `errc::limit_mismatch`: the others use another ageing.
     * `errc::foreign_data`: the folder's data is something else. `errc::bad_option`: a negative
     * ageing. `zk_errc::no_auth`, `errc::closed`, `errc::bad_path`. After an error nothing is left
     * behind.
     *
     * @par Cancellation
     * Terminal, partial, total: completes at once. The contender's nodes are erased for certain,
     * also if their creation is still under way; if the lock was granted in the same instant, it is
     * either delivered or given back.
     */
    template <class Token = default_token>
    auto acquire(std::int32_t priority, Token&& token = Token{}) {
        return ask("priority_lock.acquire", wish_for(write, priority), std::forward<Token>(token));
    }

    /** @brief The same, until the deadline (see `time_limit`).
     *  @par Errors
     *  Also `errc::deadline_exceeded`. */
    template <class Token = default_token>
    auto acquire_until(std::int32_t priority, time_point deadline, Token&& token = Token{}) {
        return ask("priority_lock.acquire",
                   wish_for(write, priority, deadline),
                   std::forward<Token>(token));
    }

    /** @brief The same, at most that long from now on. */
    template <class Token = default_token>
    auto acquire_for(std::int32_t priority, time_limit budget, Token&& token = Token{}) {
        return acquire_until(priority, budget.from_now(), std::forward<Token>(token));
    }

    /** @brief The same, if it is possible without waiting for anybody.
     *  @par Errors
     *  Also `errc::would_block`. */
    template <class Token = default_token>
    auto try_acquire(std::int32_t priority, Token&& token = Token{}) {
        return ask("priority_lock.try_acquire",
                   wish_for(write, priority, time_point::max(), true),
                   std::forward<Token>(token));
    }

    /** @brief Waits until no writer holds the lock, and none that comes first waits for it.
     *         Otherwise as `acquire`. */
    template <class Token = default_token>
    auto acquire_read(std::int32_t priority, Token&& token = Token{}) {
        return ask(
            "priority_lock.acquire_read", wish_for(read, priority), std::forward<Token>(token));
    }

    /** @brief The same, until the deadline (see `time_limit`).
     *  @par Errors
     *  Also `errc::deadline_exceeded`. */
    template <class Token = default_token>
    auto acquire_read_until(std::int32_t priority, time_point deadline, Token&& token = Token{}) {
        return ask("priority_lock.acquire_read",
                   wish_for(read, priority, deadline),
                   std::forward<Token>(token));
    }

    /** @brief The same, at most that long from now on. */
    template <class Token = default_token>
    auto acquire_read_for(std::int32_t priority, time_limit budget, Token&& token = Token{}) {
        return acquire_read_until(priority, budget.from_now(), std::forward<Token>(token));
    }

    /** @brief The same, if it is possible without waiting for a writer.
     *  @par Errors
     *  Also `errc::would_block`. */
    template <class Token = default_token>
    auto try_acquire_read(std::int32_t priority, Token&& token = Token{}) {
        return ask("priority_lock.try_acquire_read",
                   wish_for(read, priority, time_point::max(), true),
                   std::forward<Token>(token));
    }

    /**
     * @brief Runs a coroutine that owns the lock alone: `co_await l.run(priority, body)` with
     *        `awaitable<T> body(ownership&)`.
     *
     * Acquires, awaits the body, releases, and gives the body's result. If the lock is lost
     * meanwhile the body is cancelled (terminal), and this throws the reason
     * (`errc::ownership_lost`, `zk_errc::session_expired`, `errc::closed`) when the body has ended.
     *
     * @par Cancellation
     * As `acquire`; then the body is cancelled, and when it has ended this throws what it threw, or
     * `operation_aborted`. The lock is released in every case.
     */
    template <class Body>
    auto run(std::int32_t priority, Body body) {
        return detail::run_owned(acquire(priority), std::move(body), "priority_lock.run", path());
    }

    /** @brief The same, as a reader. */
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

    static void start(const callee& of,
                      wish what,
                      detail::any_handler<void(error_code, ownership)> handler);
};

}  // namespace corozk
