// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/export.hpp>
#include <corozk/detail/initiate.hpp>
#include <corozk/error.hpp>
#include <corozk/transaction.hpp>
#include <corozk/types.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

namespace detail {
class owned;
COROZK_DECL boost::asio::any_io_executor executor_of(
    const callee<std::shared_ptr<void>, std::shared_ptr<owned>>& c) noexcept;
}  // namespace detail

/**
 * @brief Something that is ours alone for now: a lock, a permit, a leadership, a claim.
 *
 * Move-only. Its destructor gives it back in the background (the node is erased for certain, for as
 * long as the session lives); `release` does the same and can be awaited.
 *
 * @par What it does not promise
 * Between the moment in which the server gives the node to somebody else and the moment in which we
 * hear of it, two processes may believe that they own it: one of them stopped, or cut off. Stop
 * working when `wait_lost` completes or `valid` is false, and let the resource check `fencing_token`, or
 * write through `commit`, which the server refuses once the node is gone.
 *
 * @par Thread safety
 * Distinct objects: safe. Shared objects: unsafe; use it on the client's executor.
 *
 * @par Lifetime
 * May outlive the recipe object and the client, and may be destroyed in any state.
 */
class COROZK_DECL ownership {
public:
    /// Owns nothing.
    ownership() noexcept;
    ownership(std::shared_ptr<void> keep_alive, std::shared_ptr<detail::owned> impl) noexcept;
    ownership(ownership&&) noexcept;
    ownership& operator=(ownership&&) noexcept;
    ~ownership();

    using executor_type = boost::asio::any_io_executor;  ///< Of its operations.

    /** @brief The executor of the client that it was made with. */
    executor_type get_executor() const noexcept {
        return detail::executor_of(detail::callee(keep_alive_, impl_));
    }

    /** @brief Whether there is something to release. It may have been lost; see `valid`. */
    explicit operator bool() const noexcept { return impl_ != nullptr; }

    /** @brief Whether it is still ours as far as anybody can know here: not released, not lost, and
     *         the session's deadline has not passed. */
    bool valid() const noexcept;

    /** @brief The node that stands for it; empty when nothing is owned. */
    std::string path() const;

    /**
     * @brief A number that is larger for each later owner: the node's creation in the server's
     *        history (`czxid`), captured at the grant.
     *
     * Unlike the sequence in the node's name it does not restart when the parent is erased.
     */
    std::int64_t fencing_token() const noexcept;

    /**
     * @brief Waits until it is lost.
     *
     * @par Completion signature
     * `void(error_code, error_code)`: the second one says why: `zk_errc::session_expired`,
     * `errc::ownership_lost` (somebody erased the node), `errc::closed`.
     *
     * @par Errors
     * `operation_aborted` when it was released, or on cancellation; `errc::busy` when another
     * `wait_lost` waits.
     *
     * @par Cancellation
     * Terminal, partial, total: completes at once; nothing is lost to a later `wait_lost`.
     */
    template <class Token = default_token>
    auto wait_lost(Token&& token = Token{}) {
        return initiate<&start_wait_lost>("wait_lost", path(), std::forward<Token>(token));
    }

    /**
     * @brief Waits until somebody asks for its release (`request_release` of the recipe objects).
     *
     * A request that was written before, also before the grant, completes it at once: none is
     * missed. Whether and when to release is up to the owner; but the one who asks may remove the
     * node after a grace time (see `wait_lost`).
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * The reason when it is lost meanwhile; `operation_aborted` when it was released, or on
     * cancellation; `errc::busy` when another `wait_release_requested` waits; `errc::not_supported` for
     * what has no such requests.
     *
     * @par Cancellation
     * Terminal, partial, total: completes at once; no request is lost to a later call.
     *
     * @see Recipes page, "Revocable Shared Locks".
     */
    template <class Token = default_token>
    auto wait_release_requested(Token&& token = Token{}) {
        return initiate<&start_wait_release_requested>(
            "wait_release_requested", path(), std::forward<Token>(token));
    }

