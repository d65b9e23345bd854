// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/counters.hpp>
#include <corozk/detail/export.hpp>
#include <corozk/detail/initiate.hpp>
#include <corozk/error.hpp>
#include <corozk/options.hpp>
#include <corozk/persistent_watch.hpp>
#include <corozk/read_set.hpp>
#include <corozk/session_state.hpp>
#include <corozk/transaction.hpp>
#include <corozk/types.hpp>
#include <corozk/watch.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/system_executor.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

namespace detail {
class session_view;
}

/** @brief A node's data and metadata, with a watch for changes of the data and deletion. */
struct watched_data {
    watched_data() = default;
    node_data node;  ///< The state when the watch was set.
    watch changed;   ///< Fires at the first change after that.
};

/** @brief A node's metadata, if it exists, with a watch for its creation, change or deletion. */
struct watched_stat {
    watched_stat() = default;
    std::optional<corozk::stat> stat;  ///< Empty if the node does not exist.
    watch changed;                     ///< Fires at the first change after that.
};

/** @brief A node's children, with a watch for changes of the list. */
struct watched_children {
    watched_children() = default;
    node_children children;  ///< The state when the watch was set.
    watch changed;           ///< Fires at the first change after that.
};

/**
 * @brief A ZooKeeper client: one session at a time with an ensemble.
 *
 * A move-only handle. Between `connect` and `close` the client drives itself with handlers on its
 * executor, without blocking it: it connects, reconnects to other servers, detects expiry by the
 * local clock, and starts a new session after a loss (see `client_options::renew_session`). It
 * reconnects immediately. If no server can be reached, or connections repeatedly end within a
 * second, it backs off from 100 to 1,000 ms, but at most a tenth of the session timeout, with up to
 * 50 % jitter.
 *
 * @par Operations
 * Every operation takes any completion token; by default it is awaitable. Operations are sent in
 * the order in which they are started, and responses arrive in that order; only the response to
 * `add_auth` may overtake others. While the client is disconnected, operations wait for the next
 * connection (at most `client_options::queue_timeout`).
 *
 * @par Read your writes
 * An operation that changes something, of the client or of a recipe, completes once every cache and
 * every configuration of the client shows that change. It stops waiting when the connection is
 * lost, the cache is destroyed, the operation is cancelled (it still succeeds), or its deadline
 * passes. Reads and `sync` do not wait for caches: a read started while a change is in flight may
 * complete first.
 *
 * @par Before the first connection
 * Once `connect` has been called, operations, including those of recipes, wait for the first
 * connection as long as the client tries (`client_options::connect_timeout`), unless cancelled or
 * limited by their own deadline. They fail with `errc::closed` if the client gives up or is closed,
 * and immediately if `connect` was never called.
 *
 * @errors All operations can fail with:
 * - `zk_errc::connection_loss`: the connection was lost after the request had been sent; the
 *   outcome is unknown (`is_outcome_unknown`).
 * - `errc::not_connected`: not sent within the time allowed (never before the first connection).
 * - `zk_errc::session_expired`: not sent, because the session was lost.
 * - `errc::closed`: the client is closed (see `status().reason`), or `connect` was never called.
 * - `zk_errc::session_closed_require_sasl_auth`: the server requires authentication
 *   (`enforce.auth.schemes`, ZOOKEEPER-3561). The client is closed.
 * - `errc::bad_path`; `errc::too_large`: the request exceeds `client_options::max_request_size`.
 *   Nothing was sent.
 * - `errc::too_large`: the response to a read exceeds 64 MiB, or it lists more than 2,000,000 names.
 *   The connection was lost.
 * - `zk_errc::not_read_only`: a change or `sync` at a server without a quorum (`allow_read_only`).
 * - `zk_errc::unimplemented`: the server does not know the operation, or has no TTLs
 *   (`client_options::dialect`).
 * - errors reported by the server, such as `zk_errc::no_node`.
 *
 * @cancellation
 * | operation | terminal | partial | total |
 * |---|---|---|---|
 * | reads, `sync` | completes at once; the response is discarded | same | same |
 * | writes not yet sent | completes at once; nothing is sent | same | same |
 * | writes in flight | completes at once; outcome unknown | same | ignored |
 * | `connect` | stops trying; the client is closed unless it has had a session | same | same |
 * | `close`, `leave_session` | stops waiting; closing continues | same | ignored |
 * | `next_status`, `watch::next` | completes at once | same | same |
 *
 * A cancelled operation completes with `boost::asio::error::operation_aborted`. "All types" stands
 * for terminal, partial and total cancellation throughout this reference.
 *
 * @par Executor and thread safety
 * Distinct clients: safe. Use a client, its watches and its recipes on its executor only; if
 * several threads run the context, give it a strand. Completion handlers run on their associated
 * executor (by default the client's; if the object has never had a client or was moved from, Asio's
 * system executor, which has its own threads), never within the initiating function. A handler and
 * its result are stored in memory of the handler's associated allocator, which is freed before the
 * handler is called. Operations that a handler starts are sent once it returns; it must not run the
 * event loop itself. Responses that arrive together are dispatched in one iteration of the event
 * loop; if several handlers throw in it, `io_context::run` throws
 * `boost::asio::multiple_exceptions`. In the child of a fork the client is closed; the session
 * remains the parent's.
 *
 * @par Lifetime
 * A client may be destroyed in any state. Operations not yet sent complete with `errc::closed`,
 * those in flight with their response or `zk_errc::connection_loss`. The session is closed in the
 * background while the executor runs.
 *
 * Watches, recipe objects and what they return may be destroyed in any state, before or after their
 * client, whose end makes their operations fail with `errc::closed`. Unless documented otherwise,
 * their destruction completes their pending operations with
 * `boost::asio::error::operation_aborted`.
 */
