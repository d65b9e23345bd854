// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/recipe/recipe_object.hpp>
#include <corozk/recipe/election.hpp>
#include <corozk/time_limit.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

namespace detail {
class latch_core;
}

/** @brief The state of a leader latch. */
enum class latch_state : std::uint8_t {
    idle,       ///< Not started, or closed.
    candidate,  ///< Waiting for the leadership or for a session.
    leader,
};

/** @brief A snapshot of a leader latch. */
struct latch_status {
    latch_status() = default;

    latch_state state = latch_state::idle;  ///< The current state.
    std::uint64_t revision = 0;             ///< Incremented by every change.
    std::int64_t fencing_token = 0;         ///< The term's fencing token while it leads.
    /// Why the last term or candidacy ended; no error if on request.
    error_code reason;
};

/**
 * @brief Leadership as a state: a candidate that campaigns until it is closed, even after session
 *        loss or deletion of its node.
 *
 * @code
 * corozk::leader_latch latch(zk, "/app/leader");
 * latch.start();
 * co_await latch.wait_leadership();
 * ... while (latch.has_leadership()) ...
 * @endcode
 *
 * Participates in the same election as an `election` with the same path and options. While
 * disconnected, it keeps its node, and with it the leadership, until the session's deadline. When
 * the session is lost or the node is deleted, the leadership ends at once, and it becomes a
 * candidate again, behind all others.
 *
 * @executor As `client`. The destructor resigns in the background.
 *
 * @origin "Leader Election" on ZooKeeper's recipes page; CURATOR-3, CURATOR-620, CURATOR-645,
 * CURATOR-652.
 */
class COROZK_DECL leader_latch : public detail::recipe_object<detail::latch_core> {
public:
    /** @brief `path` is the parent node of the candidates, created when needed. Nothing is sent. */
    leader_latch(const client& c, std::string path, election_options options = election_options());
    leader_latch() noexcept = default;

    /** @brief Becomes a candidate if idle: at first, after `close`, or after an error. Revokes a
     *         `close` that has not completed, which ends with
     *         `boost::asio::error::operation_aborted`. */
    void start();

    /** @brief Whether it leads, to the client's knowledge: false as soon as the session's deadline
     *         has passed, even before the loss is reported. */
    bool has_leadership() const noexcept;

    /** @brief The current status. */
    latch_status status() const;

    /** @brief The node of the current term; empty if it does not lead. */
    std::string term_path() const;

