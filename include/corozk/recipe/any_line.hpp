// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/contender_info.hpp>
#include <corozk/detail/export.hpp>
#include <corozk/detail/recipe_object.hpp>
#include <corozk/error.hpp>
#include <corozk/time_limit.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

namespace detail {
class any_line_impl;
}

/**
 * @brief Whoever holds something or waits for it at a path, whichever recipe they use: for tools
 *        that look at a system from outside.
 *
 * Recognises by their names the contenders of `lock`, `shared_lock`, `priority_lock`, `semaphore`,
 * `election` and `leader_latch`, in all namings that these have.
 *
 * @par Thread safety
 * Distinct objects: safe. Shared objects: unsafe; use it on the client's executor.
 *
 * @par Lifetime
 * May be destroyed while an operation is under way (it goes on), and outlive the client (then
 * everything fails with `errc::closed`).
 */
class COROZK_DECL any_line : public detail::recipe_object<detail::any_line_impl> {
public:
    using duration = std::chrono::steady_clock::duration;  ///< Of a wait.

    /// `path` is the folder of the recipe. Nothing is created.
    any_line(const client& c, std::string path);
    any_line() noexcept = default;

    /**
     * @brief Who holds something and who waits, in order, with what each waits for.
     *
     * Reads the folder as each recipe would; the one that recognises most of the nodes is it.
     *
     * @par Completion signature
     * `void(error_code, std::vector<contender_info>)`
     *
     * @par Errors
     * `zk_errc::no_auth`, `zk_errc::connection_loss`, `errc::not_connected`, `errc::closed`,
     * `errc::bad_path`. A folder that does not exist is an empty line.
     *
     * @par Cancellation
     * Terminal, partial, total: completes at once.
     */
    template <class Token = default_token>
    auto contenders(Token&& token = Token{}) {
        return initiate<&start_contenders>("contenders", std::forward<Token>(token));
    }

    /**
     * @brief Erases a contender's node, as found by `contenders`: its owner is told that it has
     *        lost what it held, or that it waits no more.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * `zk_errc::no_node`: there is no such contender. Otherwise as `contenders`.
     *
     * @par Cancellation
     * Terminal, partial, total: completes at once; the node may be erased all the same.
     */
    template <class Token = default_token>
    auto break_contender(std::string contender_path, Token&& token = Token{}) {
        return initiate_about<&start_break>("break_contender",
                                            contender_path,
                                            std::forward<Token>(token),
                                            std::move(contender_path));
    }

    /**
     * @brief Asks a holder to release what it holds, and waits until its node is gone; after the
     *        grace time it is removed, and its owner is told that it has lost what it held.
     *
     * @par Completion signature
     * `void(error_code, bool)`: whether the node had to be removed. It is so said, too, if the answer
     * about its removal was lost and it is gone.
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
    static void start_contenders(const impl_ptr& impl,
                                 handler_of<std::vector<contender_info>> handler);
    static void start_break(const impl_ptr& impl, std::string contender_path, handler_of<> handler);
    static void start_insist(const impl_ptr& impl,
                             std::string contender_path,
                             time_limit grace,
                             handler_of<bool> handler);
};

}  // namespace corozk
