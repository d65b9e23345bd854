// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/compatibility.hpp>
#include <corozk/detail/contention_recipe.hpp>
#include <corozk/detail/run_owned.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

/** @brief How a semaphore behaves. */
struct semaphore_options {
    semaphore_options() = default;
    explicit semaphore_options(std::string identity_) : identity(std::move(identity_)) {}

    /// Written into the contender's node: who is it? Shown by `contenders` and `holders`.
    std::string identity;

    /// Of the contenders' nodes and of folders that are missing. Empty means open to everybody.
    corozk::acl acl;

    /// Whose permits they are. With the others' an acquisition is of one permit (else
    /// `errc::not_supported`), it waits in their lock and, once it has that, for a lease;
    /// `contenders` lists both, and `try_acquire` fails also while somebody else is just taking a
    /// lease.
    /// - `native`: "<guid>-lease-<sequence>", "<guid>-lease3-<sequence>"; the limit in the folder.
    /// - `curator`: InterProcessSemaphoreV2's, "leases/_c_<guid>-lease-<sequence>", taken under the
    ///   lock "locks". The limit stands nowhere: all must be configured alike.
    /// - `kazoo`: Semaphore's: any child of the folder is a lease, taken under the lock
    ///   "<path>-__lock__". Ours are named "<guid>__lease__<sequence>". The limit stands in the
    ///   folder; Kazoo compares it once, so a changed one counts for us only.
    corozk::compatibility compatibility = corozk::compatibility::native;

    /// What is written into a holder's node by `request_release`; with Curator's names it replaces
    /// the node's data.
    std::string release_request = "unlock";
};

/**
 * @brief A number of permits for all processes that use the same path.
 *
 * An acquisition takes any number of permits at once, in one node ("<guid>-lease-<sequence>",
 * "<guid>-lease3-<sequence>" for three), so that nobody holds some while it waits for more.
 * Strictly first come, first served: a large request is not overtaken by small ones.
 *
 * The limit stands in the folder's data. The first one who comes writes it; whoever is configured
 * with another one is told so (`errc::limit_mismatch`). `set_limit` changes it for everybody while
 * the semaphore is in use; configure the new one for those who start afterwards.
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
 * @see CURATOR-75 (a changed limit went unnoticed), CURATOR-315, CURATOR-335 (orphaned leases),
 * Kazoo issue 213 (more holders than permits).
 */
class COROZK_DECL semaphore : public detail::contention_recipe {
public:
    /// `path` is the folder of the semaphore; it is created when it is needed. `limit` is the
    /// number of permits, at least 1 (else everything fails with `errc::bad_option`).
    semaphore(const client& c,
              std::string path,
              std::int32_t limit,
              semaphore_options options = semaphore_options());
    semaphore() noexcept;
    semaphore(semaphore&&) noexcept;
    semaphore& operator=(semaphore&&) noexcept;
    ~semaphore();

    /**
     * @brief Waits for permits, all of them or none.
     *
     * @par Completion signature
     * `void(error_code, ownership)`: one object for all of them; releasing it gives all back.
     *
     * @par Errors
     * `errc::bad_option`: less than 1, or more than the limit (also when the limit becomes too
     * small meanwhile). `errc::limit_mismatch`: the limit of this object is not the one of the
     * folder when it is first used. `errc::foreign_data`: the folder's data is no limit.
     * `zk_errc::session_expired`: the session was lost while waiting. `errc::ownership_lost`:
     * somebody erased the contender's node. `zk_errc::no_auth`, `errc::closed`, `errc::bad_path`,
     * `errc::not_connected`. After an error nothing is left behind.
     *
     * @par Cancellation
     * Terminal, partial, total: completes at once. The contender's node is erased for certain, also
     * if its creation is still under way; if the permits were granted in the same instant, they are
     * either delivered or given back.
     */
    template <class Token = default_token>
    auto acquire(std::int32_t permits = 1, Token&& token = Token{}) {
        return begin("semaphore.acquire", claim(0, permits), std::forward<Token>(token));
    }

