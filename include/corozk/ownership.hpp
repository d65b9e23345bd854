// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/export.hpp>
#include <corozk/detail/initiate.hpp>
#include <corozk/error.hpp>
#include <corozk/time_limit.hpp>
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

/// What an operation of an ownership needs from its owner, which may have been released.
struct holder {
    holder(std::shared_ptr<void> keep_alive_, boost::asio::any_io_executor executor_) noexcept
        : keep_alive(std::move(keep_alive_)), executor(std::move(executor_)) {}

    std::shared_ptr<void> keep_alive;
    boost::asio::any_io_executor executor;
};
inline boost::asio::any_io_executor executor_of(const holder& h) noexcept {
    return h.executor;
}
}  // namespace detail

/**
 * @brief RAII handle for a lock, permit, leadership or claim.
 *
 * Move-only. The destructor releases it in the background: its node is deleted, with retries for as
 * long as the session lives. `release` does the same and can be awaited.
 *
 * @par What it does not guarantee
 * If this process is suspended or partitioned, another one may become the owner before this one
 * detects the loss. Stop working when `wait_lost` completes or `valid` is false, and let the
 * resource check `fencing_token`, or write through `commit`, which the server rejects once the node
 * has been deleted.
 *
 * @executor As `client`, but when it is destroyed a pending `commit` or `read` continues. May
 * outlive the recipe object.
 */
class COROZK_DECL ownership {
public:
    /// Owns nothing.
    ownership() noexcept;
    ownership(std::shared_ptr<void> keep_alive, std::shared_ptr<detail::owned> impl) noexcept;
    ownership(ownership&&) noexcept;
    ownership& operator=(ownership&&) noexcept;
    ~ownership();

    using executor_type = boost::asio::any_io_executor;
    using time_point = time_limit::time_point;  ///< The type of deadlines.

    /** @brief The client's executor, even after release; the system executor if it never owned
     *         anything, or was moved from. */
    executor_type get_executor() const noexcept {
        return executor_ ? executor_ : detail::executor_of(nullptr);
    }

    /** @brief Whether it has not been released or moved from. It may be lost; see `valid`. */
    explicit operator bool() const noexcept { return impl_ != nullptr; }

    /** @brief Whether it is still held to the client's knowledge: not released, not lost, and the
     *         session's deadline has not passed. Once false, it stays false. */
    bool valid() const noexcept;

    /** @brief The node that represents it; empty if nothing is owned. */
    std::string path() const;

    /**
     * @brief A number that increases with each owner: the `czxid` of the node, read at the grant.
     *
     * Unlike the sequence number in the node's name, it does not restart when the parent is
     * deleted.
     */
    std::int64_t fencing_token() const noexcept;

    /**
     * @brief Waits until it is lost.
     *
     * @completes `void(error_code, error_code)`, with the reason: `zk_errc::session_expired`,
     * `errc::ownership_lost` (another client deleted the node) or `errc::closed`.
     *
     * @errors `boost::asio::error::operation_aborted`: it was released. `errc::ownership_lost`:
     * nothing is owned.
     *
     * @cancellation All types: completes at once; a later `wait_lost` still reports
     * the loss.
     */
    template <class Token = default_token>
    auto wait_lost(Token&& token = Token{}) {
        return initiate<&start_wait_lost>(
            "ownership.wait_lost", path(), std::forward<Token>(token));
    }

    /**
     * @brief Waits until another client requests its release (`request_release`).
     *
     * Completes at once if the request was written before, even before the grant. The owner decides
     * whether to release, but the requester may delete the node after a grace period.
     *
     * @completes `void(error_code)`
     *
     * @errors The reason if it is lost; `boost::asio::error::operation_aborted`: it was released;
     * `errc::busy`: another `wait_release_requested` is pending; `errc::not_supported`: the recipe,
     * or its format, has no such requests; `errc::ownership_lost`: nothing is owned.
     *
     * @cancellation All types: completes at once; a later call still reports the
     * request.
     *
     * @see Recipes page, "Revocable Shared Locks".
     */
    template <class Token = default_token>
    auto wait_release_requested(Token&& token = Token{}) {
        return initiate<&start_wait_release_requested>(
            "ownership.wait_release_requested", path(), std::forward<Token>(token));
    }

