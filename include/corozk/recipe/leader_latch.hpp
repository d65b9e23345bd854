// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/recipe_object.hpp>
#include <corozk/recipe/election.hpp>
#include <corozk/time_limit.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace corozk {

namespace detail {
class latch_core;
}

/** @brief What a leader latch is. */
enum class latch_state : std::uint8_t {
    idle,       ///< not started, or closed
    candidate,  ///< waits for its turn, or for a session
    leader,
};

/** @brief A leader latch at one moment. */
struct latch_status {
    latch_status() = default;

    latch_state state = latch_state::idle;  ///< Now.
    std::uint64_t revision = 0;             ///< grows with every change
    std::int64_t fencing_token = 0;         ///< of the term, while it leads
    error_code reason;  ///< why the last term or candidacy ended, if not by our own wish
};

/**
 * @brief Leadership as a state: a candidate that stays one, over lost sessions and erased nodes,
 * until it is closed.
 *
 * @code
 * corozk::leader_latch latch(zk, "/app/leader");
 * latch.start();
 * co_await latch.wait_leadership();    // as long as it takes
 * ... while (latch.has_leadership()) ...
 * @endcode
 *
 * The same election as `election` with the same options: latches, `election`s and (see
 * `compatibility`) other libraries' candidates elect one leader. A lost connection changes nothing:
 * the node is kept, and the leadership with it, until the session's deadline. When the session is
 * lost, or somebody erases the node, it leads no more at once, and becomes a candidate again, behind
 * all others.
 *
 * @par Thread safety
 * Distinct objects: safe. Shared objects: unsafe; use it on the client's executor.
 *
 * @par Lifetime
 * Its destructor resigns in the background; operations under way complete with `operation_aborted`.
 * May outlive the client (then everything fails with `errc::closed`).
 *
 * @see Recipes page, "Leader Election"; CURATOR-3, CURATOR-620, CURATOR-645, CURATOR-652.
 */
class COROZK_DECL leader_latch : public detail::recipe_object<detail::latch_core> {
public:
    using duration = std::chrono::steady_clock::duration;      ///< Of a wait.
    using time_point = std::chrono::steady_clock::time_point;  ///< Of a deadline.

    /// `path` is the folder of the election; it is created when it is needed.
    leader_latch(const client& c, std::string path, election_options options = election_options());
    leader_latch() noexcept = default;

    /** @brief Becomes a candidate, if it is none. Again after `close`, or after an error. */
    void start();

    /** @brief Whether it leads now, as far as anybody can know here: false from the moment in which
     *         the session's deadline passes, also before anybody was told. */
    bool has_leadership() const noexcept;

    /** @brief What it is. */
    latch_status status() const;

    /** @brief The node of the term; empty if it does not lead. */
    std::string term_path() const;

    /**
     * @brief Waits until it leads; at once if it does.
     *
     * @par Completion signature
     * `void(error_code, std::int64_t)`: the term's fencing token.
     *
     * @par Errors
     * `errc::not_a_member`: it was not started, or is being closed. The reason if it can never
     * lead: `zk_errc::no_auth`, `errc::bad_path`, `errc::closed`, `zk_errc::auth_failed`; it is
     * idle then.
     *
     * @par Cancellation
     * Terminal, partial, total: completes at once; it stays a candidate.
     */
    template <class Token = default_token>
    auto wait_leadership(Token&& token = Token{}) {
        return wait_leadership_until(time_point::max(), std::forward<Token>(token));
    }

    /** @brief The same, until the deadline (see `time_limit`); it stays a candidate.
     *  @par Errors
     *  Also `errc::deadline_exceeded`. */
    template <class Token = default_token>
    auto wait_leadership_until(time_point deadline, Token&& token = Token{}) {
        return initiate<&start_wait_leadership>(
            "leader_latch.wait_leadership", std::forward<Token>(token), deadline);
    }

    /** @brief The same, at most that long from now on. */
    template <class Token = default_token>
    auto wait_leadership_for(time_limit budget, Token&& token = Token{}) {
        return wait_leadership_until(budget.from_now(), std::forward<Token>(token));
    }

    /**
     * @brief Waits until it is not any more what was seen: `s = co_await latch.next_status(s)`.
     *
     * Several changes in a row may be seen as one; the revision and the fencing token tell terms
     * apart. Works while idle, too.
     *
     * @par Completion signature
     * `void(error_code, latch_status)`
     *
     * @par Errors
     * `errc::closed`: the client was.
     *
     * @par Cancellation
     * Terminal, partial, total: completes at once; no change is lost to a later call.
     */
    template <class Token = default_token>
    auto next_status(const latch_status& seen, Token&& token = Token{}) {
        return initiate<&start_next_status>(
            "leader_latch.next_status", std::forward<Token>(token), seen.revision);
    }

    /**
     * @brief Resigns, and stays a candidate behind all others. If there are none, it leads again.
     *
     * It is a candidate again before it resigns: there is no moment without one.
     *
     * @par Completion signature
     * `void(error_code)`: the term is over by the server's word.
     *
     * @par Errors
     * `errc::ownership_lost`: it did not lead. `zk_errc::session_expired`, `errc::closed`: it was
     * lost meanwhile.
     *
     * @par Cancellation
     * Terminal, partial, total: stops waiting; it resigns all the same.
     */
    template <class Token = default_token>
    auto resign(Token&& token = Token{}) {
        return initiate<&start_resign>("leader_latch.resign", std::forward<Token>(token));
    }

    /**
     * @brief Resigns, and is no candidate any more.
     *
     * @par Completion signature
     * `void(error_code)`: nothing of it is left, by the server's word or with the session's end.
     *
     * @par Cancellation
     * Terminal, partial, total: stops waiting; it goes all the same.
     */
    template <class Token = default_token>
    auto close(Token&& token = Token{}) {
        return initiate<&start_close>("leader_latch.close", std::forward<Token>(token));
    }

    /** @brief As `election::acknowledge`, for the present term. */
    template <class Token = default_token>
    auto acknowledge(Token&& token = Token{}) {
        return campaign().acknowledge(term(), std::forward<Token>(token));
    }

    /** @brief As `ownership::commit`, for the present term: a late leader's write fails. */
    template <class Token = default_token>
    auto commit(transaction steps, Token&& token = Token{}) {
        return term().commit(std::move(steps), std::forward<Token>(token));
    }

    /** @brief As `ownership::read`, for the present term. */
    template <class Token = default_token>
    auto read(std::string path_to_read, Token&& token = Token{}) {
        return term().read(std::move(path_to_read), std::forward<Token>(token));
    }

    /** @brief As `ownership::wait_release_requested`, for the present term. */
    template <class Token = default_token>
    auto wait_release_requested(Token&& token = Token{}) {
        return term().wait_release_requested(std::forward<Token>(token));
    }

    /** @brief The election that it takes part in: for `leader`, `next_leader`, `contenders`, ... */
    election& campaign() const noexcept;

private:
    ownership& term() const noexcept;

    static void start_wait_leadership(const impl_ptr& impl,
                                      time_point deadline,
                                      handler_of<std::int64_t> handler);
    static void start_next_status(const impl_ptr& impl,
                                  std::uint64_t revision,
                                  handler_of<latch_status> handler);
    static void start_resign(const impl_ptr& impl, handler_of<> handler);
    static void start_close(const impl_ptr& impl, handler_of<> handler);
};

}  // namespace corozk
