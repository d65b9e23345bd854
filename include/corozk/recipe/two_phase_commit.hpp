// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/export.hpp>
#include <corozk/detail/initiate.hpp>
#include <corozk/detail/recipe_object.hpp>
#include <corozk/error.hpp>
#include <corozk/recipe/two_phase_commit_types.hpp>
#include <corozk/time_limit.hpp>
#include <corozk/types.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

namespace detail {
class commit_coordinator_impl;
class commit_site_impl;
}  // namespace detail

/** @brief How a transaction's nodes are made. */
struct commit_options {
    commit_options() = default;
    commit_form form = commit_form::all_sites;  ///< of `begin`; the sites learn it from the node
    corozk::acl acl;                            ///< empty means open
};

/**
 * @brief The one who begins a transaction and, in the second form, decides it.
 *
 * The transaction is a node that holds the sites' names and a payload. Each site makes its own
 * ephemeral node in it and votes by writing to it. The *decision* is one more node, which is
 * created once and never changed: whoever creates it, all others read it. It says "commit" only if
 * at that moment every site's node was there with a vote to commit (one transaction at the server),
 * so:
 *
 * - One vote to abort, one site that dies before the decision, or the deadline mean abort, without
 *   waiting for the other votes.
 * - A coordinator that dies leaves sites of the first form to decide by the same rule, and sites of
 *   the second form in doubt; any other object can go on with `resume` and `decide`.
 *
 * When a transaction has been cleaned up, another one may begin at the same path. Objects that
 * belong to the first do nothing to the second, and are told nothing of it: `zk_errc::no_node`.
 *
 * @par Cancellation
 * Terminal, partial, total: all operations complete at once with
 * `boost::asio::error::operation_aborted`; what was sent may still happen, and can be asked for.
 *
 * @par Executor and thread safety
 * As `client`: use it on the client's executor only. Handlers never run within the initiating
 * function.
 *
 * @par Lifetime
 * Destroying the object in any state is safe and changes nothing at the server.
 *
 * @par Origin
 * "Two-phased Commit" on ZooKeeper's recipes page, both forms, with its remedy for the second
 * drawback (each site creates its own ephemeral node).
 */