class COROZK_DECL client {
public:
    using executor_type = boost::asio::any_io_executor;

    /** @brief A client that is not connected yet. Options are checked by `connect`. */
    client(executor_type executor, client_options options);

    /**
     * @brief An empty handle, as after a move: every operation fails with `errc::closed`, except
     *        `close` and `leave_session`, which succeed.
     */
    client() noexcept;
    client(client&&) noexcept;
    client& operator=(client&&) noexcept;
    ~client();

    executor_type get_executor() const noexcept;

    /**
     * @brief Creates a client on the handler's executor and establishes its session.
     *
     * @completes `void(error_code, client)`
     *
     * @errors As `connect` of a client, below.
     *
     * @cancellation All types: stops trying; completes with
     * `boost::asio::error::operation_aborted`.
     */
    template <class Token = default_token>
    static auto connect(client_options options, Token&& token = Token{}) {
        detail::call_site where("connect", options.hosts);
        return detail::initiate_on_handlers_executor<&start_new>(
            std::move(where), std::forward<Token>(token), std::move(options));
    }

    /** @brief Same as above, on a given executor: for tokens whose handlers have none, such as
     *         `use_future`, which the overload above rejects. */
    template <class Token = default_token>
    static auto connect(executor_type executor, client_options options, Token&& token = Token{}) {
        detail::call_site where("connect", options.hosts);
        return detail::initiate<&start_new>(
            std::move(where), std::move(executor), std::forward<Token>(token), std::move(options));
    }

    /**
     * @brief Establishes the session. If there is or was one, waits until the client is connected.
     *
     * @completes `void(error_code)`
     *
     * @errors `errc::bad_host_list`, `errc::bad_option`, `errc::not_supported`; after
     * `client_options::connect_timeout`: `errc::host_not_found`, `errc::no_server`,
     * `errc::server_silent`, `errc::tls_failed`; `errc::chroot_missing`; `zk_errc::auth_failed`,
     * `session_closed_require_sasl_auth` (only with a chroot: then `connect` sends a request, to
     * check that it exists); without `client_options::renew_session`: `zk_errc::session_expired`;
     * `errc::closed`: closed meanwhile. After an error or cancellation the client is closed, unless
     * there was a session before, and `connect` may be called again.
     */
    template <class Token = default_token>
    auto connect(Token&& token = Token{}) {
        return initiate<&start_connect>("connect", hosts(), std::forward<Token>(token));
    }

    /**
     * @brief Closes the session, which deletes its ephemeral nodes. All pending operations complete
     *        with `errc::closed`.
     *
     * Waits until requests in flight have their responses, until a queue item taken for a cancelled
     * call has been put back, and until a node that a `persistent_node` has given up is deleted. If
     * the connection is lost first, that is not done; for an item an error is logged.
     *
     * @completes `void(error_code)`
     *
     * @errors `errc::session_left_to_expire`: not confirmed by the server within
     * `client_options::close_timeout`, not connected, or `leave_session` was called before. The
     * client is closed, but the session's nodes remain until it times out at the server. With
     * ClickHouse Keeper, which does not respond to the closing request, always, unless
     * `client_options::dialect` is `server_dialect::zookeeper_3_4`: then the end of the connection
     * is the confirmation.
     */
    template <class Token = default_token>
    auto close(Token&& token = Token{}) {
        return initiate<&start_close>("close", hosts(), std::forward<Token>(token));
    }