    /** @brief The same, until the deadline (see `time_limit`).
     *  @par Errors
     *  Also `errc::deadline_exceeded`. */
    template <class Token = default_token>
    auto acquire_until(time_point deadline, std::int32_t permits = 1, Token&& token = Token{}) {
        return begin(
            "semaphore.acquire", claim(0, permits).until(deadline), std::forward<Token>(token));
    }

    /** @brief The same, at most that long from now on. */
    template <class Token = default_token>
    auto acquire_for(time_limit budget, std::int32_t permits = 1, Token&& token = Token{}) {
        return acquire_until(budget.from_now(), permits, std::forward<Token>(token));
    }

    /** @brief The same, if so many permits are free and nobody waits.
     *  @par Errors
     *  Also `errc::would_block`. */
    template <class Token = default_token>
    auto try_acquire(std::int32_t permits = 1, Token&& token = Token{}) {
        return begin(
            "semaphore.try_acquire", claim(0, permits).trying(), std::forward<Token>(token));
    }

    /**
     * @brief Runs a coroutine with permits: `co_await s.run(body, permits)` with
     *        `awaitable<T> body(ownership&)`.
     *
     * Acquires, awaits the body, releases, and gives the body's result. If the permits are lost
     * meanwhile the body is cancelled (terminal), and this throws the reason
     * (`errc::ownership_lost`, `zk_errc::session_expired`, `errc::closed`) when the body has ended.
     *
     * @par Cancellation
     * As `acquire`; then the body is cancelled, and when it has ended this throws what it threw, or
     * `operation_aborted`. The permits are released in every case.
     */
    template <class Body>
    auto run(Body body, std::int32_t permits = 1) {
        return detail::run_owned(acquire(permits), std::move(body), "semaphore.run", path());
    }

    /**
     * @brief How many permits a newcomer could take at once.
     *
     * @par Completion signature
     * `void(error_code, std::int32_t)`
     *
     * @par Errors
     * `errc::foreign_data`, and as `contenders`.
     *
     * @par Cancellation
     * Terminal, partial, total: completes at once.
     */
    template <class Token = default_token>
    auto available(Token&& token = Token{}) {
        return initiate<&start_available>(
            "semaphore.available", path(), std::forward<Token>(token));
    }

    /**
     * @brief Those of the contenders who hold permits, by the order of their nodes and the limit.
     *
     * @par Completion signature
     * `void(error_code, std::vector<contender_info>)`
     *
     * @par Errors, cancellation
     * As `available`.
     */
    template <class Token = default_token>
    auto holders(Token&& token = Token{}) {
        return initiate<&start_holders>("semaphore.holders", path(), std::forward<Token>(token));
    }

    /**
     * @brief Changes the limit for everybody, at once. Nobody loses a permit: if there are more
     *        holders than the new limit allows, nobody is granted before enough of them have left.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * `errc::bad_option`: less than 1. `errc::foreign_data`: the folder's data is no limit.
     * `errc::not_supported`: Curator's naming has no limit at the server.
     * Otherwise as `contenders`.
     *
     * @par Cancellation
     * Terminal and partial: stops waiting; the limit may change all the same. Total: ignored.
     */
    template <class Token = default_token>
    auto set_limit(std::int32_t limit, Token&& token = Token{}) {
        return initiate<&start_set_limit>(
            "semaphore.set_limit", path(), std::forward<Token>(token), limit);
    }

    /** @brief For `multi_lock::add`. */
    detail::acquisition part(std::int32_t permits = 1) const { return part_of(claim(0, permits)); }

private:
    static void start_available(const callee& of, handler_of<std::int32_t> handler);
    static void start_holders(const callee& of, handler_of<std::vector<contender_info>> handler);
    static void start_set_limit(const callee& of, std::int32_t limit, handler_of<> handler);
};

}  // namespace corozk
