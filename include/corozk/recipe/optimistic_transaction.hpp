// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/recipe/recipe_object.hpp>
#include <corozk/detail/recipe/run_owned.hpp>
#include <corozk/time_limit.hpp>

#include <boost/asio/steady_timer.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace corozk {

namespace detail {
class optimistic_impl;
struct attempt_state;
class attempt_commit;
}  // namespace detail

/** @brief Options of an `optimistic_transaction`. */
struct optimistic_transaction_options {
    optimistic_transaction_options() = default;

    /// ACL of the nodes below the recipe's path, and of missing parents. Empty means open to
    /// everyone.
    corozk::acl acl;
};

/**
 * @brief The interface through which the function of an `optimistic_transaction` reads and writes.
 *
 * Reads are remembered, and a path that was read before is not read again. Writes are only
 * recorded; later reads show them. Nothing is written before the function has ended.
 *
 * @par Invalid writes
 * A write with an invalid path, a sequential mode, or a TTL without such a mode makes the
 * transaction fail with `errc::bad_path` or `errc::bad_option`.
 *
 * @executor As `client`. It must not be used after the function has ended.
 */
class COROZK_DECL transaction_attempt {
public:
    using executor_type = boost::asio::any_io_executor;

    transaction_attempt(const transaction_attempt&) = delete;
    transaction_attempt& operator=(const transaction_attempt&) = delete;
    ~transaction_attempt() = default;

    executor_type get_executor() const noexcept { return detail::executor_of(session_); }

    /**
     * @brief The data of a node; nothing if it does not exist.
     *
     * @completes `void(error_code, std::optional<std::string>)`
     *
     * @errors As `client::get`; a lost connection or session is not an error.
     *
     * @cancellation All types: completes at once.
     */
    template <class Token = default_token>
    auto get(std::string path, Token&& token = Token{}) {
        return initiate<&start_get>(
            "transaction_attempt.get", path, std::forward<Token>(token), std::move(path));
    }

    /**
     * @brief The data of several nodes at one point in time, in one request (ZooKeeper 3.6).
     *
     * Except for those that were read or written before in this attempt.
     *
     * @completes `void(error_code, std::vector<std::optional<std::string>>)`, in the order of the
     * paths.
     *
     * @errors As `client::read_all`, and that of the first node that cannot be read.
     *
     * @cancellation As `get`.
     */
    template <class Token = default_token>
    auto get_all(std::vector<std::string> paths, Token&& token = Token{}) {
        return initiate<&start_get_all>("transaction_attempt.get_all",
                                        std::string(),
                                        std::forward<Token>(token),
                                        std::move(paths));
    }

    /** @brief Creates a node, which must not exist. */
    transaction_attempt& create(std::string path,
                                std::string data = std::string(),
                                create_options options = create_options());

    /** @brief Replaces the data of a node, which must exist. */
    transaction_attempt& set(std::string path, std::string data);

    /** @brief Deletes a node, which must exist and have no children. */
    transaction_attempt& erase(std::string path);

private:
    friend class detail::attempt_commit;
    using state_ptr = std::shared_ptr<detail::attempt_state>;

    transaction_attempt(std::shared_ptr<detail::session_view> s, state_ptr state) noexcept
        : session_(std::move(s)), state_(std::move(state)) {}
    transaction_attempt(transaction_attempt&&) noexcept = default;

    template <auto Start, class Token, class... Arguments>
    auto initiate(const char* operation,
                  std::string about,
                  Token&& token,
                  Arguments&&... arguments) const {
        return detail::initiate<Start>(detail::call_site(operation, std::move(about)),
                                       detail::callee(session_, state_),
                                       std::forward<Token>(token),
                                       std::forward<Arguments>(arguments)...);
    }

    static void start_get(const state_ptr&,
                          std::string,
                          detail::handler_of<std::optional<std::string>>);
    static void start_get_all(const state_ptr&,
                              std::vector<std::string> paths,
                              detail::handler_of<std::vector<std::optional<std::string>>>);

    std::shared_ptr<detail::session_view> session_;
    state_ptr state_;
};

namespace detail {

/// The attempts of one `optimistic_transaction::run`.
class COROZK_DECL attempt_commit {
public:
    using time_point = time_limit::time_point;
    using impl_ptr = std::shared_ptr<optimistic_impl>;

    attempt_commit(std::shared_ptr<session_view> s,
                   impl_ptr impl,
                   call_site where,
                   time_limit limit);

