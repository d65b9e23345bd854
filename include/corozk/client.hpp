// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/counters.hpp>
#include <corozk/detail/export.hpp>
#include <corozk/detail/initiate.hpp>
#include <corozk/error.hpp>
#include <corozk/options.hpp>
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
#include <type_traits>
#include <utility>
#include <vector>

namespace corozk {

namespace detail {
class session;
}

/** @brief A node's content together with a watch on it. */
struct watched_data {
    watched_data() = default;
    node_data node;  ///< As it was when the watch was set.
    watch changed;   ///< Tells of the first change after that.
};

/** @brief Whether a node exists, together with a watch on its creation, change or end. */
struct watched_stat {
    watched_stat() = default;
    std::optional<corozk::stat> stat;  ///< None if there is no such node.
    watch changed;                     ///< Tells of the first change after that.
};

/** @brief A node's children together with a watch on their coming and going. */
struct watched_children {
    watched_children() = default;
    node_children children;  ///< As they were when the watch was set.
    watch changed;           ///< Tells of the first change after that.
};

/**
 * @brief One session with a ZooKeeper ensemble.
 *
 * A move-only handle. Between `connect` and `close` the client keeps itself going with handlers on
 * its executor: it connects, reconnects to other servers, notices expiry by a clock of its own, and
 * begins a new session when one was lost (see `client_options::renew_session`). Nothing it does
 * blocks the executor. It reconnects at once; when no server can be reached, or connections end within a
 * second again and again, after pauses that grow from 100 to 1,000 ms, at most a tenth of the session
 * timeout. Clients differ in them by up to a half.
 *
 * @par Operations
 * Every operation takes any completion token; the default makes it awaitable. Operations are sent
 * in the order in which they are started, and a session's answers come in that order. While the
 * client is disconnected, an operation waits for the next connection (at most
 * `client_options::queue_timeout`).
 *
 * @par A client reads its own writes
 * An operation of the client or of a recipe object that succeeds after a change by this client completes
 * when every cache and every configuration of the client shows that change. It waits for one that has
 * to read it first, unless that cannot: it completes at once when the connection is lost, when the copy is
 * destroyed, when the operation is cancelled (it has succeeded all the same), and at its deadline.
 *
 * @par Before the first connection
 * Once `connect` has been called, an operation waits for the first connection as long as the client
 * tries (`client_options::connect_timeout`), and is then carried out. Only its own deadline or its
 * cancellation ends it before. If the client gives up or is closed, it fails with `errc::closed`, as
 * it does at once if `connect` was never called. This holds for all recipes, too.
 *
 * @par Errors of all operations
 * - `zk_errc::connection_loss`: sent, and the connection went before the answer: the outcome is
 *   unknown (`is_outcome_unknown`).
 * - `errc::not_connected`: not sent within the time allowed (never before the first connection).
 * - `zk_errc::session_expired`: not sent, because the session was lost meanwhile.
 * - `errc::closed`: the client is closed (`status().reason` tells why), or `connect` was never called.
 * - `zk_errc::session_closed_require_sasl_auth`: the server serves nobody without credentials of a
 *   scheme that it demands (`enforce.auth.schemes`, ZOOKEEPER-3561). The client is closed then.
 * - `errc::bad_path`: nothing was sent.
 * - what the server answers, such as `zk_errc::no_node`.
 *
 * @par Cancellation of all operations
 * | operation | terminal | partial | total |
 * |---|---|---|---|
 * | reads, `sync` | completes at once, the answer is dropped | same | same |
 * | changes that were not sent yet | completes at once, nothing is sent | same | same |
 * | changes that were sent | completes at once, outcome unknown | same | ignored |
 * | `connect` | stops trying, the client is closed | same | same |
 * | `close` | stops waiting; closing goes on | same | ignored |
 * | `next_state`, `watch::next` | completes at once | same | same |
 *
 * A cancelled operation completes with `boost::asio::error::operation_aborted`.
 *
 * @par Executor and thread safety
 * Distinct clients: safe. One client: use it, its watches and its recipes on its executor only; on
 * a context that several threads run, give it a strand. Completion handlers run on their associated
 * executor (the client's, if they have none), never inside the initiating call. What arrives together
 * is handed on in one turn of the loop: if several handlers throw in it, `io_context::run` throws
 * `boost::asio::multiple_exceptions`. In the child of a fork a client is closed, whatever its state
 * was, and the session goes on in the parent.
 *
 * @par Lifetime
 * Destroying a client in any state is safe: operations that were not sent complete with
 * `errc::closed`, those that were sent with their answer or `zk_errc::connection_loss`, and the
 * session is closed in the background while its executor runs.
 */
class COROZK_DECL client {
public:
    using executor_type = boost::asio::any_io_executor;  ///< What its handlers run on by default.