    /**
     * @brief Releases it and waits for the server's confirmation.
     *
     * The object is empty afterwards. The node is deleted even if the connection is lost, the
     * operation is cancelled, or the returned awaitable is never awaited.
     *
     * @completes `void(error_code)`
     *
     * @errors `errc::ownership_lost`, `zk_errc::session_expired`: it had been lost, and there may
     * already be another owner; or (`errc::ownership_lost`) nothing is owned. `errc::closed`.
     * `zk_errc::no_auth`: the node may not be deleted; it stays until the session ends.
     *
     * @cancellation Terminal and partial: stops waiting; the node is deleted anyway. Total:
     * ignored.
     */
    template <class Token = default_token>
    auto release(Token&& token = Token{}) {
        return release_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto release_for(time_limit limit, Token&& token = Token{}) {
        detail::call_site where("ownership.release", path());
        auto executor = get_executor();
        // Shared, because `deferred` requires a copyable initiation.
        detail::callee held(executor, std::make_shared<ownership>(std::move(*this)));
        executor_ = std::move(executor);
        return detail::initiate<&start_release>(
            std::move(where), std::move(held), std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto release_until(time_point deadline, Token&& token = Token{}) {
        return release_for(deadline, std::forward<Token>(token));
    }

    /**
     * @brief Applies a transaction only if it is still held: a late owner's write is rejected.
     *
     * Nothing is sent if the client knows of the loss. Otherwise the server applies the transaction
     * only in the session of the grant and only while the node exists. The check is by name, which
     * contains a unique id; a client that deletes the node and re-creates it under the same name is
     * not detected.
     *
     * @completes `void(error_code, std::vector<transaction_result>)`, as `client::commit`.
     *
     * @errors `errc::ownership_lost`: it is lost, the node was deleted, or the session has ended;
     * nothing was written. `errc::busy`: a downgrade of it is in progress. Otherwise as
     * `client::commit`.
     *
     * @cancellation As `client::commit`.
     */
    template <class Token = default_token>
    auto commit(transaction steps, Token&& token = Token{}) {
        return initiate<&start_commit>(
            "ownership.commit", path(), std::forward<Token>(token), std::move(steps));
    }

    /**
     * @brief Reads a node after a sync, so that writes by previous owners are seen.
     *
     * @completes `void(error_code, node_data)`
     *
     * @errors As `client::get`; `errc::ownership_lost` if nothing is owned.
     *
     * @cancellation All types: completes at once.
     */
    template <class Token = default_token>
    auto read(std::string path_to_read, Token&& token = Token{}) {
        return initiate<&start_read>(
            "ownership.read", path_to_read, std::forward<Token>(token), std::move(path_to_read));
    }

    /// For the library's recipes.
    const std::shared_ptr<detail::owned>& implementation() const noexcept { return impl_; }
    const std::shared_ptr<void>& keep_alive() const noexcept { return keep_alive_; }

private:
    using owned_ptr = std::shared_ptr<detail::owned>;
    using callee = detail::callee<detail::holder, owned_ptr>;

    /// Calls `Start(callee, arguments..., handler)`. Errors mention `operation` and `about`.
    template <auto Start, class Token, class... Arguments>
    auto initiate(const char* operation,
                  std::string about,
                  Token&& token,
                  Arguments&&... arguments) const {
        return detail::initiate<Start>(detail::call_site(operation, std::move(about)),
                                       callee(detail::holder(keep_alive_, get_executor()), impl_),
                                       std::forward<Token>(token),
                                       std::forward<Arguments>(arguments)...);
    }

    static void start_wait_lost(const callee&, detail::handler_of<error_code>);
    static void start_wait_release_requested(const callee&, detail::handler_of<>);
    static void start_release(const std::shared_ptr<ownership>& held,
                              time_limit limit,
                              detail::handler_of<>);
    static void start_commit(const callee&,
                             transaction steps,
                             detail::handler_of<std::vector<transaction_result>>);
    static void start_read(const callee&, std::string path, detail::handler_of<node_data>);

    boost::asio::any_io_executor executor_;
    std::shared_ptr<void> keep_alive_;
    owned_ptr impl_;
};

}  // namespace corozk
