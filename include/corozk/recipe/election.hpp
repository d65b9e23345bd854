// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/compatibility.hpp>
#include <corozk/detail/contention_recipe.hpp>
#include <corozk/detail/run_owned.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace corozk {

namespace detail {
class latch_core;
}

/** @brief How a candidate behaves. */
struct election_options {
    election_options() = default;
    explicit election_options(std::string identity_) : identity(std::move(identity_)) {}

    /// Written into the candidate's node: who is it? Shown by `leader` and `contenders`.
    std::string identity;

    /// Of the candidates' nodes and of folders that are missing. Empty means open to everybody.
    corozk::acl acl;

    /// Whose candidates elect one leader. `native`: "<guid>-n_<sequence>". `curator`:
    /// "_c_<guid>-latch-<sequence>", those of LeaderLatch. `kazoo`: "<guid>__lock__<sequence>",
    /// those of Election.
    corozk::compatibility compatibility = corozk::compatibility::native;

    /// What is written into the leader's node by `request_release`; with Curator's names it
    /// replaces the node's data.
    std::string release_request = "unlock";
};

/** @brief Who leads, as an observer sees it. */
struct election_leader {
    election_leader() = default;

    std::string path;                ///< of its node; empty if there is no leader
    std::string identity;            ///< As its options say.
    std::int64_t fencing_token = 0;  ///< Of its term.
    std::int64_t session_id = 0;     ///< Of its session.
    bool acknowledged = false;       ///< its leader procedure has run

    explicit operator bool() const noexcept { return !path.empty(); }  ///< Whether there is one.
};

/**
 * @brief Elects one leader among all candidates of the same path.
 *
 * First come, first served; when a leader leaves, one candidate is woken. `campaign` gives the
 * leadership as an `ownership`: release it to resign; `ownership::wait_lost` completes when it is
 * lost
 * (the session's end, or somebody erased the node). `run` does all that for a coroutine.
 *
 * Being a candidate survives reconnects: the node is kept, not made anew.
 *
 * @par Thread safety
 * Distinct objects: safe. Shared objects: unsafe; use it on the client's executor.
 *
 * @par Lifetime
 * May be destroyed while an operation is under way (it goes on), and outlive the client (then
 * everything fails with `errc::closed`).
 *
 * @see Recipes page, "Leader Election"; CURATOR-620, CURATOR-652 (a leader whose node was deleted
 * later), CURATOR-645 (livelock of resets), CURATOR-3 (a node created after the close).
 */
class COROZK_DECL election : public detail::contention_recipe {
public:
    /// `path` is the folder of the election; it is created when it is needed.
    election(const client& c, std::string path, election_options options = election_options());
    election() noexcept;
    election(election&&) noexcept;
    election& operator=(election&&) noexcept;
    ~election();

    /**
     * @brief Becomes a candidate, and waits until it leads.
     *
     * @par Completion signature
     * `void(error_code, ownership)`
     *
     * @par Errors
     * `zk_errc::session_expired`: the session was lost while waiting. `errc::ownership_lost`:
     * somebody erased the candidate's node. `zk_errc::no_auth`, `errc::closed`, `errc::bad_path`,
     * `errc::not_connected`. After an error nothing is left behind.
     *
     * @par Cancellation
     * Terminal, partial, total: completes at once. The candidate's node is erased for certain, also
     * if its creation is still under way; a leadership that began in the same instant is either
     * delivered or given up.
     */
    template <class Token = default_token>
    auto campaign(Token&& token = Token{}) {
        return begin("election.campaign", claim(), std::forward<Token>(token));
    }

    /** @brief The same, until the deadline (see `time_limit`).
     *  @par Errors
     *  Also `errc::deadline_exceeded`. */
    template <class Token = default_token>
    auto campaign_until(time_point deadline, Token&& token = Token{}) {
        claim what;
        what.deadline = deadline;
        return begin("election.campaign", what, std::forward<Token>(token));
    }

    /** @brief The same, at most that long from now on. */
    template <class Token = default_token>
    auto campaign_for(time_limit budget, Token&& token = Token{}) {
        return campaign_until(budget.from_now(), std::forward<Token>(token));
    }

    /** @brief As `campaign`, but only if there is no other candidate.
     *  @par Errors
     *  Also `errc::would_block`. */
    template <class Token = default_token>
    auto try_campaign(Token&& token = Token{}) {
        claim what;
        what.try_only = true;
        return begin("election.try_campaign", what, std::forward<Token>(token));
    }

    /**
     * @brief Resigns but stays a candidate, behind all others; waits until it leads again.
     *
     * It is a candidate before it resigns: there is no moment without one. If nobody else is, it
     * leads again. `term` is given up in every case, also if this fails.
     *
     * @par Completion signature, errors, cancellation
     * As `campaign`.
     */
    template <class Token = default_token>
    auto campaign_again(ownership term, Token&& token = Token{}) {
        return detail::initiate<void(error_code, ownership)>(
            detail::call_site("election.campaign_again", path()),
            session_.get(),
            std::forward<Token>(token),
            [s = session_, impl = impl_, term = std::move(term)](auto handler) mutable {
                // The new node is asked for first; then `term` goes with this function.
                ownership old = std::move(term);
                start_acquire(callee(s, impl), claim(), std::move(handler));
            });
    }

