// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/recipe/recipe_object.hpp>
#include <corozk/time_limit.hpp>

#include <string>
#include <utility>

namespace corozk {

namespace detail {
class barrier_impl;
}

/** @brief Options of a barrier. */
struct barrier_options {
    barrier_options() = default;

    /// `ephemeral`: the barrier is also removed when the session of the client that has set it ends,
    /// so that a dead process does not block others forever. With a mode other than `ephemeral` and
    /// `persistent`, `set` fails with `errc::bad_option`.
    create_mode mode = create_mode::persistent;

    /// ACL of the barrier node and of missing parents. Empty means open to everyone.
    corozk::acl acl;
};

/**
 * @brief A barrier for processes: while the barrier node exists, `wait` waits.
 *
 * Any process may call `set` and `remove`, and any number of them `wait`. Waiting survives
 * disconnects, restarts of servers and session loss: it completes only when a server has confirmed
 * that the barrier does not exist.
 *
 * @cancellation
 * | operation | all types |
 * |---|---|
 * | `wait` | completes at once; nothing is left at the server |
 * | `check` | completes at once |
 * | `set`, `remove` | complete at once; requests in flight may be applied |
 *
 * @executor As `client`. The destructor leaves the barrier as it is.
 *
 * @origin "Barriers" on ZooKeeper's recipes page. Waiters that missed a change during a reconnect
 * are a known defect of other implementations (Kazoo's `Barrier`).
 */
class COROZK_DECL barrier : public detail::recipe_object<detail::barrier_impl> {
public:
    /** @brief `path` is the barrier node. Nothing is sent. */
    barrier(const client& c, std::string path, barrier_options options = barrier_options());

    barrier() noexcept = default;

    /**
     * @brief Sets the barrier. Missing parents are created. If this object's previous session left
     *        the barrier set and has not ended yet, `set` re-binds it to the current session.
     *
     * @completes `void(error_code, bool)`: true if this call has set it or bound it to the current
     * session, even if the response was lost; false if it was already set.
     *
     * @errors `errc::bad_option`: another mode. `errc::bad_path`, `zk_errc::no_auth`,
     * `zk_errc::not_read_only`, `errc::closed`. Retries across outages and session loss. A persistent
     * barrier that this call has set and another client has removed, while the response was lost, is
     * set again.
     */
    template <class Token = default_token>
    auto set(Token&& token = Token{}) {
        return set_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto set_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_set>("barrier.set", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto set_until(time_point deadline, Token&& token = Token{}) {
        return set_for(deadline, std::forward<Token>(token));
    }

    /**
     * @brief Removes the barrier, regardless of who has set it.
     *
     * If the response is lost and the barrier has been set again, the new one is not removed.
     *
     * @completes `void(error_code, bool)`: false if there was no barrier.
     *
     * @errors `zk_errc::not_empty`: the barrier node has children; `errc::bad_path`,
     * `zk_errc::no_auth`, `zk_errc::not_read_only`, `errc::closed`. Retries across outages and
     * session loss.
     */
    template <class Token = default_token>
    auto remove(Token&& token = Token{}) {
        return remove_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto remove_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_remove>("barrier.remove", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto remove_until(time_point deadline, Token&& token = Token{}) {
        return remove_for(deadline, std::forward<Token>(token));
    }

    /**
     * @brief Checks whether the barrier is set.
     *
     * @completes `void(error_code, bool)`
     *
     * @errors `errc::bad_path`, `zk_errc::no_auth`, `zk_errc::not_read_only`, `errc::closed`.
     * Retries across outages and session loss.
     */
    template <class Token = default_token>
    auto check(Token&& token = Token{}) {
        return check_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto check_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_check>("barrier.check", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto check_until(time_point deadline, Token&& token = Token{}) {
        return check_for(deadline, std::forward<Token>(token));
    }

    /**
     * @brief Waits until the barrier does not exist.
     *
     * @completes `void(error_code)`
     *
     * @errors `errc::closed`, `errc::bad_path`, `zk_errc::no_auth`.
     */
    template <class Token = default_token>
    auto wait(Token&& token = Token{}) {
        return wait_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto wait_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_wait>("barrier.wait", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto wait_until(time_point deadline, Token&& token = Token{}) {
        return wait_for(deadline, std::forward<Token>(token));
    }

private:
    static void start_set(const impl_ptr&, time_limit limit, handler_of<bool>);
    static void start_remove(const impl_ptr&, time_limit limit, handler_of<bool>);
    static void start_check(const impl_ptr&, time_limit limit, handler_of<bool>);
    static void start_wait(const impl_ptr&, time_limit limit, handler_of<>);
};

}  // namespace corozk
