// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/compatibility.hpp>
#include <corozk/detail/recipe/recipe_object.hpp>
#include <corozk/time_limit.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace corozk {

namespace detail {
class double_barrier_impl;
}

/** @brief Options of a double barrier. */
struct double_barrier_options {
    double_barrier_options() = default;

    /// Whether `enter` waits for the next round while one is in progress. Otherwise it fails with
    /// `errc::would_block`. `native` only.
    bool wait_for_next_round = true;

    /// The format. `curator`, `kazoo`: that of DistributedDoubleBarrier and DoubleBarrier, which is
    /// the same, see `double_barrier`.
    corozk::compatibility compatibility = corozk::compatibility::native;

    /// ACL of the members' nodes and of missing parents. Empty means open to everyone.
    corozk::acl acl;
};

/**
 * @brief A member of a group whose members start and end their work together.
 *
 * `enter` completes when `size` members have entered, `leave` when all of them have left or died.
 * The barrier is reusable; each use is a *round* of exactly `size` members:
 *
 * - Members that arrive during a round wait for the next one (or fail; see the options).
 * - A member that gives up or dies before the round starts does not count.
 * - A member that dies later counts as having left.
 * - Nodes left over from earlier rounds admit no one.
 *
 * Each object is one member. Members of the same client share listings and watches.
 *
 * @par With Curator and Kazoo
 * Their format, that of the recipes page, has no rounds. So with `compatibility`, a member that
 * arrives while others are inside may be admitted with them, and `size` is a threshold, not a
 * limit; sizes are not compared. A member can miss the start of a round if another member leaves
 * immediately: a Curator or Kazoo member because it sets its watch on `ready` only after its node
 * counts, a corozk member while it is disconnected. So leave only after all are inside, and give
 * `enter` a time limit. Leaving Kazoo members wait for every member present: re-enter only after
 * all have left. A `ready` node that outlived its round is deleted if no member is left. Each
 * member lists the others itself. Every child of the barrier's node is a member; a member whose
 * node another program deletes is not counted, and continues to wait.
 *
 * @cancellation All types: completes at once; the node is deleted in the background.
 * If the round starts at the same time, a member whose `enter` was cancelled counts as having left.
 * A cancelled `leave` leaves without waiting for the others.
 *
 * A deadline has the same effects, with `errc::deadline_exceeded`.
 *
 * @executor As `client`. The destructor deletes the node in the background.
 *
 * @origin "Double Barriers" on ZooKeeper's recipes page. Instead of the page's `ready` node, the
 * barrier node's data identifies the round: `ready` nodes that outlived their round caused
 * CURATOR-233, CURATOR-536 and apache/curator#1290.
 */
class COROZK_DECL double_barrier : public detail::recipe_object<detail::double_barrier_impl> {
public:
    /** @brief A member outside the barrier. Nothing is sent. All members must use the same size. */
    double_barrier(const client& c,
                   std::string path,
                   std::uint32_t size,
                   double_barrier_options options = double_barrier_options());

    double_barrier() noexcept = default;

    /** @brief Whether the member has entered a round and not left it. */
    bool inside() const noexcept;

    /** @brief The number of the round that was entered last; 0 before the first. With
     *         `compatibility`: how many rounds this object has entered. */
    std::uint64_t round() const noexcept;

    /**
     * @brief Waits until `size` members have entered.
     *
     * If the session is lost before the round starts, the member enters again in the next session.
     * It counts once, even while the server still has the lost session.
     *
     * @completes `void(error_code)`
     *
     * @errors
     * - `errc::busy`: the member is already inside, entering or leaving.
     * - `errc::would_block`: a round is in progress (without `wait_for_next_round`).
     * - `errc::limit_mismatch`: members are configured with different sizes, and a round was
     *   started by those with a smaller size.
     * - `errc::foreign_data`: the barrier node's data was not written by a double barrier.
     * - `errc::sequence_exhausted`: after about 2^31 entries, until all members have left.
     * - `errc::bad_option` (a size of 0), `errc::bad_path`, `zk_errc::no_auth`, `errc::closed`.
     */
    template <class Token = default_token>
    auto enter(Token&& token = Token{}) {
        return enter_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto enter_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_enter>("double_barrier.enter", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto enter_until(time_point deadline, Token&& token = Token{}) {
        return enter_for(deadline, std::forward<Token>(token));
    }

    /**
     * @brief Waits until all members of the round have left or died.
     *
     * @completes `void(error_code)`
     *
     * @errors
     * - `errc::not_a_member`: it is not inside.
     * - `zk_errc::session_expired`: the session in which it had entered was lost, so that it counts
     *   as having died.
     * - `errc::closed`.
     *
     * After any error the member is outside, and its node has been or will be deleted.
     */
    template <class Token = default_token>
    auto leave(Token&& token = Token{}) {
        return leave_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto leave_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_leave>("double_barrier.leave", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto leave_until(time_point deadline, Token&& token = Token{}) {
        return leave_for(deadline, std::forward<Token>(token));
    }

private:
    static void start_enter(const impl_ptr&, time_limit limit, handler_of<>);
    static void start_leave(const impl_ptr&, time_limit limit, handler_of<>);
};

}  // namespace corozk
