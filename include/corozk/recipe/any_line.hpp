// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/contender_info.hpp>
#include <corozk/detail/recipe_object.hpp>
#include <corozk/time_limit.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

namespace detail {
class any_line_impl;
}

/**
 * @brief Inspects the holders and waiters at a path, regardless of the recipe: for tools.
 *
 * Recognises the contenders of `lock`, `shared_lock`, `priority_lock`, `semaphore`, `election` and
 * `leader_latch` by their names, with any `compatibility`.
 *
 * @par Thread safety
 * Distinct objects: safe. Shared objects: unsafe; use it on the client's executor.
 *
 * @par Lifetime
 * May be destroyed while operations are pending (they continue), and may outlive the client
 * (operations then fail with `errc::closed`).
 */
class COROZK_DECL any_line : public detail::recipe_object<detail::any_line_impl> {
public:
    using duration = std::chrono::steady_clock::duration;  ///< The type of time limits.

    /// `path` is the path of the recipe. Nothing is created.
    any_line(const client& c, std::string path);
    any_line() noexcept = default;

    /**
     * @brief Lists holders and waiters, in order, with the nodes that each waits for.
     *
     * Interprets the nodes as each recipe would, and uses the one that recognises most of them.
     *
     * @par Completion signature
     * `void(error_code, std::vector<contender_info>)`
     *
     * @par Errors
     * `zk_errc::no_auth`, `zk_errc::connection_loss`, `errc::not_connected`, `errc::closed`,
     * `errc::bad_path`. The list is empty if the path does not exist.
     *
     * @par Cancellation
     * Terminal, partial, total: completes at once.
     */
    template <class Token = default_token>
    auto contenders(Token&& token = Token{}) {
        return initiate<&start_contenders>("contenders", std::forward<Token>(token));
    }

    /**
     * @brief Deletes a contender's node, as found by `contenders`. Its owner loses what it holds,
     *        or stops waiting, with `errc::ownership_lost`.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * `zk_errc::no_node`: there is no such contender. Otherwise as `contenders`.
     *
     * @par Cancellation
     * Terminal, partial, total: completes at once; the node may be deleted anyway.
     */
    template <class Token = default_token>
    auto break_contender(std::string contender_path, Token&& token = Token{}) {
        return initiate_about<&start_break>("break_contender",
                                            contender_path,
                                            std::forward<Token>(token),
                                            std::move(contender_path));
    }

    /**
     * @brief Requests a holder to release and waits until its node has been deleted; after the
     *        grace period deletes it, as `break_contender`.
     *
     * @par Completion signature
     * `void(error_code, bool)`: true if the node had to be deleted, also if the response to that
     * was lost and the node no longer exists.
     *
     * @par Errors, cancellation
     * As `break_contender`.
     *
     * @see Recipes page, "Revocable Shared Locks".
     */
    template <class Token = default_token>
    auto insist_on_release(std::string contender_path, time_limit grace, Token&& token = Token{}) {
        return initiate_about<&start_insist>("insist_on_release",
                                             contender_path,
                                             std::forward<Token>(token),
                                             std::move(contender_path),
                                             grace);
    }

private:
    static void start_contenders(const impl_ptr&, handler_of<std::vector<contender_info>>);
    static void start_break(const impl_ptr&, std::string contender_path, handler_of<>);
    static void start_insist(const impl_ptr&, std::string, time_limit, handler_of<bool>);
};

}  // namespace corozk
