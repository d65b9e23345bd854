// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/recipe/recipe_object.hpp>
#include <corozk/recipe/two_phase_commit_types.hpp>
#include <corozk/time_limit.hpp>

#include <string>
#include <utility>
#include <vector>

namespace corozk {

namespace detail {
class commit_coordinator_impl;
class commit_site_impl;
}  // namespace detail

/** @brief Options of a two-phase commit. */
struct commit_options {
    commit_options() = default;
    commit_form form = commit_form::all_sites;  ///< Used by `begin`; sites read it from the node.
    corozk::acl acl;                            ///< ACL of all nodes. Empty means open to everyone.
};

/**
 * @brief The coordinator of a two-phase commit: begins the transaction and may decide it.
 *
 * The transaction is a node that contains the sites' names and a payload. Each site creates an
 * ephemeral node below it and votes by writing to that. The *decision* is another node, which is
 * created once and never changed. It is "commit" only if at that moment every site's node exists
 * with a vote to commit (checked by a transaction at the server). Hence:
 *
 * - A vote to abort, a site that dies before the decision, or the deadline cause an abort, without
 *   waiting for other votes.
 * - If the coordinator dies, sites of the form `all_sites` decide by the same rule, and those of
 *   the form `coordinator` remain in doubt until another object continues with `resume` and
 *   `decide`.
 *
 * After a transaction was cleaned up, another one may begin at the same path. It is neither
 * affected by nor visible to objects of the first one (`zk_errc::no_node`).
 *
 * @errors All operations can also fail with `zk_errc::no_auth` and `errc::closed`.
 *
 * @cancellation All types: all operations complete at once with
 * `boost::asio::error::operation_aborted`; requests in flight may be applied.
 *
 * @executor As `client`. The destructor changes nothing at the server.
 *
 * @origin "Two-phased Commit" on ZooKeeper's recipes page, in both forms; each site creates its own
 * ephemeral node, as suggested there.
 */
class COROZK_DECL commit_coordinator
    : public detail::recipe_object<detail::commit_coordinator_impl> {
public:
    /** @brief `path` is the transaction's node. Nothing is sent. */
    commit_coordinator(const client& c,
                       std::string path,
                       commit_options options = commit_options());

    commit_coordinator() noexcept = default;

    /**
     * @brief Begins the transaction by creating its node.
     *
     * @completes `void(error_code)`
     *
     * @errors Retries across outages and session loss. If the response is lost, and others decide the
     * transaction and clean it up before this client is connected again, it is begun once more: clean up
     * only after `begin` has completed, or after its client has ended.
     * - `errc::already_exists`: there is a transaction at this path.
     * - `errc::bad_option`: no sites, duplicate sites, or an invalid node name.
     * - `errc::too_large`: payload and names, or a decision for that many sites, exceed the size of
     *   a request.
     * - `errc::bad_path`, `zk_errc::no_auth`, `errc::closed`.
     */
    template <class Token = default_token>
    auto begin(std::vector<std::string> sites, std::string payload, Token&& token = Token{}) {
        return begin_for(std::move(sites),
                         std::move(payload),
                         time_limit::for_ever(),
                         std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto begin_for(std::vector<std::string> sites,
                   std::string payload,
                   time_limit limit,
                   Token&& token = Token{}) {
        return initiate<&start_begin>("commit_coordinator.begin",
                                      std::forward<Token>(token),
                                      std::move(sites),
                                      std::move(payload),
                                      limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto begin_until(std::vector<std::string> sites,
                     std::string payload,
                     time_point deadline,
                     Token&& token = Token{}) {
        return begin_for(
            std::move(sites), std::move(payload), deadline, std::forward<Token>(token));
    }

    /**
     * @brief Takes over a transaction that another, perhaps dead, coordinator has begun.
     *
     * @completes `void(error_code, commit_transaction)`
     *
     * @errors `zk_errc::no_node`, `errc::foreign_data`, `errc::closed`. Retries across outages and
     * session loss.
     */
    template <class Token = default_token>
    auto resume(Token&& token = Token{}) {
        return resume_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto resume_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_resume>(
            "commit_coordinator.resume", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto resume_until(time_point deadline, Token&& token = Token{}) {
        return resume_for(deadline, std::forward<Token>(token));
    }

    /**
     * @brief Waits for the votes and makes the decision, unless a site makes it first.
     *
     * @completes `void(error_code, commit_outcome)`; an abort is an outcome, not an error.
     *
     * @errors `errc::not_a_member` (neither begun nor resumed), `zk_errc::no_node` (cleaned up),
     * `errc::foreign_data`, `errc::closed`.
     */
    template <class Token = default_token>
    auto decide(Token&& token = Token{}) {
        return decide_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /**
     * @brief Same as above, but aborts if votes are missing in time.
     *
     * Votes are due after three quarters of the time, or one second before its end; the rest is
     * reserved for writing the decision. The minimum is 200 ms.
     *
     * @errors `errc::in_doubt`: the decision was not confirmed in time (see `time_limit`); it
     * continues in the background.
     */
    template <class Token = default_token>
    auto decide_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_decide>(
            "commit_coordinator.decide", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto decide_until(time_point deadline, Token&& token = Token{}) {
        return decide_for(deadline, std::forward<Token>(token));
    }

    /**
     * @brief Aborts the transaction, unless it has been decided.
     *
     * @completes `void(error_code, commit_outcome)`, with the decision, which may be an earlier
     * commit.
     *
     * @errors `zk_errc::no_node`, `errc::foreign_data`, `errc::too_large` (the reason),
     * `errc::closed`. Retries across outages and session loss.
     */
    template <class Token = default_token>
    auto abort(std::string reason, Token&& token = Token{}) {
        return abort_for(std::move(reason), time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto abort_for(std::string reason, time_limit limit, Token&& token = Token{}) {
        return initiate<&start_abort>(
            "commit_coordinator.abort", std::forward<Token>(token), std::move(reason), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto abort_until(std::string reason, time_point deadline, Token&& token = Token{}) {
        return abort_for(std::move(reason), deadline, std::forward<Token>(token));
    }

    /**
     * @brief Deletes a decided transaction: the one that was begun or resumed, or else any that
     *        exists. May be repeated after an interruption.
     *
     * @param force even if some sites have not called `finish`, which may then never learn the
     *        decision
     *
     * @completes `void(error_code)`, without an error if it did not exist.
     *
     * @errors Retries across outages and session loss.
     * - `errc::in_doubt`: not decided yet.
     * - `errc::busy`: some sites have not finished.
     * - `zk_errc::not_empty`: other clients keep creating nodes below it.
     * - `errc::too_large`: more sites than this client's `client_options::max_request_size`
     * permits.
     * - `errc::foreign_data`: its nodes or their data were not written by this recipe.
     */
    template <class Token = default_token>
    auto clean_up(bool force, Token&& token = Token{}) {
        return clean_up_for(force, time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto clean_up_for(bool force, time_limit limit, Token&& token = Token{}) {
        return initiate<&start_clean_up>(
            "commit_coordinator.clean_up", std::forward<Token>(token), force, limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto clean_up_until(bool force, time_point deadline, Token&& token = Token{}) {
        return clean_up_for(force, deadline, std::forward<Token>(token));
    }

    /** @brief Same as `clean_up(false)`: only if all sites have called `finish`. */
    template <detail::token_not<bool> Token = default_token>
    auto clean_up(Token&& token = Token{}) {
        return clean_up(false, std::forward<Token>(token));
    }

private:
    static void start_begin(
        const impl_ptr&, std::vector<std::string>, std::string, time_limit, handler_of<>);
    static void start_resume(const impl_ptr&, time_limit limit, handler_of<commit_transaction>);
    static void start_decide(const impl_ptr&, time_limit limit, handler_of<commit_outcome>);
    static void start_abort(const impl_ptr&,
                            std::string reason,
                            time_limit limit,
                            handler_of<commit_outcome>);
    static void start_clean_up(const impl_ptr&, bool force, time_limit limit, handler_of<>);
};

/**
 * @brief A site of a transaction; see `commit_coordinator`.
 *
 * `join`, then `vote`, then act on the outcome, then `finish`.
 *
 * @cancellation All types: all operations complete at once with
 * `boost::asio::error::operation_aborted`. A vote in flight may be cast; use `wait_outcome`.
 *
 * @executor As `client`. Destruction before the decision is known counts as the death of the site:
 * its node is deleted in the background.
 */
class COROZK_DECL commit_site : public detail::recipe_object<detail::commit_site_impl> {
public:
    /** @brief A site of the transaction at `path`. Nothing is sent. */
    commit_site(const client& c,
                std::string path,
                std::string name,
                commit_options options = commit_options());

    commit_site() noexcept = default;

    /** @brief The site's name. */
    std::string name() const;

    /**
     * @brief Waits for the transaction to begin, and joins it by creating the site's node.
     *
     * If the node of an earlier session of this site still exists, waits for its deletion, because
     * its vote cannot be withdrawn. Unless there is a decision by then, the site counts as dead and
     * the transaction is aborted. If the transaction has been decided, the result contains the
     * outcome.
     *
     * @completes `void(error_code, commit_transaction)`
     *
     * @errors `errc::not_a_member` (not a site of the transaction), `errc::foreign_data`,
     * `errc::already_exists` (another object of this client is that site), `errc::busy` (already
     * joined, or a `join` is pending), `errc::bad_path`, `zk_errc::no_auth`, `errc::closed`.
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
    auto join_until(time_point deadline, Token&& token = Token{}) {
        return join_for(deadline, std::forward<Token>(token));
    }

    /**
     * @brief Votes, and waits for the decision.
     *
     * A site votes once. A vote to abort is decisive. If the site's session is lost before the
     * decision, the site counts as dead and the transaction is aborted.
     *
     * @completes `void(error_code, commit_outcome)`
     *
     * @errors
     * - `errc::not_a_member`: not joined.
     * - `errc::busy`: it has voted, or is voting. (After a failure with unknown outcome the same
     *   vote may be repeated, but not changed.)
     * - `errc::closed`: the client was closed; the vote may have been cast.
     * - `zk_errc::no_node`: the transaction was cleaned up.
     * - `errc::foreign_data`: another client has written to the site's node or to the decision.
     */
    template <class Token = default_token>
    auto vote(commit_vote wish, Token&& token = Token{}) {
        return vote_for(wish, time_limit::for_ever(), std::forward<Token>(token));
    }

    /**
     * @brief Same as above, with a time limit.
     *
     * In the form `all_sites` the transaction is aborted if votes are missing in time, as with
     * `commit_coordinator::decide_for`, unless the server has not answered this vote by the deadline:
     * then the site decides nothing. In the form `coordinator` the coordinator decides. Fails with
     * `errc::in_doubt` if the decision is not known in time (use `wait_outcome`), or with
     * `errc::deadline_exceeded` if the vote was not cast.
     */
    template <class Token = default_token>
    auto vote_for(commit_vote wish, time_limit limit, Token&& token = Token{}) {
        return initiate<&start_vote>("commit_site.vote", std::forward<Token>(token), wish, limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto vote_until(commit_vote wish, time_point deadline, Token&& token = Token{}) {
        return vote_for(wish, deadline, std::forward<Token>(token));
    }

    /**
     * @brief Waits for the decision. The site need not have joined, for instance after a restart.
     *
     * @completes `void(error_code, commit_outcome)`
     *
     * @errors `zk_errc::no_node` (the transaction was cleaned up), `errc::foreign_data`,
     * `errc::closed`. Retries across outages and session loss.
     */
    template <class Token = default_token>
    auto wait_outcome(Token&& token = Token{}) {
        return wait_outcome_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::in_doubt`). */
    template <class Token = default_token>
    auto wait_outcome_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_wait_outcome>(
            "commit_site.wait_outcome", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto wait_outcome_until(time_point deadline, Token&& token = Token{}) {
        return wait_outcome_for(deadline, std::forward<Token>(token));
    }

    /**
     * @brief Declares that the site has acted on the decision and no longer needs it.
     *
     * @completes `void(error_code)`
     *
     * @errors `errc::in_doubt` (the decision is not known), `zk_errc::no_node` (cleaned up),
     * `errc::closed`. Retries across outages and session loss.
     */
    template <class Token = default_token>
    auto finish(Token&& token = Token{}) {
        return finish_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto finish_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_finish>("commit_site.finish", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto finish_until(time_point deadline, Token&& token = Token{}) {
        return finish_for(deadline, std::forward<Token>(token));
    }

private:
    static void start_join(const impl_ptr&, time_limit limit, handler_of<commit_transaction>);
    static void start_vote(const impl_ptr&, commit_vote, time_limit, handler_of<commit_outcome>);
    static void start_wait_outcome(const impl_ptr&, time_limit limit, handler_of<commit_outcome>);
    static void start_finish(const impl_ptr&, time_limit limit, handler_of<>);
};

}  // namespace corozk