    /** @brief A client that is not connected yet. Options are checked by `connect`. */
    client(executor_type executor, client_options options);

    /** @brief An empty handle, as after a move: every operation fails with `errc::closed`. */
    client() noexcept;
    client(client&&) noexcept;
    client& operator=(client&&) noexcept;
    ~client();

    executor_type get_executor() const noexcept;  ///< The executor that it was made with.

    /**
     * @brief Makes a client on the handler's executor and establishes its session.
     *
     * @par Completion signature
     * `void(error_code, client)`
     */
    template <class Token = default_token>
    static auto connect(client_options options, Token&& token = Token{}) {
        detail::call_site where("connect", options.hosts);
        return detail::initiate_on_handlers_executor<&start_new>(
            std::move(where), std::forward<Token>(token), std::move(options));
    }

    /** @brief The same, on a given executor: for tokens whose handler brings none. */
    template <class Token = default_token>
    static auto connect(executor_type executor, client_options options, Token&& token = Token{}) {
        detail::call_site where("connect", options.hosts);
        return detail::initiate<&start_new>(
            std::move(where), std::move(executor), std::forward<Token>(token), std::move(options));
    }

    /**
     * @brief Establishes the session, or says why not.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * `errc::bad_host_list`, `errc::bad_option`, `errc::not_supported`; after
     * `client_options::connect_timeout`: `errc::host_not_found`, `errc::no_server`,
     * `errc::server_silent`; `errc::chroot_missing`; `zk_errc::auth_failed`,
     * `session_closed_require_sasl_auth` (with a chroot, which is looked for). After an error the
     * client is closed, and `connect` may be called again.
     *
     * On a client that has a session, or had one and goes on to the next, it waits for the connection. An
     * error (`connect_timeout`) or a cancellation then ends that wait alone.
     */
    template <class Token = default_token>
    auto connect(Token&& token = Token{}) {
        return initiate<&start_connect>("connect", hosts(), std::forward<Token>(token));
    }

    /**
     * @brief Closes the session: its ephemeral nodes go at once, and everything that waits
     * completes with `errc::closed`.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * `errc::session_left_to_expire` when the server did not confirm within
     * `client_options::close_timeout`, or there was no connection: the client is closed all the
     * same, and the session's nodes go when it times out at the server.
     */
    template <class Token = default_token>
    auto close(Token&& token = Token{}) {
        return initiate<&start_close>("close", hosts(), std::forward<Token>(token));
    }

    /** @brief Where the session stands now. */
    session_status status() const;

    /** @brief Short for `status().state`. */
    session_state state() const { return status().state; }

    /**
     * @brief Waits until the status differs from one seen before: no change is missed.
     *
     * Completes at once if it already differs.
     *
     * @par Completion signature
     * `void(error_code, session_status)`
     *
     * @par Errors
     * `errc::closed` when the client is closed and that has been seen: nothing more will come.
     */
    template <class Token = default_token>
    auto next_state(session_status seen, Token&& token = Token{}) {
        return initiate<&start_next_state>(
            "next_state", std::string(), std::forward<Token>(token), seen);
    }

    /** @brief The session's id at the server; 0 before the first. */
    std::int64_t session_id() const { return status().session_id; }

    /** @brief What the server granted. */
    std::chrono::milliseconds negotiated_timeout() const { return status().negotiated_timeout; }