    /**
     * @brief Tells the observers that the leader procedure has run: writes a node beside the
     *        candidate's, unless the leadership has been lost. It goes when the leadership ends.
     *
     * @par Preconditions
     * `term` came from an `election` of the same session and path.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * `errc::ownership_lost` or `zk_errc::session_expired`: it was lost. `errc::bad_option`: not a
     * leadership of this election. `zk_errc::no_auth`, `errc::closed`.
     *
     * @par Cancellation
     * Terminal and partial: stops waiting; the node is written all the same. Total: ignored.
     *
     * @see Recipes page, "Leader Election", the note on the leader procedure.
     */
    template <class Token = default_token>
    auto acknowledge(const ownership& term, Token&& token = Token{}) {
        return initiate<&start_acknowledge>(
            "election.acknowledge", term.path(), std::forward<Token>(token), term.implementation());
    }

    /**
     * @brief Leads a term: `co_await e.run(body)` with `awaitable<T> body(ownership&)`.
     *
     * Campaigns, awaits the body, resigns, and gives the body's result. If the leadership is lost
     * meanwhile the body is cancelled (terminal), and when it has ended this campaigns again, in
     * the next session if need be, until a body ends by itself. A body that throws by itself ends
     * it, too.
     *
     * @par Errors
     * Those of `campaign` that do not heal: `zk_errc::no_auth`, `errc::closed`, `errc::bad_path`,
     * `zk_errc::auth_failed`.
     *
     * @par Cancellation
     * As `campaign`; then the body is cancelled, and when it has ended this throws what it threw,
     * or `operation_aborted`. It has resigned in every case.
     */
    template <class Body>
    auto run(Body body) {
        using value =
            typename detail::awaitable_value<std::invoke_result_t<Body&, ownership&>>::type;
        return run_terms<value>(session_, impl_, std::move(body));
    }

    /**
     * @brief Who leads now.
     *
     * @par Completion signature
     * `void(error_code, election_leader)`
     *
     * @par Errors
     * As `contenders`.
     *
     * @par Cancellation
     * Terminal, partial, total: completes at once.
     */
    template <class Token = default_token>
    auto leader(Token&& token = Token{}) {
        return observe("election.leader", std::nullopt, std::forward<Token>(token));
    }

    /**
     * @brief Waits until somebody else leads, nobody does, or the leader has acknowledged: until
     * the answer differs from the one that was seen.
     *
     * Costs no more for many candidates: only the leader's node is watched, and the folder while
     * there is no leader. Several changes in a row may be seen as one.
     *
     * @par Completion signature
     * `void(error_code, election_leader)`
     *
     * @par Errors
     * `errc::closed`, `zk_errc::no_auth`. Survives reconnects and new sessions.
     *
     * @par Cancellation
     * Terminal, partial, total: completes at once.
     *
     * @see CURATOR-358, CURATOR-436: a leader that changes while it is looked up.
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
        return initiate<&start_observe>(
            operation, path(), std::forward<Token>(token), std::move(seen));
    }

    template <class Value, class Body>
    static boost::asio::awaitable<Value> run_terms(session_ptr s, impl_ptr impl, Body body) {
        using stored =
            std::conditional_t<std::is_void_v<Value>, std::monostate, std::remove_cv_t<Value>>;
        const char* operation = "election.run";
        std::string path = path_of(impl);
        auto tuple = boost::asio::as_tuple(boost::asio::use_awaitable);
        for (;;) {
            auto [ec, term] = co_await detail::initiate<void(error_code, ownership)>(
                detail::call_site(operation, path),
                detail::executor_of(s),
                tuple,
                [&s, &impl](auto handler) {
                    start_acquire(callee(s, impl), claim(), std::move(handler));
                });
            if (worth_another_term(ec))
                continue;
            if (ec)
                throw error(ec, operation, path);
            std::optional<stored> result;
            std::exception_ptr failure;
            error_code reason =
                co_await detail::run_until_lost<stored>(body, term, result, failure);
            boost::asio::cancellation_state state =
                co_await boost::asio::this_coro::cancellation_state;
            bool cancelled = state.cancelled() != boost::asio::cancellation_type::none;
            if (reason && !cancelled) {
                if (worth_another_term(reason))
                    continue;
                throw error(reason, operation, path);
            }
            // In what follows the destructor of `term` resigns.
            if (failure)
                std::rethrow_exception(failure);
            if (cancelled)
                throw error(boost::asio::error::operation_aborted, operation, path);
            // What the body did is done, even if the end came first.
            co_await term.release(tuple);
            if constexpr (std::is_void_v<Value>) {
                co_return;
            } else {
                co_return std::move(*result);
            }
        }
    }

    /// Whether another candidacy may succeed where this one failed.
    static bool worth_another_term(const error_code& ec) noexcept;
    static std::string path_of(const impl_ptr& impl);

    static void start_acknowledge(const callee& of,
                                  const owned_ptr& term,
                                  detail::any_handler<void(error_code)> handler);
    static void start_observe(const callee& of,
                              std::optional<election_leader> seen,
                              detail::any_handler<void(error_code, election_leader)> handler);
};

}  // namespace corozk
