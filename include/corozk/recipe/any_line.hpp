// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/contender_info.hpp>
#include <corozk/detail/export.hpp>
#include <corozk/detail/initiate.hpp>
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
class COROZK_DECL any_line {
public:
    using duration = std::chrono::steady_clock::duration;  ///< Of a wait.

    /// `path` is the folder of the recipe. Nothing is created.
    any_line(const client& c, std::string path);
    any_line() noexcept;
    any_line(any_line&&) noexcept;
    any_line& operator=(any_line&&) noexcept;
    ~any_line();

    using executor_type = boost::asio::any_io_executor;  ///< Of its operations.

    /** @brief The executor of the client that it was made with. */
    executor_type get_executor() const noexcept { return detail::executor_of(session_); }

    /** @brief The folder; empty after a move. */
    const std::string& path() const noexcept { return path_; }

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
        return detail::initiate<void(error_code, std::vector<contender_info>)>(
            detail::call_site("contenders", path_),
            session_.get(),
            std::forward<Token>(token),
            [impl = impl_](auto handler) { start_contenders(impl, std::move(handler)); });
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
        return detail::initiate<void(error_code)>(
            detail::call_site("break_contender", contender_path),
            session_.get(),
            std::forward<Token>(token),
            [impl = impl_, contender_path](auto handler) mutable {
                start_break(impl, std::move(contender_path), std::move(handler));
            });
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
        return detail::initiate<void(error_code, bool)>(
            detail::call_site("insist_on_release", contender_path),
            session_.get(),
            std::forward<Token>(token),
            [impl = impl_, contender_path, grace](auto handler) mutable {
                start_insist(impl, std::move(contender_path), grace, std::move(handler));
            });
    }

private:
    using impl_ptr = std::shared_ptr<detail::any_line_impl>;

    static void start_contenders(
        const impl_ptr& impl,
        detail::any_handler<void(error_code, std::vector<contender_info>)> handler);
    static void start_break(const impl_ptr& impl,
                            std::string contender_path,
                            detail::any_handler<void(error_code)> handler);
    static void start_insist(const impl_ptr& impl,
                             std::string contender_path,
                             time_limit grace,
                             detail::any_handler<void(error_code, bool)> handler);

    std::string path_;
    std::shared_ptr<detail::session> session_;
    impl_ptr impl_;
};

}  // namespace corozk