    /**
     * @brief Ends the client without its session, whose ephemeral nodes remain until it times out
     *        or another client continues it (`client_options::session`).
     *
     * As `close` otherwise: all pending operations complete with `errc::closed`, after requests in
     * flight have their responses and nodes of locks released before are deleted, for at most
     * `client_options::close_timeout`. Call it before the destructor, which closes the session.
     *
     * @completes `void(error_code)`
     *
     * @errors None.
     */
    template <class Token = default_token>
    auto leave_session(Token&& token = Token{}) {
        return initiate<&start_leave>("leave_session", hosts(), std::forward<Token>(token));
    }

    /**
     * @brief Credentials with which another client can continue the session; without an id if there
     *        is none, or if the server has reported that it has expired.
     */
    session_credentials credentials() const;

    /**
     * @brief A client that uses the same session, with a node of this client as its root.
     *
     * Like a client whose host list ends with the path, but without a session of its own: all paths
     * in arguments, results and events are relative to the node, and recipes work below it. The
     * session, its state, its statistics and its event loop are shared, and so are operations that
     * are not about paths: `connect`, `close`, `leave_session`, `add_auth`, `set_hosts`. Destroying
     * it does not close the session; destroying the client that connected does, and then `connect`
     * fails with `errc::closed`.
     *
     * A client remembers each distinct path (a few hundred bytes) as long as it lives.
     *
     * @par Preconditions
     * The node exists. Otherwise operations fail with `zk_errc::no_node`, and those that create
     * missing parents with `errc::chroot_missing`.
     *
     * @errors Throws `corozk::error` with `errc::bad_path` if the path is invalid. An empty client
     * returns an empty one.
     */
    client below(std::string path) const;

    /** @brief The current status of the session. */
    session_status status() const;

    /** @brief Same as `status().state`. */
    session_state state() const { return status().state; }

    /**
     * @brief Waits until the status differs from the one passed, so that no change is missed:
     *        `s = co_await c.next_status(s)`.
     *
     * @completes `void(error_code, session_status)`
     *
     * @errors `errc::closed`: the client is closed, and `seen` is that state: there will be no more
     * changes.
     */
    template <class Token = default_token>
    auto next_status(session_status seen, Token&& token = Token{}) {
        return initiate<&start_next_status>(
            "next_status", std::string(), std::forward<Token>(token), seen);
    }

    /** @brief Same as `status().session_id`. */
    std::int64_t session_id() const { return status().session_id; }

    /** @brief Same as `status().negotiated_timeout`. */
    std::chrono::milliseconds negotiated_timeout() const { return status().negotiated_timeout; }

    /** @brief Same as `status().generation`. */
    std::uint64_t generation() const { return status().generation; }

    /** @brief The client's statistics. */
    client_counters counters() const;

    /** @brief The host list: the configured one, or the one that has replaced it. */
    std::string hosts() const;

    /**
     * @brief Replaces the host list, in any state. The session, its watches and ephemeral nodes are
     *        kept, unless it is a local one (`localSessionsEnabled` at the servers).
     *
     * A disconnected client tries the new servers at once. A connected one moves only if its server
     * is not in the new list or, if servers were added, with the probability that balances the
     * load. It moves at a random time within one session timeout, once the other server has
     * answered and no request is in flight; requests that are started meanwhile wait. To the
     * program this is a short `session_state::suspended`. A local session is lost by the move: other
     * servers do not know it. An ephemeral node makes it a global one.
     *
     * @par Preconditions
     * The path after the hosts (the client's root) is the same as before.
     *
     * @completes `void(error_code)`, at once: the client moves later.
     *
     * @errors `errc::bad_host_list`: malformed, or with another root (the details are logged).
     * Nothing was changed.
     */
    template <class Token = default_token>
    auto set_hosts(std::string hosts, Token&& token = Token{}) {
        return initiate<&start_set_hosts>(
            "set_hosts", hosts, std::forward<Token>(token), std::move(hosts));
    }