    /** @brief How many sessions were established so far. */
    std::uint64_t generation() const { return status().generation; }

    /** @brief What happened so far. */
    client_counters counters() const;

    /** @brief The host list that was configured. */
    std::string hosts() const;

    /**
     * @brief Creates a node.
     *
     * @par Completion signature
     * `void(error_code, created_node)`
     *
     * @par Errors
     * `zk_errc::node_exists`, `no_node` (the parent), `no_auth`, `no_children_for_ephemerals`,
     * `invalid_acl`, `errc::bad_option` (a TTL without its mode or the reverse).
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

    /** @brief The same, with default options: a persistent znode, open to all. */
    template <detail::token_not<create_options> Token = default_token>
    auto create(std::string path, std::string data, Token&& token = Token{}) {
        return create(
            std::move(path), std::move(data), create_options(), std::forward<Token>(token));
    }

    /** @brief The same, without data. */
    template <detail::token_not<std::string> Token = default_token>
    auto create(std::string path, Token&& token = Token{}) {
        return create(std::move(path), std::string(), create_options(), std::forward<Token>(token));
    }

    /**
     * @brief Creates a persistent node and all its missing parents; existing ones are fine.
     *
     * @par Completion signature
     * `void(error_code)`
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

    /** @brief The same, with default options. */
    template <detail::token_not<create_options> Token = default_token>
    auto ensure_path(std::string path, Token&& token = Token{}) {
        return ensure_path(std::move(path), create_options(), std::forward<Token>(token));
    }

    /**
     * @brief Reads a node.
     *
     * @par Completion signature
     * `void(error_code, node_data)`
     */
    template <class Token = default_token>
    auto get(std::string path, Token&& token = Token{}) {
        return initiate<&start_get>("get", path, std::forward<Token>(token), std::move(path));
    }

    /**
     * @brief Reads a node and leaves a watch on its data and existence.
     *
     * @par Completion signature
     * `void(error_code, watched_data)`
     */
    template <class Token = default_token>
    auto watch_data(std::string path, Token&& token = Token{}) {
        return initiate<&start_watch_data>(
            "watch_data", path, std::forward<Token>(token), std::move(path));
    }

    /**
     * @brief Replaces a node's data, if its version matches.
     *
     * @par Completion signature
     * `void(error_code, stat)`
     */
    template <class Token = default_token>
    auto set(std::string path, std::string data, std::int32_t version, Token&& token = Token{}) {
        return initiate<&start_set>(
            "set", path, std::forward<Token>(token), std::move(path), std::move(data), version);
    }

    /** @brief The same, whatever its version. */
    template <detail::token_not<std::int32_t> Token = default_token>
    auto set(std::string path, std::string data, Token&& token = Token{}) {
        return set(std::move(path), std::move(data), any_version, std::forward<Token>(token));
    }

    /**
     * @brief Asks whether a node exists; a missing node is no error.
     *
     * @par Completion signature
     * `void(error_code, std::optional<stat>)`
     */
    template <class Token = default_token>
    auto exists(std::string path, Token&& token = Token{}) {
        return initiate<&start_exists>("exists", path, std::forward<Token>(token), std::move(path));
    }

    /**
     * @brief The same, and leaves a watch: on a missing node, on its creation.
     *
     * @par Completion signature
     * `void(error_code, watched_stat)`
     */
    template <class Token = default_token>
    auto watch_exists(std::string path, Token&& token = Token{}) {
        return initiate<&start_watch_exists>(
            "watch_exists", path, std::forward<Token>(token), std::move(path));
    }

    /**
     * @brief Lists a node's children.
     *
     * @par Completion signature
     * `void(error_code, node_children)`
     */
    template <class Token = default_token>
    auto children(std::string path, Token&& token = Token{}) {
        return initiate<&start_children>(
            "children", path, std::forward<Token>(token), std::move(path));
    }

    /**
     * @brief The same, and leaves a watch on the children's coming and going.
     *
     * @par Completion signature
     * `void(error_code, watched_children)`
     */
    template <class Token = default_token>
    auto watch_children(std::string path, Token&& token = Token{}) {
        return initiate<&start_watch_children>(
            "watch_children", path, std::forward<Token>(token), std::move(path));
    }