class COROZK_DECL commit_coordinator
    : public detail::recipe_object<detail::commit_coordinator_impl> {
public:
    /** @brief For the transaction at `path`. Nothing is sent. */
    commit_coordinator(const client& c,
                       std::string path,
                       commit_options options = commit_options());

    commit_coordinator() noexcept = default;

    /**
     * @brief Begins the transaction: creates its node.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * - `errc::already_exists`: there is a transaction at this path.
     * - `errc::bad_option`: no sites, a site twice, or a name that cannot be a node's.
     * - `errc::too_large`: payload and names do not fit into a request, or as many sites not into
     *   one decision.
     * - `errc::bad_path`, `zk_errc::no_auth`, `errc::closed`.
     */
    template <class Token = default_token>
    auto begin(std::vector<std::string> sites, std::string payload, Token&& token = Token{}) {
        return initiate<&start_begin>("commit_coordinator.begin",
                                      std::forward<Token>(token),
                                      std::move(sites),
                                      std::move(payload));
    }

    /**
     * @brief Takes over a transaction that was begun by another object, perhaps a dead one's.
     *
     * @par Completion signature
     * `void(error_code, commit_transaction)`
     *
     * @par Errors
     * `zk_errc::no_node`, `errc::foreign_data`, `errc::closed`.
     */
    template <class Token = default_token>
    auto resume(Token&& token = Token{}) {
        return initiate<&start_resume>("commit_coordinator.resume", std::forward<Token>(token));
    }

    /**
     * @brief Waits for the decision; in the second form, makes it.
     *
     * @par Completion signature
     * `void(error_code, commit_outcome)`: an abort is an outcome, not an error.
     *
     * @par Errors
     * `errc::not_a_member` (neither begun nor resumed), `zk_errc::no_node` (it was cleaned up),
     * `errc::foreign_data`, `errc::closed`.
     */
    template <class Token = default_token>
    auto decide(Token&& token = Token{}) {
        return decide_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /**
     * @brief The same, but decides to abort when the votes do not come in time.
     *
     * The votes are due when three quarters of the time are over (or all but a second): the rest is
     * for writing the decision. Less than 200 ms means 200 ms.
     *
     * @par Errors
     * `errc::in_doubt` when the time is over and the decision has not been confirmed (see
     * `time_limit`); what has been begun goes on.
     */
    template <class Token = default_token>
    auto decide_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_decide>(
            "commit_coordinator.decide", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto decide_until(time_limit::time_point deadline, Token&& token = Token{}) {
        return decide_for(time_limit::until(deadline), std::forward<Token>(token));
    }

    /**
     * @brief Aborts, unless it has been decided already.
     *
     * @par Completion signature
     * `void(error_code, commit_outcome)`: what holds, perhaps a commit that came first.
     *
     * @par Errors
     * `zk_errc::no_node`, `errc::foreign_data`, `errc::too_large` (the reason), `errc::closed`.
     */
    template <class Token = default_token>
    auto abort(std::string reason, Token&& token = Token{}) {
        return initiate<&start_abort>(
            "commit_coordinator.abort", std::forward<Token>(token), std::move(reason));
    }

    /**
     * @brief Removes a finished transaction. Interrupted, it can be called again.
     *
     * The one that the object has begun or resumed; otherwise the one that is there.
     *
     * @param force also if some sites have not called `finish`: those that are away will never
     *        learn the decision
     *
     * @par Completion signature
     * `void(error_code)`: it is gone (or was).
     *
     * @par Errors
     * - `errc::in_doubt`: not decided yet.
     * - `errc::busy`: some sites have not finished.
     * - `zk_errc::not_empty`: somebody keeps putting nodes into it.
     * - `errc::foreign_data`: its nodes, or what stands in them, are not as we write them.
     */
    template <class Token = default_token>
    auto clean_up(bool force, Token&& token = Token{}) {
        return initiate<&start_clean_up>(
            "commit_coordinator.clean_up", std::forward<Token>(token), force);
    }

    /** @brief The same, only if all sites have called `finish`. */
    template <detail::token_not<bool> Token = default_token>
    auto clean_up(Token&& token = Token{}) {
        return clean_up(false, std::forward<Token>(token));
    }

private:
    static void start_begin(const impl_ptr&,
                            std::vector<std::string> sites,
                            std::string payload,
                            handler_of<>);
    static void start_resume(const impl_ptr&, handler_of<commit_transaction>);
    static void start_decide(const impl_ptr&, time_limit limit, handler_of<commit_outcome>);
    static void start_abort(const impl_ptr&, std::string reason, handler_of<commit_outcome>);
    static void start_clean_up(const impl_ptr&, bool force, handler_of<>);
};

/**
 * @brief One site of a transaction. See `commit_coordinator`.
 *
 * `join`, then `vote`, then act on the outcome, then `finish`.
 *
 * @par Cancellation
 * Terminal, partial, total: all operations complete at once with
 * `boost::asio::error::operation_aborted`. A vote that was sent stays; go on with `wait_outcome`.
 *
 * @par Executor and thread safety
 * As `client`: use it on the client's executor only. Handlers never run within the initiating
 * function.
 *
 * @par Lifetime
 * Destroying the object before the decision is known counts as the death of the site: its node is
 * erased in the background.
 */
class COROZK_DECL commit_site : public detail::recipe_object<detail::commit_site_impl> {
public:
    /** @brief The site `name` of the transaction at `path`. Nothing is sent. */
    commit_site(const client& c,
                std::string path,
                std::string name,
                commit_options options = commit_options());

    commit_site() noexcept = default;

    /** @brief The site's name. */
    std::string name() const;

    /**
     * @brief Waits for the transaction to begin, and takes part in it.
     *
     * Makes the site's node. If the node of an earlier session of this site is still there, it is
     * waited for: what that one promised cannot be taken back; when it is gone without a decision,
     * the site has died, and the transaction is aborted. If the transaction has been decided
     * already, the outcome is in the result, and there is nothing to vote on.
     *
     * @par Completion signature
     * `void(error_code, commit_transaction)`
     *
     * @par Errors
     * `errc::not_a_member` (the coordinator did not name this site), `errc::foreign_data`,
     * `errc::already_exists` (another object of this client is that site), `errc::busy` (joined
     * already), `errc::bad_path`, `zk_errc::no_auth`, `errc::closed`.
     */
    template <class Token = default_token>
    auto join(Token&& token = Token{}) {
        return join_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto join_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_join>("commit_site.join", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto join_until(time_limit::time_point deadline, Token&& token = Token{}) {
        return join_for(time_limit::until(deadline), std::forward<Token>(token));
    }

    /**
     * @brief Votes, and waits for the decision.
     *
     * A vote is given once. A vote to abort decides at once. If the site's session is lost before
     * the decision, it counts as dead and the transaction is aborted (unless it was committed
     * before).
     *
     * @par Completion signature
     * `void(error_code, commit_outcome)`
     *
     * @par Errors
     * - `errc::not_a_member`: not joined.
     * - `errc::busy`: it has voted before, or is about to. (A vote that ended before it was certain
     *   may be given again, but not another one.)
     * - `errc::closed`: the client was closed. If the vote had been given, the decision will tell.
     * - `zk_errc::no_node`: the transaction was cleaned up meanwhile.
     * - `errc::foreign_data`: somebody else wrote to the site's node, or to the decision.
     */
    template <class Token = default_token>
    auto vote(commit_vote wish, Token&& token = Token{}) {
        return vote_for(wish, time_limit::for_ever(), std::forward<Token>(token));
    }

    /**
     * @brief The same for a limited time.
     *
     * In the first form the transaction is aborted when the votes do not come in time, as with
     * `commit_coordinator::decide_for`. In the second one the decision is the coordinator's. In
     * both it fails with `errc::in_doubt` when the time is over and the decision is not known, and
     * `wait_outcome` tells later; with `errc::deadline_exceeded` if the vote was not given.
     */
    template <class Token = default_token>
    auto vote_for(commit_vote wish, time_limit limit, Token&& token = Token{}) {
        return initiate<&start_vote>("commit_site.vote", std::forward<Token>(token), wish, limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto vote_until(commit_vote wish, time_limit::time_point deadline, Token&& token = Token{}) {
        return vote_for(wish, time_limit::until(deadline), std::forward<Token>(token));
    }

    /**
     * @brief Waits for the decision. Works for a site that was away, too: it need not have joined.
     *
     * @par Completion signature
     * `void(error_code, commit_outcome)`
     *
     * @par Errors
     * `zk_errc::no_node` (there is no such transaction any more), `errc::foreign_data`,
     * `errc::closed`.
     */
    template <class Token = default_token>
    auto wait_outcome(Token&& token = Token{}) {
        return wait_outcome_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief The same for a limited time; then it fails with `errc::in_doubt`. */
    template <class Token = default_token>
    auto wait_outcome_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_wait_outcome>(
            "commit_site.wait_outcome", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto wait_outcome_until(time_limit::time_point deadline, Token&& token = Token{}) {
        return wait_outcome_for(time_limit::until(deadline), std::forward<Token>(token));
    }

    /**
     * @brief Tells that the site has done what was decided; it needs the decision no more.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * `errc::in_doubt` (no decision has been learnt), `zk_errc::no_node` (cleaned up already),
     * `errc::closed`.
     */
    template <class Token = default_token>
    auto finish(Token&& token = Token{}) {
        return initiate<&start_finish>("commit_site.finish", std::forward<Token>(token));
    }

private:
    static void start_join(const impl_ptr&, time_limit limit, handler_of<commit_transaction>);
    static void start_vote(const impl_ptr&,
                           commit_vote wish,
                           time_limit limit,
                           handler_of<commit_outcome>);
    static void start_wait_outcome(const impl_ptr&, time_limit limit, handler_of<commit_outcome>);
    static void start_finish(const impl_ptr&, handler_of<>);
};

}  // namespace corozk
