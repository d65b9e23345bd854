// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/contender_info.hpp>
#include <corozk/detail/acquire_request.hpp>
#include <corozk/detail/acquisition.hpp>
#include <corozk/ownership.hpp>
#include <corozk/time_limit.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corozk::detail {

class contention_object;

/**
 * @brief What all recipes that queue have in common: a folder with one node for each contender.
 *
 * Not to be used by itself.
 */
class COROZK_DECL contention_recipe {
public:
    using duration = std::chrono::steady_clock::duration;
    using time_point = std::chrono::steady_clock::time_point;
    using executor_type = boost::asio::any_io_executor;  ///< Of its operations.

    /** @brief The executor of the client that it was made with. */
    executor_type get_executor() const noexcept { return executor_of(session_); }

    /** @brief The folder; empty without a client or after a move. */
    const std::string& path() const noexcept;

    /**
     * @brief Who holds something and who waits, in order, with what each waits for.
     *
     * @par Completion signature
     * `void(error_code, std::vector<contender_info>)`
     *
     * @par Errors
     * `zk_errc::no_auth`, `zk_errc::connection_loss`, `errc::not_connected`, `errc::closed`,
     * `errc::bad_path`. A folder that does not exist is an empty queue.
     *
     * @par Cancellation
     * Terminal, partial, total: completes at once.
     */
    template <class Token = default_token>
    auto contenders(Token&& token = Token{}) {
        return initiate<&start_contenders>("contenders", path(), std::forward<Token>(token));
    }

    /**
     * @brief Erases a contender's node, as found by `contenders`: its owner is told that it has
     * lost what it held, or that it waits no more.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * `zk_errc::no_node`: it was gone already. `errc::bad_path`: not a contender of this folder.
     * Otherwise as `contenders`.
     *
     * @par Cancellation
     * Terminal, partial, total: completes at once; the node may be erased all the same.
     */
    template <class Token = default_token>
    auto break_contender(std::string contender_path, Token&& token = Token{}) {
        return initiate<&start_break>(
            "break_contender", contender_path, std::forward<Token>(token), contender_path);
    }

    /**
     * @brief Asks the owner of a contender's node, as found by `contenders`, to release what it
     * holds: its `ownership::wait_release_requested` completes, once it holds it.
     *
     * The request is written into the node, behind what its owner wrote there.
     *
     * @par Completion signature
     * `void(error_code)`: the request is written; the owner decides.
     *
     * @par Errors
     * `zk_errc::no_node`: it was gone already. `errc::bad_path`: not a contender of this folder.
     * Otherwise as `contenders`.
     *
     * @par Cancellation
     * Terminal, partial, total: completes at once; the request may be written all the same.
     *
     * @see Recipes page, "Revocable Shared Locks".
     */
    template <class Token = default_token>
    auto request_release(std::string contender_path, Token&& token = Token{}) {
        return initiate<&start_request>(
            "request_release", contender_path, std::forward<Token>(token), contender_path);
    }

    /**
     * @brief As `request_release`, and waits until the node is gone; after the grace time it is
     *        removed, and its owner is told that it has lost what it held.
     *
     * Only for those who have agreed on that: the owner may still be at work.
     *
     * @par Completion signature
     * `void(error_code, bool)`: whether the node had to be removed. It is so said, too, if the answer
     * about its removal was lost and it is gone.
     *
     * @par Cancellation
     * Terminal, partial, total: completes at once; what was asked for or removed stays so.
     */
    template <class Token = default_token>
    auto insist_on_release(std::string contender_path, time_limit grace, Token&& token = Token{}) {
        return initiate<&start_insist>(
            "insist_on_release", contender_path, std::forward<Token>(token), contender_path, grace);
    }

protected:
    using session_ptr = std::shared_ptr<session>;
    using impl_ptr = std::shared_ptr<const contention_object>;

    using callee = detail::callee<session_ptr, impl_ptr>;
    using claim = acquire_request;
    template <class... Values>
    using handler_of = any_handler<void(error_code, Values...)>;

    contention_recipe(const client& c, impl_ptr impl, const char* recipe);
    contention_recipe() noexcept = default;
    contention_recipe(contention_recipe&&) noexcept = default;
    contention_recipe& operator=(contention_recipe&&) noexcept = default;
    ~contention_recipe() = default;

    template <class Token>
    auto begin(const char* operation, claim what, Token&& token) {
        return initiate<&start_acquire>(operation, path(), std::forward<Token>(token), what);
    }

    /// For a `multi_lock`.
    acquisition part_of(claim what) const;

    /// Every public operation is this; an error's message names `about`.
    template <auto Start, class Token, class... Arguments>
    auto initiate(const char* operation,
                  std::string about,
                  Token&& token,
                  Arguments&&... arguments) {
        return detail::initiate<Start>(call_site(operation, std::move(about)),
                                       callee(session_, impl_),
                                       std::forward<Token>(token),
                                       std::forward<Arguments>(arguments)...);
    }

    static void start_acquire(const callee& of, claim what, handler_of<ownership> handler);
    static void start_contenders(const callee& of, handler_of<std::vector<contender_info>> handler);
    static void start_break(const callee& of, std::string contender_path, handler_of<> handler);
    static void start_request(const callee& of, std::string contender_path, handler_of<> handler);
    static void start_insist(const callee& of,
                             std::string contender_path,
                             time_limit grace,
                             handler_of<bool> handler);

    session_ptr session_;
    impl_ptr impl_;
};

}  // namespace corozk::detail