    /**
     * @brief Erases a node without children, if its version matches. (`delete` is a keyword.)
     *
     * @par Completion signature
     * `void(error_code)`
     */
    template <class Token = default_token>
    auto erase(std::string path, std::int32_t version, Token&& token = Token{}) {
        return initiate<&start_erase>(
            "erase", path, std::forward<Token>(token), std::move(path), version);
    }

    /** @brief The same, whatever its version. */
    template <detail::token_not<std::int32_t> Token = default_token>
    auto erase(std::string path, Token&& token = Token{}) {
        return erase(std::move(path), any_version, std::forward<Token>(token));
    }

    /**
     * @brief Deletes a node and all its descendants, children first, in bounded pieces.
     *
     * Not atomic: others see parts of the branch meanwhile. Nodes that are created below it meanwhile are
     * deleted as well.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * `zk_errc::no_node`: there is no such node. After `zk_errc::no_auth` and other errors a part of the
     * branch has been deleted.
     *
     * @par Cancellation
     * All types: completes at once; requests that have been sent are carried out, and no further ones
     * are sent.
     */
    template <class Token = default_token>
    auto erase_tree(std::string path, Token&& token = Token{}) {
        return initiate<&start_erase_tree>(
            "erase_tree", path, std::forward<Token>(token), std::move(path));
    }

    /**
     * @brief Brings this session's server up to date, so that later reads see what others wrote
     *        before.
     *
     * @par Completion signature
     * `void(error_code)`
     */
    template <class Token = default_token>
    auto sync(std::string path, Token&& token = Token{}) {
        return initiate<&start_sync>("sync", path, std::forward<Token>(token), std::move(path));
    }

    /** @brief The same, for the whole tree. */
    template <detail::token_not<std::string> Token = default_token>
    auto sync(Token&& token = Token{}) {
        return sync("/", std::forward<Token>(token));
    }

    /**
     * @brief Reads a node's access control list.
     *
     * @par Completion signature
     * `void(error_code, node_acl)`
     */
    template <class Token = default_token>
    auto get_acl(std::string path, Token&& token = Token{}) {
        return initiate<&start_get_acl>(
            "get_acl", path, std::forward<Token>(token), std::move(path));
    }

    /**
     * @brief Replaces a node's access control list, if its `aversion` matches.
     *
     * @par Completion signature
     * `void(error_code)`
     */
    template <class Token = default_token>
    auto set_acl(std::string path, acl entries, std::int32_t version, Token&& token = Token{}) {
        return initiate<&start_set_acl>("set_acl",
                                        path,
                                        std::forward<Token>(token),
                                        std::move(path),
                                        std::move(entries),
                                        version);
    }

    /** @brief The same, whatever its version. */
    template <detail::token_not<std::int32_t> Token = default_token>
    auto set_acl(std::string path, acl entries, Token&& token = Token{}) {
        return set_acl(
            std::move(path), std::move(entries), any_version, std::forward<Token>(token));
    }

    /**
     * @brief Carries out a transaction: all of it or nothing.
     *
     * @par Completion signature
     * `void(error_code, std::vector<transaction_result>)`. On failure the error is that of the
     * operation that was the reason, and the results tell which one it was (use `as_tuple` to see
     * them).
     *
     * @par Errors
     * `errc::too_large` when the whole does not fit into `client_options::max_request_size`;
     * nothing is sent then.
     */
    template <class Token = default_token>
    auto commit(transaction steps, Token&& token = Token{}) {
        return initiate<&start_commit>(
            "commit", std::string(), std::forward<Token>(token), std::move(steps));
    }

    /**
     * @brief Authenticates this and all later sessions of the client.
     *
     * A wrong credential of the scheme "digest" is no error: it just opens nothing.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * `zk_errc::auth_failed`: the server does not know the scheme or rejected the credential; the
     * client is closed then, as the server ends the session.
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
     * @par Completion signature
     * `void(error_code, node_data)`
     */
    template <class Token = default_token>
    auto config(Token&& token = Token{}) {
        return initiate<&start_config>("config", std::string(), std::forward<Token>(token));
    }

