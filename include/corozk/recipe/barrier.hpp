// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/export.hpp>
#include <corozk/detail/initiate.hpp>
#include <corozk/detail/recipe_object.hpp>
#include <corozk/error.hpp>
#include <corozk/time_limit.hpp>
#include <corozk/types.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace corozk {

namespace detail {
class barrier_impl;
}

/** @brief How a `barrier` is set. */
struct barrier_options {
    barrier_options() = default;

    /// false: the barrier stays until it is removed. true: it also falls with the session of the
    /// client that has set it, so that a dead process blocks nobody for ever.
    bool bound_to_session = false;

    /// Of the barrier node and of folders that are made for it; empty means open.
    corozk::acl acl;
};

/**
 * @brief A gate for processes: while the barrier node exists, everybody who comes waits.
 *
 * `set` and `remove` may be called by any process, `wait` by any number of them. A waiter survives
 * lost connections, restarts of the server and the loss of its session: it asks the server again
 * after each of them, and returns only when the server has said that there is no barrier.
 *
 * @par Cancellation
 * | operation | terminal, partial, total |
 * |---|---|
 * | `wait` | completes at once, and nothing is left at the server |
 * | `is_set` | completes at once |
 * | `set`, `remove` | complete at once; what was sent may still happen |
 *
 * A cancelled operation completes with `boost::asio::error::operation_aborted`.
 *
 * @par Executor and thread safety
 * As `client`: use it on the client's executor only. Handlers never run inside the initiating call.
 *
 * @par Lifetime
 * The object keeps the session's machinery alive, not the session: after `client::close` everything
 * fails with `errc::closed`. Destroying the object in any state is safe: what waits completes with
 * `operation_aborted`. The barrier itself stays as it is.
 *
 * @par Origin
 * "Barriers" on ZooKeeper's recipes page; a waiter that slept through a reconnect is a known fault
 * of other implementations (kazoo's `Barrier`).
 */
class COROZK_DECL barrier : public detail::recipe_object<detail::barrier_impl> {
public:
    /** @brief The barrier whose node is `path`. Nothing is sent. */
    barrier(const client& c, std::string path, barrier_options options = barrier_options());

    barrier() noexcept = default;

    /**
     * @brief Sets the barrier. Missing folders above it are created.
     *
     * @par Completion signature
     * `void(error_code, bool)`: true if it was this call that has set it, false if it was set
     * already. An answer that was lost is found out about.
     *
     * @par Errors
     * `errc::bad_path`, `zk_errc::no_auth`, and those of every operation (see `client`).
     */
    template <class Token = default_token>
    auto set(Token&& token = Token{}) {
        return initiate<&start_set>("barrier.set", std::forward<Token>(token));
    }

    /**
     * @brief Removes the barrier, whoever has set it: everybody proceeds.
     *
     * One call removes one barrier at most: when its answer was lost and the barrier has been set
     * anew meanwhile, the new one stays.
     *
     * @par Completion signature
     * `void(error_code, bool)`: false if there was no barrier.
     *
     * @par Errors
     * `zk_errc::not_empty` if somebody put nodes below the barrier node; `errc::bad_path`,
     * `zk_errc::no_auth`, and those of every operation.
     */
    template <class Token = default_token>
    auto remove(Token&& token = Token{}) {
        return initiate<&start_remove>("barrier.remove", std::forward<Token>(token));
    }

    /**
     * @brief Whether the barrier is set now.
     *
     * @par Completion signature
     * `void(error_code, bool)`
     */
    template <class Token = default_token>
    auto is_set(Token&& token = Token{}) {
        return initiate<&start_is_set>("barrier.is_set", std::forward<Token>(token));
    }

    /**
     * @brief Waits until there is no barrier.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * `errc::closed`, `errc::bad_path`, `zk_errc::no_auth`.
     */
    template <class Token = default_token>
    auto wait(Token&& token = Token{}) {
        return initiate<&start_wait>(
            "barrier.wait", std::forward<Token>(token), time_limit::for_ever());
    }

    /** @brief The same, at most that long: `errc::deadline_exceeded` (see `time_limit`). */
    template <class Token = default_token>
    auto wait_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_wait>("barrier.wait", std::forward<Token>(token), limit);
    }

    /** @brief The same, until the deadline. */
    template <class Token = default_token>
    auto wait_until(time_limit::time_point deadline, Token&& token = Token{}) {
        return wait_for(time_limit::until(deadline), std::forward<Token>(token));
    }

private:
    static void start_set(const impl_ptr& impl, handler_of<bool> handler);
    static void start_remove(const impl_ptr& impl, handler_of<bool> handler);
    static void start_is_set(const impl_ptr& impl, handler_of<bool> handler);
    static void start_wait(const impl_ptr& impl, time_limit limit, handler_of<> handler);
};

}  // namespace corozk