    transaction_attempt& attempt() noexcept { return attempt_; }
    const call_site& where() const noexcept { return where_; }
    time_point deadline() const noexcept { return deadline_; }

    /// The time limit begins.
    void start() noexcept { deadline_ = limit_.from_now(); }

    /// Forgets what was read and written.
    void begin();

    /// Whether the reads were still valid when the writes were applied.
    /// @param writes false: the reads are only verified
    template <class Token>
    auto commit(bool writes, Token&& token) const {
        return initiate<&start_commit>(
            std::forward<Token>(token), attempt_.state_, writes, deadline_);
    }

    /// Lets other clients finish.
    template <class Token>
    auto pause(Token&& token) const {
        return initiate<&start_pause>(std::forward<Token>(token), attempt_.state_, deadline_);
    }

private:
    template <auto Start, class Token, class... Arguments>
    auto initiate(Token&& token, Arguments&&... arguments) const {
        return detail::initiate<Start>(where_,
                                       callee(attempt_.session_, impl_),
                                       std::forward<Token>(token),
                                       std::forward<Arguments>(arguments)...);
    }

    static void start_commit(const impl_ptr&,
                             std::shared_ptr<attempt_state> state,
                             bool writes,
                             time_point deadline,
                             handler_of<bool>);
    static void start_pause(const impl_ptr&,
                            std::shared_ptr<attempt_state> state,
                            time_point deadline,
                            handler_of<>);

    call_site where_;
    time_limit limit_;
    time_point deadline_ = time_point::max();
    transaction_attempt attempt_;
    impl_ptr impl_;  ///< goes first: it refers to the session, which the attempt owns
};

/// Runs the body once, until it ends or the deadline passes. Throws only on cancellation or when
/// the deadline has passed.
template <class Value, class Body>
boost::asio::awaitable<void> run_attempt(Body& body,
                                         attempt_commit& all,
                                         std::optional<Value>& result,
                                         std::exception_ptr& failure) {
    using namespace boost::asio::experimental::awaitable_operators;
    bool late = false;
    if (all.deadline() == time_limit::time_point::max()) {
        co_await run_body(body, all.attempt(), result, failure);
    } else {
        auto executor = co_await boost::asio::this_coro::executor;
        boost::asio::steady_timer timer(executor, all.deadline());
        auto tuple = boost::asio::as_tuple(boost::asio::use_awaitable);
        auto race =
            co_await (open_to_cancellation(run_body(body, all.attempt(), result, failure)) ||
                      open_to_cancellation(timer.async_wait(tuple)));
        // A body that never suspends never lets the timer run.
        late = race.index() == 1 || time_limit::clock::now() >= all.deadline();
    }
    boost::asio::cancellation_state state = co_await boost::asio::this_coro::cancellation_state;
    if (state.cancelled() != boost::asio::cancellation_type::none)
        throw error(boost::asio::error::operation_aborted, all.where().operation, all.where().path);
    if (late)
        throw error(errc::deadline_exceeded, all.where().operation, all.where().path);
}

/// Runs the body until its reads and writes are applied as one.
template <
    class Body,
    class Value = typename awaitable_value<std::invoke_result_t<Body&, transaction_attempt&>>::type>
boost::asio::awaitable<Value> run_optimistic(attempt_commit all, Body body) {
    auto tuple = boost::asio::as_tuple(boost::asio::use_awaitable);
    all.start();
    for (;;) {
        all.begin();
        body_result<Value> result;
        std::exception_ptr failure;
        co_await run_attempt(body, all, result, failure);
        auto [ec, applied] = co_await all.commit(!failure, tuple);
        // An exception may be due to inconsistent reads.
        if (failure && (ec || applied))
            std::rethrow_exception(failure);
        if (ec)
            throw error(ec, all.where().operation, all.where().path);
        if (applied)
            co_return take_result<Value>(result);
        auto [stopped] = co_await all.pause(tuple);
        if (stopped)
            throw error(stopped, all.where().operation, all.where().path);
    }
}

}  // namespace detail