    /**
     * @brief Creates a node.
     *
     * @completes `void(error_code, created_node)`
     *
     * @errors `zk_errc::node_exists`, `no_node` (the parent), `no_auth`,
     * `no_children_for_ephemerals`, `invalid_acl`, `errc::bad_option` (a TTL without a TTL mode, or
     * vice versa, or one above 2^40 - 1 ms).
     */
    template <class Token = default_token>
    auto create(std::string path,
                std::string data,
                create_options options,
                Token&& token = Token{}) {
        acl entries = options.acl ? *options.acl : acl();
        return initiate<&start_create>("create",
                                       path,
                                       std::forward<Token>(token),
                                       std::move(path),
                                       std::move(data),
                                       options,
                                       std::move(entries));
    }

    /** @brief Same as above, with default options: a persistent node, open to everyone. */
    template <detail::token_not<create_options> Token = default_token>
    auto create(std::string path, std::string data, Token&& token = Token{}) {
        return create(
            std::move(path), std::move(data), create_options(), std::forward<Token>(token));
    }

    /** @brief Same as above, without data. */
    template <detail::token_not<std::string> Token = default_token>
    auto create(std::string path, Token&& token = Token{}) {
        return create(std::move(path), std::string(), create_options(), std::forward<Token>(token));
    }

    /**
     * @brief Creates a node and its ancestors, unless they exist. All are created with the same
     *        mode, `persistent` or `container`, and access control list.
     *
     * @completes `void(error_code)`
     *
     * @errors `errc::bad_option`: another mode, or a TTL. `zk_errc::invalid_acl`.
     *
     * @cancellation All types: completes at once. Requests in flight are applied; no further ones
     * are sent. So some of the nodes may have been created.
     */
    template <class Token = default_token>
    auto ensure_path(std::string path, create_options options, Token&& token = Token{}) {
        acl entries = options.acl ? *options.acl : acl();
        return initiate<&start_ensure_path>("ensure_path",
                                            path,
                                            std::forward<Token>(token),
                                            std::move(path),
                                            options,
                                            std::move(entries));
    }

    /** @brief Same as above, with default options. */
    template <detail::token_not<create_options> Token = default_token>
    auto ensure_path(std::string path, Token&& token = Token{}) {
        return ensure_path(std::move(path), create_options(), std::forward<Token>(token));
    }

    /**
     * @brief Reads a node.
     *
     * @completes `void(error_code, node_data)`
     */
    template <class Token = default_token>
    auto get(std::string path, Token&& token = Token{}) {
        return initiate<&start_get>("get", path, std::forward<Token>(token), std::move(path));
    }

    /**
     * @brief Reads a node and sets a watch for changes of its data and its deletion.
     *
     * @completes `void(error_code, watched_data)`
     */
    template <class Token = default_token>
    auto watch_data(std::string path, Token&& token = Token{}) {
        return initiate<&start_watch_data>(
            "watch_data", path, std::forward<Token>(token), std::move(path));
    }

    /**
     * @brief Replaces a node's data, if its version matches.
     *
     * @completes `void(error_code, stat)`
     */
    template <class Token = default_token>
    auto set(std::string path, std::string data, std::int32_t version, Token&& token = Token{}) {
        return initiate<&start_set>(
            "set", path, std::forward<Token>(token), std::move(path), std::move(data), version);
    }

    /** @brief Same as above, for any version. */
    template <detail::token_not<std::int32_t> Token = default_token>
    auto set(std::string path, std::string data, Token&& token = Token{}) {
        return set(std::move(path), std::move(data), any_version, std::forward<Token>(token));
    }

    /**
     * @brief Checks whether a node exists; a missing node is not an error.
     *
     * @completes `void(error_code, std::optional<stat>)`
     */
    template <class Token = default_token>
    auto exists(std::string path, Token&& token = Token{}) {
        return initiate<&start_exists>("exists", path, std::forward<Token>(token), std::move(path));
    }

    /**
     * @brief Checks whether a node exists and sets a watch, which also fires if it is created.
     *
     * @completes `void(error_code, watched_stat)`
     */
    template <class Token = default_token>
    auto watch_exists(std::string path, Token&& token = Token{}) {
        return initiate<&start_watch_exists>(
            "watch_exists", path, std::forward<Token>(token), std::move(path));
    }

