// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/recipe/acquisition.hpp>
#include <corozk/detail/recipe/run_owned.hpp>
#include <corozk/recipe/multi_ownership.hpp>
#include <corozk/time_limit.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

/**
 * @brief Any mix of locks, acquired together: all or none.
 *
 * @code
 * corozk::multi_lock both(zk);
 * both.add(accounts).add_read(rates).add(workers, 2);
 * auto held = co_await both.acquire();
 * @endcode
 *
 * The parts are acquired one after the other, sorted by path, so that participants never wait for
 * each other in a circle. On failure, or if a part is lost while waiting for the next one, all
 * parts are released before the operation completes (after a deadline, in the background).
 *
 * Paths are compared bytewise: all participants must use the same paths (a common chroot makes no
 * difference), and must use this order where they acquire parts individually.
 *
 * @executor As `lock`. May outlive the recipe objects that were added.
 */
class COROZK_DECL multi_lock {
private:
    using session_ptr = std::shared_ptr<detail::session_view>;
    using part_list = std::vector<detail::acquisition>;

    template <class Token>
    auto begin(const char* operation, bool try_only, time_limit limit, Token&& token) {
        return detail::initiate<&start_acquire>(detail::call_site(operation, first_path()),
                                                session_,
                                                std::forward<Token>(token),
                                                parts_,
                                                try_only,
                                                limit);
    }

public:
    explicit multi_lock(const client& c);  ///< Initially without parts.
    multi_lock() noexcept = default;
    multi_lock(multi_lock&&) noexcept = default;
    multi_lock& operator=(multi_lock&&) noexcept = default;

    using executor_type = boost::asio::any_io_executor;

    executor_type get_executor() const noexcept { return detail::executor_of(session_); }

    /** @brief Adds a lock: `add(a_lock)`, `add(a_semaphore, permits)`. The arguments are those of
     *         the recipe's `part` function. */
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
     * @brief Acquires all parts.
     *
     * @completes `void(error_code, multi_ownership)`
     *
     * @errors `errc::would_deadlock`: a path was added twice. `errc::bad_option`: no parts, or
     * parts of another client, or of another view of this one. `errc::ownership_lost`: a part was
     * lost while waiting for another one. Otherwise those of the parts. No node remains after an
     * error.
     *
     * @cancellation All types: completes at once. Everything acquired or requested
     * is reliably released; a simultaneous grant is either delivered or released.
     */
    template <class Token = default_token>
    auto acquire(Token&& token = Token{}) {
        return begin(
            "multi_lock.acquire", false, time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto acquire_for(time_limit limit, Token&& token = Token{}) {
        return begin("multi_lock.acquire", false, limit, std::forward<Token>(token));
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto acquire_until(time_limit::time_point deadline, Token&& token = Token{}) {
        return acquire_for(deadline, std::forward<Token>(token));
    }

    /** @brief As `acquire`, but fails with `errc::would_block` if it had to wait. */
    template <class Token = default_token>
    auto try_acquire(Token&& token = Token{}) {
        return begin(
            "multi_lock.try_acquire", true, time_limit::for_ever(), std::forward<Token>(token));
    }

    /**
     * @brief Runs a coroutine that holds all parts: `co_await m.run(body)` with
     *        `awaitable<T> body(multi_ownership&)`.
     *
     * As `lock::run`; the body is cancelled when any part is lost.
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
                              time_limit limit,
                              detail::handler_of<multi_ownership>);

    session_ptr session_;
    part_list parts_;
};

}  // namespace corozk
