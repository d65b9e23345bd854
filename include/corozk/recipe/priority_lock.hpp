// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/recipe/contention_recipe.hpp>
#include <corozk/detail/recipe/run_owned.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace corozk {

/** @brief Options of a priority lock. `compatibility` must be `native`. */
struct priority_lock_options : contender_options {
    priority_lock_options() = default;
    explicit priority_lock_options(std::string identity_)
        : contender_options(std::move(identity_)) {}

    /// If positive, prevents starvation: to overtake a waiter, a contender's priority must be
    /// better by one for each `ageing` nodes that were created at the path since the waiter arrived
    /// (one per contender and one per grant). 0: a better priority always comes first. All
    /// participants must use the same value; it is stored in the parent node's data.
    std::int32_t ageing = 0;

    /// Whether a contender asks holders of a lower priority that block it to release, as
    /// `request_release` does. They decide.
    bool ask_holder_to_release = false;
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
 * @executor As `lock`.
 *
 * @origin "Locks" on ZooKeeper's recipes page, which leaves it as an exercise; "Revocable Shared
 * Locks".
 */
class COROZK_DECL priority_lock : public detail::contention_recipe {
public:
    /** @brief `path` is the parent node of the contenders, created when needed. Nothing is sent. */
    priority_lock(const client& c,
                  std::string path,
                  priority_lock_options options = priority_lock_options());
    priority_lock() noexcept = default;

    /**
     * @brief Acquires the lock exclusively.
     *
     * @completes `void(error_code, ownership)`
     *
     * @errors `errc::limit_mismatch`: other participants use a different `ageing`.
     * `errc::foreign_data`: the parent's data is not an `ageing` value. `errc::bad_option`: a
     * negative `ageing`, or another `compatibility`. Otherwise as `lock::acquire`.
     *
     * @cancellation As `lock::acquire`.
     */
    template <class Token = default_token>
    auto acquire(std::int32_t priority, Token&& token = Token{}) {
        return begin("priority_lock.acquire", claim(write, priority), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto acquire_for(std::int32_t priority, time_limit limit, Token&& token = Token{}) {
        return begin("priority_lock.acquire",
                     claim(write, priority).within(limit),
                     std::forward<Token>(token));
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto acquire_until(std::int32_t priority, time_point deadline, Token&& token = Token{}) {
        return acquire_for(priority, deadline, std::forward<Token>(token));
    }

    /** @brief As `acquire`, but fails with `errc::would_block` if it had to wait. */
    template <class Token = default_token>
    auto try_acquire(std::int32_t priority, Token&& token = Token{}) {
        return begin("priority_lock.try_acquire",
                     claim(write, priority).trying(),
                     std::forward<Token>(token));
    }

    /** @brief As `acquire`, but as a reader: other readers may hold the lock as well. */
    template <class Token = default_token>
    auto acquire_read(std::int32_t priority, Token&& token = Token{}) {
        return begin(
            "priority_lock.acquire_read", claim(read, priority), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto acquire_read_for(std::int32_t priority, time_limit limit, Token&& token = Token{}) {
        return begin("priority_lock.acquire_read",
                     claim(read, priority).within(limit),
                     std::forward<Token>(token));
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto acquire_read_until(std::int32_t priority, time_point deadline, Token&& token = Token{}) {
        return acquire_read_for(priority, deadline, std::forward<Token>(token));
    }

    /** @brief As `acquire_read`, but fails with `errc::would_block` if it had to wait. */
    template <class Token = default_token>
    auto try_acquire_read(std::int32_t priority, Token&& token = Token{}) {
        return begin("priority_lock.try_acquire_read",
                     claim(read, priority).trying(),
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
        return part_of(claim(read, priority));
    }
    detail::acquisition write_part(std::int32_t priority) const {
        return part_of(claim(write, priority));
    }

private:
    static constexpr std::uint8_t read = 0;
    static constexpr std::uint8_t write = 1;
};

}  // namespace corozk