    /**
     * @brief Lists a node's children.
     *
     * @completes `void(error_code, node_children)`
     */
    template <class Token = default_token>
    auto get_children(std::string path, Token&& token = Token{}) {
        return initiate<&start_get_children>(
            "get_children", path, std::forward<Token>(token), std::move(path));
    }

    /**
     * @brief Lists a node's children and sets a watch for changes of the list and the node's
     *        deletion.
     *
     * @completes `void(error_code, watched_children)`
     */
    template <class Token = default_token>
    auto watch_children(std::string path, Token&& token = Token{}) {
        return initiate<&start_watch_children>(
            "watch_children", path, std::forward<Token>(token), std::move(path));
    }

    /**
     * @brief Sets a watch that reports every change of a node, or, if recursive, of the node and
     *        all its descendants, until it is destroyed (ZooKeeper 3.6). The node may be missing.
     *
     * A recursive watch reports no `children_changed`; a new child is `created`, wherever it is. If
     * a client has watches of both modes on the same node, the server has the recursive one, and
     * children that the client may not read can be missing from what both report.
     *
     * @completes `void(error_code, persistent_watch)`
     *
     * @errors `zk_errc::unimplemented`: the server does not know persistent watches.
     */
    template <class Token = default_token>
    auto add_watch(std::string path, watch_mode mode, Token&& token = Token{}) {
        return initiate<&start_add_watch>(
            "add_watch", path, std::forward<Token>(token), std::move(path), mode);
    }

    /**
     * @brief Deletes a node without children, if its version matches.
     *
     * @completes `void(error_code)`
     */
    template <class Token = default_token>
    auto erase(std::string path, std::int32_t version, Token&& token = Token{}) {
        return initiate<&start_erase>(
            "erase", path, std::forward<Token>(token), std::move(path), version);
    }

    /** @brief Same as above, for any version. */
    template <detail::token_not<std::int32_t> Token = default_token>
    auto erase(std::string path, Token&& token = Token{}) {
        return erase(std::move(path), any_version, std::forward<Token>(token));
    }

    /**
     * @brief Deletes a node and all its descendants, children first, in pipelined requests.
     *
     * Not atomic. Descendants that are created in the meantime are deleted, too.
     *
     * @completes `void(error_code)`
     *
     * @errors `zk_errc::no_node`: the node does not exist. After any other error part of the
     * subtree may have been deleted.
     *
     * @cancellation All types: completes at once. Requests in flight are applied; no further ones
     * are sent.
     */
    template <class Token = default_token>
    auto erase_tree(std::string path, Token&& token = Token{}) {
        return initiate<&start_erase_tree>(
            "erase_tree", path, std::forward<Token>(token), std::move(path));
    }

    /**
     * @brief Waits until this session's server has caught up with the leader, so that later reads
     *        see everything that was written before.
     *
     * @completes `void(error_code)`
     */
    template <class Token = default_token>
    auto sync(std::string path, Token&& token = Token{}) {
        return initiate<&start_sync>("sync", path, std::forward<Token>(token), std::move(path));
    }

    /** @brief Same as above, for the root. */
    template <detail::token_not<std::string> Token = default_token>
    auto sync(Token&& token = Token{}) {
        return sync("/", std::forward<Token>(token));
    }

    /**
     * @brief Reads a node's access control list.
     *
     * @completes `void(error_code, node_acl)`
     */
    template <class Token = default_token>
    auto get_acl(std::string path, Token&& token = Token{}) {
        return initiate<&start_get_acl>(
            "get_acl", path, std::forward<Token>(token), std::move(path));
    }

    /**
     * @brief Replaces a node's access control list, if its `aversion` matches.
     *
     * @completes `void(error_code)`
     */
    template <class Token = default_token>
    auto set_acl(std::string path, corozk::acl acl, std::int32_t version, Token&& token = Token{}) {
        return initiate<&start_set_acl>(
            "set_acl", path, std::forward<Token>(token), std::move(path), std::move(acl), version);
    }

    /** @brief Same as above, for any version. */
    template <detail::token_not<std::int32_t> Token = default_token>
    auto set_acl(std::string path, corozk::acl acl, Token&& token = Token{}) {
        return set_acl(std::move(path), std::move(acl), any_version, std::forward<Token>(token));
    }