    /**
     * @brief Waits until it leads.
     *
     * @completes `void(error_code, std::int64_t)`, with the term's fencing token.
     *
     * @errors `errc::not_a_member`: not started, or being closed. The reason if it can never lead:
     * `zk_errc::no_auth`, `errc::bad_path`, `errc::bad_option`, `errc::closed`; it is idle then.
     *
     * @cancellation All types: completes at once; it remains a candidate.
     */
    template <class Token = default_token>
    auto wait_leadership(Token&& token = Token{}) {
        return wait_leadership_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto wait_leadership_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_wait_leadership>(
            "leader_latch.wait_leadership", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto wait_leadership_until(time_point deadline, Token&& token = Token{}) {
        return wait_leadership_for(deadline, std::forward<Token>(token));
    }

    /**
     * @brief Waits until the status differs from the one passed:
     *        `s = co_await latch.next_status(s)`.
     *
     * Intermediate states may be skipped; terms are distinguished by revision and fencing token.
     *
     * @completes `void(error_code, latch_status)`
     *
     * @errors `errc::closed`: the client was closed.
     *
     * @cancellation All types: completes at once; a later call still reports the
     * change.
     */
    template <class Token = default_token>
    auto next_status(const latch_status& seen, Token&& token = Token{}) {
        return initiate<&start_next_status>(
            "leader_latch.next_status", std::forward<Token>(token), seen.revision);
    }

    /**
     * @brief Resigns and becomes a candidate behind all others. If there are none, it leads again.
     *
     * The new candidacy begins before the leadership ends.
     *
     * @completes `void(error_code)`, after the server has confirmed the end of the term.
     *
     * @errors `errc::ownership_lost`: it did not lead. `zk_errc::session_expired`, `errc::closed`:
     * the term was lost.
     *
     * @cancellation All types: stops waiting; it resigns anyway.
     */
    template <class Token = default_token>
    auto resign(Token&& token = Token{}) {
        return resign_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto resign_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_resign>("leader_latch.resign", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto resign_until(time_point deadline, Token&& token = Token{}) {
        return resign_for(deadline, std::forward<Token>(token));
    }

    /**
     * @brief Resigns and ends the candidacy.
     *
     * @completes `void(error_code)`, after its node was deleted or the session has ended.
     *
     * @errors `boost::asio::error::operation_aborted`: started again; it may not have resigned.
     *
     * @cancellation All types: stops waiting; it closes anyway.
     */
    template <class Token = default_token>
    auto close(Token&& token = Token{}) {
        return close_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto close_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_close>("leader_latch.close", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto close_until(time_point deadline, Token&& token = Token{}) {
        return close_for(deadline, std::forward<Token>(token));
    }

    /** @brief As `election::acknowledge`, for the current term. */
    template <class Token = default_token>
    auto acknowledge(Token&& token = Token{}) {
        return as_election().acknowledge(term(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto acknowledge_for(time_limit limit, Token&& token = Token{}) {
        return as_election().acknowledge_for(term(), limit, std::forward<Token>(token));
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto acknowledge_until(time_point deadline, Token&& token = Token{}) {
        return acknowledge_for(deadline, std::forward<Token>(token));
    }

    /** @brief As `election::proclaim`, for the current term. */
    template <class Token = default_token>
    auto proclaim(std::string identity, Token&& token = Token{}) {
        return as_election().proclaim(term(), std::move(identity), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto proclaim_for(std::string identity, time_limit limit, Token&& token = Token{}) {
        return as_election().proclaim_for(
            term(), std::move(identity), limit, std::forward<Token>(token));
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto proclaim_until(std::string identity, time_point deadline, Token&& token = Token{}) {
        return proclaim_for(std::move(identity), deadline, std::forward<Token>(token));
    }

    /** @brief As `ownership::commit`, for the current term: that of the call, not a later one. */
    template <class Token = default_token>
    auto commit(transaction steps, Token&& token = Token{}) {
        return initiate<&start_commit>("leader_latch.commit",
                                       std::forward<Token>(token),
                                       term().implementation(),
                                       std::move(steps));
    }

    /** @brief As `ownership::read`, for the current term. */
    template <class Token = default_token>
    auto read(std::string path_to_read, Token&& token = Token{}) {
        return initiate_about<&start_read>("leader_latch.read",
                                           path_to_read,
                                           std::forward<Token>(token),
                                           term().implementation(),
                                           std::move(path_to_read));
    }

    /** @brief As `ownership::wait_release_requested`, for the current term. */
    template <class Token = default_token>
    auto wait_release_requested(Token&& token = Token{}) {
        return initiate<&start_wait_release_requested>("leader_latch.wait_release_requested",
                                                       std::forward<Token>(token),
                                                       term().implementation());
    }

    /** @brief The election it participates in: for `get_leader`, `next_leader`, `list_contenders`, ... */
    election& as_election() const noexcept;

private:
    using owned_ptr = std::shared_ptr<detail::owned>;

    ownership& term() const noexcept;

    static void start_wait_leadership(const impl_ptr&, time_limit limit, handler_of<std::int64_t>);
    static void start_next_status(const impl_ptr&,
                                  std::uint64_t revision,
                                  handler_of<latch_status>);
    static void start_resign(const impl_ptr&, time_limit limit, handler_of<>);
    static void start_close(const impl_ptr&, time_limit limit, handler_of<>);
    static void start_commit(const impl_ptr&,
                             const owned_ptr& term,
                             transaction steps,
                             handler_of<std::vector<transaction_result>>);
    static void start_read(const impl_ptr&,
                           const owned_ptr& term,
                           std::string path,
                           handler_of<node_data>);
    static void start_wait_release_requested(const impl_ptr&, const owned_ptr& term, handler_of<>);
};

}  // namespace corozk
