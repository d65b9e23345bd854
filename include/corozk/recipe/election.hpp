// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/recipe/contention_recipe.hpp>
#include <corozk/detail/recipe/run_owned.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace corozk {

namespace detail {
class latch_core;
}

/** @brief The options of an `election`. */
struct election_options : contender_options {
    election_options() = default;
    explicit election_options(std::string identity_) : contender_options(std::move(identity_)) {}

    /// With `curator` only: takes part in the election of LeaderSelector instead of LeaderLatch.
    /// In Curator, too, LeaderSelector and LeaderLatch do not take part in each other's elections.
    /// `errc::bad_option` without `curator`.
    bool leader_selector = false;
};

/** @brief The current leader. */
struct election_leader {
    election_leader() = default;

    std::string path;                ///< Its node; empty if there is no leader.
    std::string identity;            ///< `election_options::identity`, or as last proclaimed.
    std::int64_t fencing_token = 0;  ///< The fencing token of its term.
    std::int64_t session_id = 0;     ///< Its session.
    bool acknowledged = false;       ///< Whether it has called `acknowledge`.

    explicit operator bool() const noexcept { return !path.empty(); }  ///< Whether there is one.
};

/**
 * @brief Elects one leader among all candidates at the same path.
 *
 * First come, first served; when a leader resigns, one candidate is woken. `campaign` returns the
 * leadership as an `ownership`: release it to resign; `ownership::wait_lost` completes when it is
 * lost. `run` combines this for a coroutine.
 *
 * A candidacy survives reconnects with the same node.
 *
 * @par Names
 * `native`: "<guid>-n_<sequence>". `curator`: "_c_<guid>-latch-<sequence>", as LeaderLatch, or,
 * with `leader_selector`, "_c_<guid>-lock-<sequence>", as LeaderSelector. `kazoo`:
 * "<guid>__lock__<sequence>", as Election.
 *
 * @executor As `lock`.
 *
 * @origin "Leader Election" on ZooKeeper's recipes page; CURATOR-620, CURATOR-652 (a leader whose
 * node was deleted later), CURATOR-645 (livelock of resets), CURATOR-3 (a node created after the
 * close).
 */
class COROZK_DECL election : public detail::contention_recipe {
public:
    /** @brief `path` is the parent node of the candidates, created when needed. Nothing is sent. */
    election(const client& c, std::string path, election_options options = election_options());
    election() noexcept = default;