    /**
     * @brief Reads several nodes at one point in time, in one request.
     *
     * @completes `void(error_code, std::vector<read_result>)`: one result per read, in order. A
     * node that does not exist is an error of its result only.
     *
     * @errors `zk_errc::unimplemented` or a lost connection: the server is older than ZooKeeper
     * 3.6.
     */
    template <class Token = default_token>
    auto read_all(read_set reads, Token&& token = Token{}) {
        return initiate<&start_read_all>(
            "read_all", std::string(), std::forward<Token>(token), std::move(reads));
    }

    /**
     * @brief The paths of this session's ephemeral nodes at and below a path (ZooKeeper 3.6).
     *
     * @completes `void(error_code, std::vector<std::string>)`
     */
    template <class Token = default_token>
    auto get_ephemerals(std::string path, Token&& token = Token{}) {
        return initiate<&start_get_ephemerals>(
            "get_ephemerals", path, std::forward<Token>(token), std::move(path));
    }

    /**
     * @brief Counts all descendants of a node (ZooKeeper 3.6).
     *
     * @completes `void(error_code, std::size_t)`
     */
    template <class Token = default_token>
    auto count_descendants(std::string path, Token&& token = Token{}) {
        return initiate<&start_count_descendants>(
            "count_descendants", path, std::forward<Token>(token), std::move(path));
    }

    /**
     * @brief The identities under which the server knows this client: its address, and those that
     *        it has authenticated as (ZooKeeper 3.7).
     *
     * @completes `void(error_code, std::vector<identity>)`
     */
    template <class Token = default_token>
    auto who_am_i(Token&& token = Token{}) {
        return initiate<&start_who_am_i>("who_am_i", std::string(), std::forward<Token>(token));
    }

    /**
     * @brief Applies a transaction atomically.
     *
     * @completes `void(error_code, std::vector<transaction_result>)`. The error is that of the step
     * that failed, which the results identify (use `as_tuple` to get them).
     *
     * @errors `errc::too_large`: the transaction exceeds `client_options::max_request_size`;
     * nothing is sent.
     */
    template <class Token = default_token>
    auto commit(transaction steps, Token&& token = Token{}) {
        return initiate<&start_commit>(
            "commit", std::string(), std::forward<Token>(token), std::move(steps));
    }

    /**
     * @brief Authenticates this and all later sessions of the client.
     *
     * A wrong "digest" credential is not an error: it merely grants no permissions.
     *
     * @completes `void(error_code)`
     *
     * @errors `errc::bad_option`: an empty scheme. `zk_errc::auth_failed`: the server does not
     * support the scheme or rejected the credential. It closes the connection, and the client is closed
     * with this reason; what was in flight may have been applied. The session is left to expire: its
     * ephemeral nodes are deleted after the session timeout. `connect` begins another one.
     */
    template <class Token = default_token>
    auto add_auth(std::string scheme, std::string credential, Token&& token = Token{}) {
        return initiate<&start_add_auth>("add_auth",
                                         scheme,
                                         std::forward<Token>(token),
                                         std::move(scheme),
                                         std::move(credential));
    }

    /**
     * @brief Reads the ensemble's configuration.
     *
     * @completes `void(error_code, node_data)`
     */
    template <class Token = default_token>
    auto get_config(Token&& token = Token{}) {
        return initiate<&start_get_config>("get_config", std::string(), std::forward<Token>(token));
    }

    /**
     * @brief Reads the ensemble's configuration and sets a watch for its changes.
     *
     * @completes `void(error_code, watched_data)`
     */
    template <class Token = default_token>
    auto watch_config(Token&& token = Token{}) {
        return initiate<&start_watch_config>(
            "watch_config", std::string(), std::forward<Token>(token));
    }

    /**
     * @brief Changes the ensemble's members, incrementally (`joining`, `leaving`) or as a whole
     *        (`members`), if the configuration's version matches.
     *
     * `joining`: server lines as in the configuration, separated by commas; `leaving`: server ids,
     * separated by commas; `members`: all server lines; empty arguments are omitted. `version` is
     * the configuration's; -1: any.
     *
     * @completes `void(error_code, node_data)`, with the new configuration.
     *
     * @errors `zk_errc::reconfig_disabled`, `reconfig_in_progress`, `new_config_no_quorum`,
     * `no_auth`.
     */
    template <class Token = default_token>
    auto reconfigure(std::string joining,
                     std::string leaving,
                     std::string members,
                     std::int64_t version,
                     Token&& token = Token{}) {
        return initiate<&start_reconfigure>("reconfigure",
                                            std::string(),
                                            std::forward<Token>(token),
                                            std::move(joining),
                                            std::move(leaving),
                                            std::move(members),
                                            version);
    }

