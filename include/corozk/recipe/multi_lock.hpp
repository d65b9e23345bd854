// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/acquisition.hpp>
#include <corozk/detail/run_owned.hpp>
#include <corozk/recipe/multi_ownership.hpp>
#include <corozk/time_limit.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

/**
 * @brief Any mix of locks, acquired together: all of them or none.
 *
 * @code
 * corozk::multi_lock both(zk);
 * both.add(accounts).add_read(rates).add(workers, 2);
 * auto held = co_await both.acquire();
 * @endcode
 *
 * The parts are acquired one after the other by their paths, in whatever order they were added, so
 * that participants who want the same ones never wait for each other in a circle. The first failure
 * gives back everything that had been granted, before the call completes; so does the loss of a
 * part while it waits for the next one. (Its deadline does so behind the call.)
 *
 * The order is that of the bytes of the paths: all participants must name them alike (a chroot in
 * front of all of them makes no difference), and acquire them only in this order if they also
 * acquire them one by one.
 *
 * @par Thread safety
 * Distinct objects: safe. Shared objects: unsafe; use it on the client's executor.
 *
 * @par Lifetime
 * The recipe objects that were added may go before it. May be destroyed while an acquisition is
 * under way (it goes on), and outlive the client (then everything fails with `errc::closed`).
 */
class COROZK_DECL multi_lock {
private:
    using session_ptr = std::shared_ptr<detail::session>;
    using part_list = std::vector<detail::acquisition>;

    template <class Token>
    auto begin(const char* operation,
               bool try_only,
               std::chrono::steady_clock::time_point deadline,
               Token&& token) {
        return detail::initiate<&start_acquire>(detail::call_site(operation, first_path()),
                                                session_,
                                                std::forward<Token>(token),
                                                parts_,
                                                try_only,
                                                deadline);
    }

public:
    using duration = std::chrono::steady_clock::duration;      ///< Of a wait.
    using time_point = std::chrono::steady_clock::time_point;  ///< Of a deadline.

    explicit multi_lock(const client& c);  ///< Without parts. Nothing is sent.
    multi_lock() noexcept;
    multi_lock(multi_lock&&) noexcept;
    multi_lock& operator=(multi_lock&&) noexcept;
    ~multi_lock();

    using executor_type = boost::asio::any_io_executor;  ///< Of its operations.

    /** @brief The executor of the client that it was made with. */
    executor_type get_executor() const noexcept { return detail::executor_of(session_); }

    /** @brief Adds a lock, or what else has one way to be acquired: `add(a_lock)`,
     *         `add(a_semaphore, permits)`. `arguments` are those of its `part` function. */
    template <class Recipe, class... Arguments>
    multi_lock& add(const Recipe& recipe, Arguments... arguments) {
        return add_part(recipe.part(arguments...));
    }

    /** @brief Adds a shared lock as a reader. */
    template <class Recipe, class... Arguments>
    multi_lock& add_read(const Recipe& recipe, Arguments... arguments) {
        return add_part(recipe.read_part(arguments...));
    }

    /** @brief Adds a shared lock as a writer. */
    template <class Recipe, class... Arguments>
    multi_lock& add_write(const Recipe& recipe, Arguments... arguments) {
        return add_part(recipe.write_part(arguments...));
    }

    /** @brief The paths, in the order in which they are acquired. */
    std::vector<std::string> paths() const;

    /**
     * @brief Waits until all parts are ours.
     *
     * @par Completion signature
     * `void(error_code, multi_ownership)`
     *
     * @par Errors
     * `errc::would_deadlock`: a path was added twice. `errc::bad_option`: no part, or one of
     * another client. `errc::ownership_lost`: a part was lost while another one was waited for.
     * Otherwise those of the parts. After an error nothing is left behind.
     *
     * @par Cancellation
     * Terminal, partial, total: completes at once. What had been granted or asked for is given back
     * for certain; a grant in the same instant is either delivered or given back.
     */
    template <class Token = default_token>
    auto acquire(Token&& token = Token{}) {
        return begin("multi_lock.acquire", false, time_point::max(), std::forward<Token>(token));
    }

    /** @brief The same, until the deadline (see `time_limit`).
     *  @par Errors
     *  Also `errc::deadline_exceeded`. */
    template <class Token = default_token>
    auto acquire_until(time_point deadline, Token&& token = Token{}) {
        return begin("multi_lock.acquire", false, deadline, std::forward<Token>(token));
    }

    /** @brief The same, at most that long from now on. */
    template <class Token = default_token>
    auto acquire_for(time_limit budget, Token&& token = Token{}) {
        return acquire_until(budget.from_now(), std::forward<Token>(token));
    }

    /** @brief The same, if nothing has to be waited for.
     *  @par Errors
     *  Also `errc::would_block`. */
    template <class Token = default_token>
    auto try_acquire(Token&& token = Token{}) {
        return begin("multi_lock.try_acquire", true, time_point::max(), std::forward<Token>(token));
    }

    /**
     * @brief Runs a coroutine that owns all parts: `co_await m.run(body)` with
     *        `awaitable<T> body(multi_ownership&)`.
     *
     * Acquires, awaits the body, releases, and gives the body's result. If a part is lost meanwhile
     * the body is cancelled (terminal), and this throws the reason (`errc::ownership_lost`,
     * `zk_errc::session_expired`, `errc::closed`) when the body has ended.
     *
     * @par Cancellation
     * As `acquire`; then the body is cancelled, and when it has ended this throws what it threw, or
     * `operation_aborted`. Everything is released in every case.
     */
    template <class Body>
    auto run(Body body) {
        return detail::run_owned(acquire(), std::move(body), "multi_lock.run", first_path());
    }

private:
    multi_lock& add_part(detail::acquisition part);
    std::string first_path() const;

    static void start_acquire(const session_ptr& s,
                              part_list parts,
                              bool try_only,
                              time_point deadline,
                              detail::any_handler<void(error_code, multi_ownership)> handler);

    session_ptr session_;
    part_list parts_;
};

}  // namespace corozk
