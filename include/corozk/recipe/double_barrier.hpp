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
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace corozk {

namespace detail {
class double_barrier_impl;
}

/** @brief How a `double_barrier` behaves. */
struct double_barrier_options {
    double_barrier_options() = default;

    /// What `enter` does while a round is going on: wait for the next one (true), or fail with
    /// `errc::would_block` (false).
    bool wait_for_next_round = true;

    /// Of the members' nodes and of folders that are made for them; empty means open.
    corozk::acl acl;
};

/**
 * @brief One member of a group that begins and ends its work together.
 *
 * `enter` returns when `size` members have come, `leave` when all of them have left or died. The
 * barrier can be used again and again; each use is a *round* of exactly `size` members:
 *
 * - Who comes while a round is going on waits for the next (or is told, see the options).
 * - A member that gives up or dies before the round begins is not counted.
 * - A member that dies afterwards counts as having left, and nobody waits for it.
 * - Nothing that an earlier round has left behind lets anybody in.
 *
 * One object is one member; make as many as you like. Members of one client share listings and
 * watches.
 *
 * @par Cancellation
 * | operation | terminal, partial, total |
 * |---|---|
 * | `enter` | completes at once; the member's node is erased in the background. A round that began
 * in the same instant counts it as a member that left | | `leave` | completes at once; the member's
 * node is erased in the background: it has left, without having waited for the others |
 *
 * A cancelled operation completes with `boost::asio::error::operation_aborted`. A deadline does the
 * same as a cancellation, with `errc::deadline_exceeded`.
 *
 * @par Executor and thread safety
 * As `client`: use it on the client's executor only. Handlers never run inside the initiating call.
 *
 * @par Lifetime
 * Destroying the object in any state is safe: what waits completes with `operation_aborted`, and
 * its node is erased in the background. After `client::close` everything fails with `errc::closed`.
 *
 * @par Origin
 * "Double Barriers" on ZooKeeper's recipes page. The page's `ready` node is the data of the barrier
 * node here, together with the round it belongs to: one that outlives its round was the fault of
 * Curator's CURATOR-233, CURATOR-536 and apache/curator#1290.
 */
class COROZK_DECL double_barrier : public detail::recipe_object<detail::double_barrier_impl> {
public:
    /** @brief A member, still outside. Nothing is sent. All members must name the same size. */
    double_barrier(const client& c,
                   std::string path,
                   std::uint32_t size,
                   double_barrier_options options = double_barrier_options());

    double_barrier() noexcept = default;

    /** @brief Whether the member has entered a round and not left it. */
    bool inside() const noexcept;

    /** @brief The number of the round that was entered last; 0 before the first. */
    std::uint64_t round() const noexcept;

    /**
     * @brief Waits until `size` members have come.
     *
     * When the session is lost before the round has begun, the member comes again with the next
     * session by itself. It counts once, also while the server still keeps the lost one.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * - `errc::busy`: it is inside already, or entering or leaving.
     * - `errc::would_block`: a round is going on (only if the options say so).
     * - `errc::limit_mismatch`: the round was begun by members that named another size.
     * - `errc::foreign_data`: the barrier node was written by somebody else.
     * - `errc::bad_option` (a size of 0), `errc::bad_path`, `zk_errc::no_auth`, `errc::closed`.
     */
    template <class Token = default_token>
    auto enter(Token&& token = Token{}) {
        return initiate<&start_enter>(
            "double_barrier.enter", std::forward<Token>(token), time_limit::for_ever());
    }

    /** @brief The same, at most that long: `errc::deadline_exceeded` (see `time_limit`). */
    template <class Token = default_token>
    auto enter_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_enter>("double_barrier.enter", std::forward<Token>(token), limit);
    }

    /** @brief The same, until the deadline. */
    template <class Token = default_token>
    auto enter_until(time_limit::time_point deadline, Token&& token = Token{}) {
        return enter_for(time_limit::until(deadline), std::forward<Token>(token));
    }

    /**
     * @brief Waits until all members of the round have left or died.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * - `errc::not_a_member`: it is not inside.
     * - `zk_errc::session_expired`: the session in which it had entered was lost. The others take
     *   it for dead and do not wait for it; it is outside now.
     * - `errc::closed`.
     *
     * After any error the member is outside, and its node is gone or will be erased.
     */
    template <class Token = default_token>
    auto leave(Token&& token = Token{}) {
        return initiate<&start_leave>(
            "double_barrier.leave", std::forward<Token>(token), time_limit::for_ever());
    }

    /** @brief The same, at most that long: `errc::deadline_exceeded` (see `time_limit`). */
    template <class Token = default_token>
    auto leave_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_leave>("double_barrier.leave", std::forward<Token>(token), limit);
    }

    /** @brief The same, until the deadline. */
    template <class Token = default_token>
    auto leave_until(time_limit::time_point deadline, Token&& token = Token{}) {
        return leave_for(time_limit::until(deadline), std::forward<Token>(token));
    }

private:
    static void start_enter(const impl_ptr& impl, time_limit limit, handler_of<> handler);
    static void start_leave(const impl_ptr& impl, time_limit limit, handler_of<> handler);
};

}  // namespace corozk