    /**
     * @brief Gives it back, and waits until the server has confirmed it.
     *
     * Afterwards the object owns nothing. The node goes for certain, even if the connection is lost
     * meanwhile or the wait is cancelled, or if what this returns is never awaited.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * `errc::ownership_lost` or `zk_errc::session_expired`: it had been lost before, and somebody
     * else may own it already. `errc::closed`.
     *
     * @par Cancellation
     * Terminal and partial: stops waiting; the node is erased all the same. Total: ignored.
     */
    template <class Token = default_token>
    auto release(Token&& token = Token{}) {
        detail::call_site where("release", path());
        auto executor = get_executor();
        // Shared, because `deferred` wants what it starts to be copyable.
        detail::callee held(std::move(executor), std::make_shared<ownership>(std::move(*this)));
        return detail::initiate<&start_release>(
            std::move(where), std::move(held), std::forward<Token>(token));
    }

    /**
     * @brief Carries out a transaction only if this is still ours, by the server's judgement: a
     * late owner's write fails.
     *
     * Once this client knows of the loss (`valid` is false, `wait_lost` has completed) nothing is sent. Until
     * then the server decides: it carries it out only in the session of the grant, and only while the
     * node is there. The server compares names, and no others have one with this guid: only somebody who
     * erases the node and makes one of the very same name himself is not noticed in between.
     *
     * @par Completion signature
     * `void(error_code, std::vector<transaction_result>)`, as `client::commit`.
     *
     * @par Errors
     * `errc::ownership_lost`: it is lost, the node is gone, or the session; nothing was written.
     * Otherwise as `client::commit`.
     */
    template <class Token = default_token>
    auto commit(transaction steps, Token&& token = Token{}) {
        return initiate<&start_commit>(
            "commit", path(), std::forward<Token>(token), std::move(steps));
    }

    /**
     * @brief Reads a node after this session's server has caught up with everything that was
     * written before: what the previous owner wrote is seen.
     *
     * @par Completion signature
     * `void(error_code, node_data)`
     *
     * @par Errors
     * As `client::get`; `errc::ownership_lost` when nothing is owned.
     */
    template <class Token = default_token>
    auto read(std::string path_to_read, Token&& token = Token{}) {
        return initiate<&start_read>(
            "read", path_to_read, std::forward<Token>(token), std::move(path_to_read));
    }

    /// For the recipes.
    const std::shared_ptr<detail::owned>& implementation() const noexcept { return impl_; }
    const std::shared_ptr<void>& keep_alive() const noexcept { return keep_alive_; }

private:
    using owned_ptr = std::shared_ptr<detail::owned>;
    template <class... Values>
    using handler_of = detail::any_handler<void(error_code, Values...)>;

    /// `Start(impl, arguments..., handler)`; an error names the operation and what it was about.
    template <auto Start, class Token, class... Arguments>
    auto initiate(const char* operation,
                  std::string about,
                  Token&& token,
                  Arguments&&... arguments) const {
        return detail::initiate<Start>(detail::call_site(operation, std::move(about)),
                                       detail::callee(keep_alive_, impl_),
                                       std::forward<Token>(token),
                                       std::forward<Arguments>(arguments)...);
    }

    static void start_wait_lost(const owned_ptr& impl, handler_of<error_code> handler);
    static void start_wait_release_requested(const owned_ptr& impl, handler_of<> handler);
    static void start_release(const std::shared_ptr<ownership>& held, handler_of<> handler);
    static void start_commit(const owned_ptr& impl,
                             transaction steps,
                             handler_of<std::vector<transaction_result>> handler);
    static void start_read(const owned_ptr& impl, std::string path, handler_of<node_data> handler);

    std::shared_ptr<void> keep_alive_;
    owned_ptr impl_;
};

}  // namespace corozk