    /**
     * @brief Becomes a candidate and waits for the leadership.
     *
     * @completes As `lock::acquire`.
     *
     * @errors As `lock::acquire`.
     *
     * @cancellation As `lock::acquire`.
     */
    template <class Token = default_token>
    auto campaign(Token&& token = Token{}) {
        return begin("election.campaign", claim(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto campaign_for(time_limit limit, Token&& token = Token{}) {
        return begin("election.campaign", claim().within(limit), std::forward<Token>(token));
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto campaign_until(time_point deadline, Token&& token = Token{}) {
        return campaign_for(deadline, std::forward<Token>(token));
    }

    /** @brief As `campaign`, but fails with `errc::would_block` if there are other candidates. */
    template <class Token = default_token>
    auto try_campaign(Token&& token = Token{}) {
        return begin("election.try_campaign", claim().trying(), std::forward<Token>(token));
    }

    /**
     * @brief Resigns, becomes a candidate behind all others, and waits to lead again.
     *
     * The new candidacy begins before the leadership ends, so that it wins again if there is no
     * other candidate. `term` is released even if this fails.
     *
     * @completes As `campaign`.
     *
     * @errors As `campaign`.
     *
     * @cancellation As `campaign`.
     */
    template <class Token = default_token>
    auto campaign_again(ownership term, Token&& token = Token{}) {
        return campaign_again_for(
            std::move(term), time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto campaign_again_for(ownership term, time_limit limit, Token&& token = Token{}) {
        // Shared, because `deferred` requires a copyable initiation.
        return initiate<&start_campaign_again>("election.campaign_again",
                                               std::forward<Token>(token),
                                               std::make_shared<ownership>(std::move(term)),
                                               limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto campaign_again_until(ownership term, time_point deadline, Token&& token = Token{}) {
        return campaign_again_for(std::move(term), deadline, std::forward<Token>(token));
    }

    /**
     * @brief Announces to observers that the leader procedure has run: creates a node beside the
     *        candidate's, which is deleted when the leadership ends.
     *
     * @par Preconditions
     * `term` was acquired from an `election` of the same session and path.
     *
     * @completes `void(error_code)`
     *
     * @errors `errc::ownership_lost`, `zk_errc::session_expired`: it was lost. `errc::bad_option`:
     * not a leadership of this election. `zk_errc::no_auth`, `errc::closed`.
     *
     * @cancellation Terminal and partial: stops waiting; the node is created anyway. Total:
     * ignored.
     *
     * @see Recipes page, "Leader Election", the note on the leader procedure.
     */
    template <class Token = default_token>
    auto acknowledge(const ownership& term, Token&& token = Token{}) {
        return acknowledge_for(term, time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto acknowledge_for(const ownership& term, time_limit limit, Token&& token = Token{}) {
        return initiate_about<&start_acknowledge>("election.acknowledge",
                                                  term.path(),
                                                  std::forward<Token>(token),
                                                  term.implementation(),
                                                  limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto acknowledge_until(const ownership& term, time_point deadline, Token&& token = Token{}) {
        return acknowledge_for(term, deadline, std::forward<Token>(token));
    }

    /**
     * @brief Replaces the text that the leader publishes, `election_leader::identity`, for the rest
     *        of its term.
     *
     * Observers receive it (`next_leader`), but may skip intermediate values. Of two calls the
     * later one takes effect, even if the first one is still in progress.
     *
     * @par Preconditions
     * `term` was acquired from an `election` of the same session and path.
     *
     * @completes `void(error_code)`, after it was written, or what a later call has written.
     *
     * @errors As `acknowledge`. `errc::bad_option`: the text would be taken for a release request.
     * `errc::busy`, with `curator`: a release was requested, which has replaced the identity.
     * `errc::too_large`: the text exceeds `client_options::max_request_size`.
     *
     * @cancellation Terminal and partial: completes at once; it may be written. Total: ignored.
     *
     * @see etcd's Election.Proclaim.
     */
    template <class Token = default_token>
    auto proclaim(const ownership& term, std::string identity, Token&& token = Token{}) {
        return proclaim_for(
            term, std::move(identity), time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto proclaim_for(const ownership& term,
                      std::string identity,
                      time_limit limit,
                      Token&& token = Token{}) {
        return initiate_about<&start_proclaim>("election.proclaim",
                                               term.path(),
                                               std::forward<Token>(token),
                                               term.implementation(),
                                               std::move(identity),
                                               limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto proclaim_until(const ownership& term,
                        std::string identity,
                        time_point deadline,
                        Token&& token = Token{}) {
        return proclaim_for(term, std::move(identity), deadline, std::forward<Token>(token));
    }

    /**
     * @brief Runs a coroutine as the leader: `co_await e.run(body)` with
     *        `awaitable<T> body(ownership&)`.
     *
     * Campaigns, awaits the body, resigns, and returns the body's result or throws its exception.
     * If the leadership is lost, cancels the body (terminal) and, after it has ended, campaigns
     * again, in the next session if necessary, until a body completes.
     *
     * @errors The permanent errors of `campaign`: `zk_errc::no_auth`, `zk_errc::not_read_only`,
     * `errc::closed`, `errc::bad_path`, `errc::bad_option`, `zk_errc::auth_failed`.
     *
     * @cancellation As `campaign`. During the body: cancels the body and, after it has ended,
     * throws its exception or `boost::asio::error::operation_aborted`. The leadership is always
     * released.
     */
    template <class Body>
    auto run(Body body) {
        using value =
            typename detail::awaitable_value<std::invoke_result_t<Body&, ownership&>>::type;
        return run_terms<value>(session_, impl_, path(), std::move(body));
    }

    /**
     * @brief Gets the current leader.
     *
     * @completes `void(error_code, election_leader)`
     *
     * @errors As `list_contenders`.
     *
     * @cancellation All types: completes at once.
     */
    template <class Token = default_token>
    auto get_leader(Token&& token = Token{}) {
        return observe("election.get_leader", std::nullopt, std::forward<Token>(token));
    }

    /**
     * @brief Waits until the leader, its identity or its acknowledgement differs from those passed.
     *
     * Two to three requests for each change, whatever the number of candidates; their names are
     * listed once each time. Only the leader's node and its acknowledgement are watched, or the
     * parent while there is no leader. Intermediate states may be skipped.
     *
     * @completes `void(error_code, election_leader)`
     *
     * @errors `errc::closed`, `zk_errc::no_auth`. Survives reconnects and new sessions.
     *
     * @cancellation All types: completes at once.
     *
     * @see CURATOR-358, CURATOR-436: the leader changes while it is looked up.
     */
    template <class Token = default_token>
    auto next_leader(election_leader seen, Token&& token = Token{}) {
        return observe("election.next_leader",
                       std::optional<election_leader>(std::move(seen)),
                       std::forward<Token>(token));
    }

private:
    friend class detail::latch_core;

    using owned_ptr = std::shared_ptr<detail::owned>;

    template <class Token>
    auto observe(const char* operation, std::optional<election_leader> seen, Token&& token) {
        return initiate<&start_observe>(operation, std::forward<Token>(token), std::move(seen));
    }

    template <class Value, class Body>
    static boost::asio::awaitable<Value> run_terms(session_ptr s,
                                                   impl_ptr impl,
                                                   std::string path,
                                                   Body body) {
        const detail::call_site where("election.run", std::move(path));
        auto tuple = boost::asio::as_tuple(boost::asio::use_awaitable);
        for (;;) {
            auto acquiring =
                detail::initiate<&start_acquire>(where, callee(s, impl), tuple, claim());
            auto [reason, term] = co_await std::move(acquiring);
            detail::body_result<Value> result;
            if (!reason)
                reason = co_await detail::run_until_lost(body, term, result, where);
            if (worth_another_term(reason))
                continue;
            if (reason)
                throw error(reason, where.operation, where.path);
            // The body has succeeded, even if the leadership was lost first.
            co_await term.release(tuple);
            co_return detail::take_result<Value>(result);
        }
    }

    /// Whether another candidacy may succeed after this error.
    static bool worth_another_term(const error_code& ec) noexcept;

    static void start_campaign_again(const callee&,
                                     const std::shared_ptr<ownership>& term,
                                     time_limit limit,
                                     handler_of<ownership>);
    static void start_acknowledge(const callee&, const owned_ptr& term, time_limit, handler_of<>);
    static void start_proclaim(
        const callee&, const owned_ptr& term, std::string identity, time_limit, handler_of<>);
    static void start_observe(const callee&,
                              std::optional<election_leader> seen,
                              handler_of<election_leader>);
};

}  // namespace corozk