/**
 * @brief Transactions that read nodes, compute, and write, as if no other client were active:
 *        optimistic concurrency control.
 *
 * `run` calls a function that reads nodes through a `transaction_attempt` and records writes there.
 * Then the writes are applied in one transaction of ZooKeeper, which also checks that everything
 * that was read, including the absence of nodes, is still the same. If it is not, nothing is
 * written, and after a random pause the function is called again.
 *
 * Nothing is locked: transactions that share no nodes do not disturb each other. Under heavy
 * contention for one node a `counter` or a `lock` costs less.
 *
 * A transaction is applied exactly once, even if its response or the session is lost: it also
 * writes a node of this object's own, below `path()`, which records that it was applied. If a
 * response is lost, that node is deleted, so that a request still under way fails. Transactions of
 * one object are therefore sent one after the other. Objects of all clients may share the path;
 * what crashed clients leave there is deleted after an hour.
 *
 * @par The function
 * It is called several times, and should have no other effects. While it runs, its reads may be
 * mutually inconsistent (`transaction_attempt::get_all` reads at one point in time); it must
 * terminate even then. If it throws, nothing is written; `run` throws the exception if the reads
 * are consistent, otherwise the function is called again.
 *
 * @par What is checked
 * - The data of nodes, by their versions. These restart at 0 when a node is deleted and created
 *   again, and the server compares nothing else: if both have been written equally often, the new
 *   node is mistaken for the one that was read. If this matters, empty a node instead of deleting
 *   it. In an ensemble the version of `/zookeeper/config` is always -1, which stands for any: of a
 *   read of it only the existence is checked.
 * - The absence of nodes, by creating and deleting the node in the same transaction (where the
 *   transaction creates it anyway: only that). This needs the permissions to create and delete
 *   there, increments the parent's `cversion` by 2, and fires watches on the parent's children and
 *   on the node's existence. If the parent is missing, too, the topmost missing ancestor stands for
 *   the node. A container without children may be deleted by the server afterwards. Below an
 *   ephemeral node, where nothing can be created, absence cannot be checked: `run` fails with
 *   `zk_errc::no_children_for_ephemerals`.
 * - Not the children of nodes: the server has no check for them.
 *
 * @errors
 * - `zk_errc::connection_loss`: whether it was applied is unknown: the client was closed or the
 *   deadline passed before the response, or the object's node can no longer be deleted.
 * - `zk_errc::node_exists`, `no_node`, `not_empty`, ...: a write is not possible, although all
 *   reads are still valid. Nothing was written; the same holds for all other errors except the
 *   first.
 * - `errc::deadline_exceeded`, `errc::too_large`, `errc::bad_path`, `errc::bad_option`,
 *   `errc::not_connected`, `errc::closed`, `zk_errc::no_auth`, `zk_errc::not_read_only`, and
 *   exceptions of the function.
 *
 * @cancellation All types that the calling coroutine has enabled (by default only terminal):
 * cancels the function and, after it has ended, throws `boost::asio::error::operation_aborted`.
 * Once the function has ended, the transaction may be applied.
 *
 * @par Deadline
 * Cancels the function (terminal cancellation). A function that ignores the cancellation, or never
 * suspends, is not interrupted, but nothing is written.
 *
 * @executor As `client`. When it is destroyed, a transaction in flight may be applied.
 *
 * @origin Kung and Robinson, "On Optimistic Methods for Concurrency Control" (1981); etcd's STM.
 */
class COROZK_DECL optimistic_transaction : public detail::recipe_object<detail::optimistic_impl> {
public:
    /** @brief `path` is the parent of the nodes that record what was applied. Nothing is sent. */
    optimistic_transaction(
        const client& c,
        std::string path,
        optimistic_transaction_options options = optimistic_transaction_options());
    optimistic_transaction() noexcept = default;

    /**
     * @brief Runs a transaction: `co_await t.run(body)` with
     *        `awaitable<T> body(transaction_attempt&)`. Returns the body's result.
     *
     * Without writes, the reads are only verified: they were all valid at one point in time.
     */
    template <class Body>
    auto run(Body body) {
        return run_for(time_limit::for_ever(), std::move(body));
    }

    /**
     * @brief Same as above, with a time limit: `errc::deadline_exceeded` if nothing was or will be
     *        applied, `zk_errc::connection_loss` if that is unknown.
     */
    template <class Body>
    auto run_for(time_limit limit, Body body) {
        detail::call_site where("optimistic_transaction.run", path());
        detail::attempt_commit all(session_, impl_, std::move(where), limit);
        return detail::run_optimistic(std::move(all), std::move(body));
    }

    /** @brief Same as above, with a deadline. */
    template <class Body>
    auto run_until(time_point deadline, Body body) {
        return run_for(deadline, std::move(body));
    }
};

}  // namespace corozk
