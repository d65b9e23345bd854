// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/recipe/contention_recipe.hpp>
#include <corozk/detail/recipe/run_owned.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

using semaphore_options = contender_options;  ///< The options of a `semaphore`.

/**
 * @brief A number of permits for all processes that use the same path.
 *
 * An acquisition takes any number of permits at once, with a single node, so that no client holds
 * some while waiting for more. Strictly first come, first served: small requests do not overtake a
 * large one.
 *
 * The limit is stored in the parent node's data by the first participant; clients configured with a
 * different limit get `errc::limit_mismatch`. `set_limit` changes it while the semaphore is in use;
 * participants that start later must be configured with the new limit. The parent node is
 * persistent (for locks it is a container), so that the limit is kept.
 *
 * Waiting survives reconnects, and ends with `zk_errc::session_expired` on session loss.
 *
 * @par Names
 * Except with `native`, an acquisition is of one permit (otherwise `errc::not_supported`) and waits
 * for the other library's lock, then for a lease; `list_contenders` lists both, and `try_acquire` also
 * fails while another client is acquiring a lease.
 * - `native`: "<guid>-lease-<sequence>", or "<guid>-lease3-<sequence>" for three permits.
 * - `curator`: "leases/_c_<guid>-lease-<sequence>", as InterProcessSemaphoreV2, under the lock
 *   "locks". The limit is not stored: all participants must use the same one.
 * - `kazoo`: "<guid>__lease__<sequence>", under the lock "<path>-__lock__"; as for Kazoo's
 *   Semaphore, any child is a lease. Kazoo reads the limit only once, so a changed limit affects
 *   this library only.
 *
 * @executor As `lock`.
 *
 * @origin CURATOR-75 (a changed limit went unnoticed), CURATOR-315, CURATOR-335 (orphaned leases),
 * Kazoo issue 213 (more holders than permits).
 */
class COROZK_DECL semaphore : public detail::contention_recipe {
public:
    /** @brief `path` is the parent node of the contenders, created when needed. `limit` is the
     *         number of permits, at least 1 (otherwise operations fail with `errc::bad_option`).
     *         Nothing is sent. */
    semaphore(const client& c,
              std::string path,
              std::int32_t limit,
              semaphore_options options = semaphore_options());
    semaphore() noexcept = default;

    /**
     * @brief Acquires permits, all or none.
     *
     * @completes `void(error_code, ownership)`, with one object for all permits.
     *
     * @errors `errc::bad_option`: less than 1, or more than the limit (even if the limit is lowered
     * below it while it waits). `errc::limit_mismatch`: the limit differed from the stored one at
     * the first use of this object. `errc::foreign_data`: the parent's data is not a limit.
     * Otherwise as `lock::acquire`.
     *
     * @cancellation As `lock::acquire`.
     */
    template <class Token = default_token>
    auto acquire(std::int32_t permits, Token&& token = Token{}) {
        return begin("semaphore.acquire", claim(0, permits), std::forward<Token>(token));
    }

    /** @brief Same as `acquire(1)`. */
    template <detail::token_not<std::int32_t> Token = default_token>
    auto acquire(Token&& token = Token{}) {
        return acquire(1, std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto acquire_for(std::int32_t permits, time_limit limit, Token&& token = Token{}) {
        return begin(
            "semaphore.acquire", claim(0, permits).within(limit), std::forward<Token>(token));
    }

    /** @brief Same as `acquire_for(1, limit)`. */
    template <class Token = default_token>
    auto acquire_for(time_limit limit, Token&& token = Token{}) {
        return acquire_for(1, limit, std::forward<Token>(token));
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto acquire_until(std::int32_t permits, time_point deadline, Token&& token = Token{}) {
        return acquire_for(permits, deadline, std::forward<Token>(token));
    }

    /** @brief Same as `acquire_until(1, deadline)`. */
    template <class Token = default_token>
    auto acquire_until(time_point deadline, Token&& token = Token{}) {
        return acquire_until(1, deadline, std::forward<Token>(token));
    }

    /** @brief As `acquire`, but fails with `errc::would_block` if it had to wait. */
    template <class Token = default_token>
    auto try_acquire(std::int32_t permits, Token&& token = Token{}) {
        return begin(
            "semaphore.try_acquire", claim(0, permits).trying(), std::forward<Token>(token));
    }

    /** @brief Same as `try_acquire(1)`. */
    template <detail::token_not<std::int32_t> Token = default_token>
    auto try_acquire(Token&& token = Token{}) {
        return try_acquire(1, std::forward<Token>(token));
    }

    /**
     * @brief Runs a coroutine with permits: `co_await s.run(permits, body)` with
     *        `awaitable<T> body(ownership&)`.
     *
     * As `lock::run`.
     */
    template <class Body>
    auto run(std::int32_t permits, Body body) {
        return detail::run_owned(acquire(permits), std::move(body), "semaphore.run", path());
    }

    /** @brief Same as `run(1, body)`. */
    template <class Body>
    auto run(Body body) {
        return run(1, std::move(body));
    }

    /**
     * @brief Gets the number of permits that could be acquired without waiting.
     *
     * @completes `void(error_code, std::int32_t)`
     *
     * @errors As `list_contenders`.
     *
     * @cancellation All types: completes at once.
     */
    template <class Token = default_token>
    auto count_available(Token&& token = Token{}) {
        return initiate<&start_count_available>("semaphore.count_available",
                                                std::forward<Token>(token));
    }

    /**
     * @brief Gets the contenders that hold permits, according to their nodes' order and the limit.
     *
     * @completes `void(error_code, std::vector<contender_info>)`
     *
     * @errors As `count_available`.
     *
     * @cancellation As `count_available`.
     */
    template <class Token = default_token>
    auto list_holders(Token&& token = Token{}) {
        return initiate<&start_list_holders>("semaphore.list_holders", std::forward<Token>(token));
    }

    /**
     * @brief Changes the limit for all participants. Permits are not revoked: if more are held than
     *        the new limit allows, none are granted until enough have been released.
     *
     * If the response is lost, it continues until the outcome is known, in the next session if
     * necessary. If another client has changed the limit since, that change is kept.
     *
     * @completes `void(error_code)`
     *
     * @errors `errc::bad_option`: less than 1. `errc::foreign_data`: the parent's data is not a
     * limit. `errc::not_supported`: Curator stores no limit. Otherwise as `list_contenders`.
     *
     * @cancellation Terminal and partial: stops waiting; the limit may change anyway if the change
     * was in flight. Total: ignored.
     */
    template <class Token = default_token>
    auto set_limit(std::int32_t permits, Token&& token = Token{}) {
        return set_limit_for(permits, time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto set_limit_for(std::int32_t permits, time_limit limit, Token&& token = Token{}) {
        return initiate<&start_set_limit>(
            "semaphore.set_limit", std::forward<Token>(token), permits, limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto set_limit_until(std::int32_t permits, time_point deadline, Token&& token = Token{}) {
        return set_limit_for(permits, deadline, std::forward<Token>(token));
    }

    /** @brief For `multi_lock::add`. */
    detail::acquisition part(std::int32_t permits = 1) const { return part_of(claim(0, permits)); }

private:
    static void start_count_available(const callee& of, handler_of<std::int32_t> handler);
    static void start_list_holders(const callee& of,
                                   handler_of<std::vector<contender_info>> handler);
    static void start_set_limit(const callee& of,
                                std::int32_t permits,
                                time_limit limit,
                                handler_of<> handler);
};

}  // namespace corozk