    /** @brief Same as above, for any version. */
    template <detail::token_not<std::int64_t> Token = default_token>
    auto reconfigure(std::string joining,
                     std::string leaving,
                     std::string members,
                     Token&& token = Token{}) {
        return reconfigure(std::move(joining),
                           std::move(leaving),
                           std::move(members),
                           -1,
                           std::forward<Token>(token));
    }

    /// For the library's recipes.
    const std::shared_ptr<detail::session_view>& implementation() const noexcept { return impl_; }

private:
    using impl_ptr = std::shared_ptr<detail::session_view>;
    template <class... Values>
    using handler_of = detail::handler_of<Values...>;

    explicit client(impl_ptr impl) noexcept;

    /// Calls `Start(impl, arguments..., handler)`. Errors mention `operation` and `about`.
    template <auto Start, class Token, class... Arguments>
    auto initiate(const char* operation,
                  std::string about,
                  Token&& token,
                  Arguments&&... arguments) const {
        return detail::initiate<Start>(detail::call_site(operation, std::move(about)),
                                       impl_,
                                       std::forward<Token>(token),
                                       std::forward<Arguments>(arguments)...);
    }

    static void start_new(executor_type executor, client_options options, handler_of<client>);
    static void start_connect(const impl_ptr&, handler_of<>);
    static void start_close(const impl_ptr&, handler_of<>);
    static void start_leave(const impl_ptr&, handler_of<>);
    static void start_next_status(const impl_ptr&, session_status seen, handler_of<session_status>);
    static void start_set_hosts(const impl_ptr&, std::string hosts, handler_of<>);
    static void start_create(const impl_ptr&,
                             std::string path,
                             std::string data,
                             create_options options,
                             acl entries,
                             handler_of<created_node>);
    static void start_ensure_path(const impl_ptr&, std::string, create_options, acl, handler_of<>);
    static void start_get(const impl_ptr&, std::string path, handler_of<node_data>);
    static void start_watch_data(const impl_ptr&, std::string path, handler_of<watched_data>);
    static void start_set(const impl_ptr&,
                          std::string path,
                          std::string data,
                          std::int32_t version,
                          handler_of<stat>);
    static void start_exists(const impl_ptr&, std::string path, handler_of<std::optional<stat>>);
    static void start_watch_exists(const impl_ptr&, std::string path, handler_of<watched_stat>);
    static void start_get_children(const impl_ptr&, std::string path, handler_of<node_children>);
    static void start_watch_children(const impl_ptr&, std::string, handler_of<watched_children>);
    static void start_add_watch(const impl_ptr&,
                                std::string path,
                                watch_mode mode,
                                handler_of<persistent_watch>);
    static void start_erase(const impl_ptr&, std::string path, std::int32_t version, handler_of<>);
    static void start_erase_tree(const impl_ptr&, std::string path, handler_of<>);
    static void start_sync(const impl_ptr&, std::string path, handler_of<>);
    static void start_get_acl(const impl_ptr&, std::string path, handler_of<node_acl>);
    static void start_set_acl(const impl_ptr&, std::string, acl, std::int32_t, handler_of<>);
    static void start_commit(const impl_ptr&,
                             transaction steps,
                             handler_of<std::vector<transaction_result>>);
    static void start_read_all(const impl_ptr&,
                               read_set reads,
                               handler_of<std::vector<read_result>>);
    static void start_get_ephemerals(const impl_ptr&,
                                     std::string path,
                                     handler_of<std::vector<std::string>>);
    static void start_count_descendants(const impl_ptr&, std::string path, handler_of<std::size_t>);
    static void start_who_am_i(const impl_ptr&, handler_of<std::vector<identity>>);
    static void start_add_auth(const impl_ptr&, std::string, std::string, handler_of<>);
    static void start_get_config(const impl_ptr&, handler_of<node_data>);
    static void start_watch_config(const impl_ptr&, handler_of<watched_data>);
    static void start_reconfigure(const impl_ptr&,
                                  std::string joining,
                                  std::string leaving,
                                  std::string members,
                                  std::int64_t version,
                                  handler_of<node_data>);

    impl_ptr impl_;
};

}  // namespace corozk