    /**
     * @brief The same, and leaves a watch on it.
     *
     * @par Completion signature
     * `void(error_code, watched_data)`
     */
    template <class Token = default_token>
    auto watch_config(Token&& token = Token{}) {
        return initiate<&start_watch_config>(
            "watch_config", std::string(), std::forward<Token>(token));
    }

    /**
     * @brief Changes the ensemble's members: incrementally (`joining`, `leaving`) or as a whole
     *        (`members`), if the configuration's version matches.
     *
     * @par Completion signature
     * `void(error_code, node_data)`: the new configuration.
     *
     * @par Errors
     * `zk_errc::reconfig_disabled`, `reconfig_in_progress`, `new_config_no_quorum`, `no_auth`.
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

    /** @brief The same, whatever its version. */
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

    /// For the recipes.
    const std::shared_ptr<detail::session>& implementation() const noexcept { return impl_; }

private:
    using impl_ptr = std::shared_ptr<detail::session>;
    template <class... Values>
    using handler_of = detail::any_handler<void(error_code, Values...)>;

    explicit client(impl_ptr impl) noexcept;

    /// `Start(impl, arguments..., handler)`; an error names the operation and what it was about.
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

    static void start_new(executor_type executor,
                          client_options options,
                          handler_of<client> handler);
    static void start_connect(const impl_ptr& impl, handler_of<> handler);
    static void start_close(const impl_ptr& impl, handler_of<> handler);
    static void start_next_state(const impl_ptr& impl,
                                 session_status seen,
                                 handler_of<session_status> handler);
    static void start_create(const impl_ptr& impl,
                             std::string path,
                             std::string data,
                             create_options options,
                             acl entries,
                             handler_of<created_node> handler);
    static void start_ensure_path(const impl_ptr& impl,
                                  std::string path,
                                  create_options options,
                                  acl entries,
                                  handler_of<> handler);
    static void start_get(const impl_ptr& impl, std::string path, handler_of<node_data> handler);
    static void start_watch_data(const impl_ptr& impl,
                                 std::string path,
                                 handler_of<watched_data> handler);
    static void start_set(const impl_ptr& impl,
                          std::string path,
                          std::string data,
                          std::int32_t version,
                          handler_of<stat> handler);
    static void start_exists(const impl_ptr& impl,
                             std::string path,
                             handler_of<std::optional<stat>> handler);
    static void start_watch_exists(const impl_ptr& impl,
                                   std::string path,
                                   handler_of<watched_stat> handler);
    static void start_children(const impl_ptr& impl,
                               std::string path,
                               handler_of<node_children> handler);
    static void start_watch_children(const impl_ptr& impl,
                                     std::string path,
                                     handler_of<watched_children> handler);
    static void start_erase(const impl_ptr& impl,
                            std::string path,
                            std::int32_t version,
                            handler_of<> handler);
    static void start_erase_tree(const impl_ptr& impl, std::string path, handler_of<> handler);
    static void start_sync(const impl_ptr& impl, std::string path, handler_of<> handler);
    static void start_get_acl(const impl_ptr& impl, std::string path, handler_of<node_acl> handler);
    static void start_set_acl(const impl_ptr& impl,
                              std::string path,
                              acl entries,
                              std::int32_t version,
                              handler_of<> handler);
    static void start_commit(const impl_ptr& impl,
                             transaction steps,
                             handler_of<std::vector<transaction_result>> handler);
    static void start_add_auth(const impl_ptr& impl,
                               std::string scheme,
                               std::string credential,
                               handler_of<> handler);
    static void start_config(const impl_ptr& impl, handler_of<node_data> handler);
    static void start_watch_config(const impl_ptr& impl, handler_of<watched_data> handler);
    static void start_reconfigure(const impl_ptr& impl,
                                  std::string joining,
                                  std::string leaving,
                                  std::string members,
                                  std::int64_t version,
                                  handler_of<node_data> handler);

    impl_ptr impl_;
};

}  // namespace corozk
