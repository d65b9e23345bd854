// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/recipe/recipe_object.hpp>
#include <corozk/recipe/name_service_types.hpp>
#include <corozk/time_limit.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

namespace detail {
class name_service_impl;
class name_watch_impl;
}  // namespace detail

/** @brief Options of a name service. */
struct name_service_options {
    name_service_options() = default;

    /// Whether registration replaces an existing value. Otherwise it fails with
    /// `errc::already_exists`. An ephemeral name of another session is not replaced; an ephemeral
    /// registration waits for the end of that session instead, and never replaces a persistent
    /// name. It always waits for an earlier session of the same object.
    bool replace = false;

    /// ACL of the names' nodes and of missing parents. Empty means open to everyone.
    corozk::acl acl;
};

/**
 * @brief Follows the value of a name. Created by `name_service::follow`. `path()` is the name's
 *        node; empty if the name is invalid.
 *
 * Reported values never revert to older ones, even if the next session's server lags.
 *
 * @cancellation All types: completes at once; the next call, which may begin at once,
 * still reports the change.
 *
 * @executor As `name_service`.
 */
class COROZK_DECL name_watch : public detail::recipe_object<detail::name_watch_impl> {
public:
    name_watch() noexcept = default;
    name_watch(std::shared_ptr<detail::session_view> session,
               std::shared_ptr<detail::name_watch_impl> impl) noexcept;

    /**
     * @brief Waits until the name's entry differs from the one returned last, or was deleted and
     *        registered again. The first call completes at once. Intermediate states may be
     *        skipped.
     *
     * @completes `void(error_code, name_entry)`
     *
     * @errors `errc::busy` (another `next` is pending), `errc::bad_path`, `zk_errc::no_auth`,
     * `errc::closed`.
     */
    template <class Token = default_token>
    auto next(Token&& token = Token{}) {
        return initiate<&start_next>("name_watch.next", std::forward<Token>(token));
    }

private:
    static void start_next(const std::shared_ptr<detail::name_watch_impl>&, handler_of<name_entry>);
};

/**
 * @brief Maps names to values: register, resolve, list, follow.
 *
 * A name may have several components ("printers/second-floor"). A node without data is merely a
 * parent of other names, so a value is never empty.
 *
 * The plain form of service discovery: any value, one registration per name. For a service with
 * several instances, load balancing, or Curator programs, use `service_discovery`.
 *
 * @cancellation All types: all operations complete at once with
 * `boost::asio::error::operation_aborted`. A cancelled ephemeral registration is undone in the
 * background; a persistent one, and `unregister`, may be applied if in flight.
 *
 * @executor As `client`. The destructor unregisters ephemeral names in the background.
 *
 * @origin "Name Service" on ZooKeeper's recipes page.
 */
class COROZK_DECL name_service : public detail::recipe_object<detail::name_service_impl> {
public:
    /** @brief The names below `root`. Nothing is sent. */
    name_service(const client& c,
                 std::string root,
                 name_service_options options = name_service_options());

    name_service() noexcept = default;

    /**
     * @brief Registers a name. Repeating it with the same value is not an error.
     *
     * @param mode `persistent`: until it is unregistered. `ephemeral`: until it is unregistered or
     *        this object destroyed; registered again in each session.
     *
     * @completes `void(error_code)`
     *
     * @errors `errc::already_exists` (see the options; likewise a parent of other names),
     * `errc::busy` (this object is unregistering it), `errc::bad_option` (an empty value, or
     * another mode), `errc::bad_path`, `zk_errc::no_children_for_ephemerals` (a parent of the name
     * is ephemeral), `zk_errc::no_auth`, `zk_errc::not_read_only` (a persistent name),
     * `errc::closed`. Retries across outages and session loss. A persistent name that this call has
     * registered and another client has unregistered, while the response was lost, is registered again.
     */
    template <class Token = default_token>
    auto register_name(std::string name,
                       std::string value,
                       create_mode mode,
                       Token&& token = Token{}) {
        return register_name_for(std::move(name),
                                 std::move(value),
                                 mode,
                                 time_limit::for_ever(),
                                 std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). A
     *         persistent name may be registered nevertheless, and the value of a name that this
     *         object has registered replaced. */
    template <class Token = default_token>
    auto register_name_for(std::string name,
                           std::string value,
                           create_mode mode,
                           time_limit limit,
                           Token&& token = Token{}) {
        return initiate_about<&start_register>("name_service.register_name",
                                               name,
                                               std::forward<Token>(token),
                                               std::move(name),
                                               std::move(value),
                                               mode,
                                               limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto register_name_until(std::string name,
                             std::string value,
                             create_mode mode,
                             time_point deadline,
                             Token&& token = Token{}) {
        return register_name_for(
            std::move(name), std::move(value), mode, deadline, std::forward<Token>(token));
    }

    /** @brief Same as above, with a persistent name. */
    template <detail::token_not<create_mode> Token = default_token>
    auto register_name(std::string name, std::string value, Token&& token = Token{}) {
        return register_name(
            std::move(name), std::move(value), create_mode::persistent, std::forward<Token>(token));
    }

    /**
     * @brief Unregisters a name, even a persistent one that another client has registered. A
     *        pending ephemeral registration ends with `boost::asio::error::operation_aborted`.
     *
     * @completes `void(error_code)`
     *
     * @errors `zk_errc::no_node` (not registered), `zk_errc::not_empty` (it is a parent of other
     * names), `errc::bad_path`, `zk_errc::no_auth`, `zk_errc::not_read_only` (not a name that this
     * object bound to its session), `errc::closed`. Retries across outages and session loss.
     */
    template <class Token = default_token>
    auto unregister(std::string name, Token&& token = Token{}) {
        return unregister_for(std::move(name), time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto unregister_for(std::string name, time_limit limit, Token&& token = Token{}) {
        return initiate_about<&start_unregister>(
            "name_service.unregister", name, std::forward<Token>(token), std::move(name), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto unregister_until(std::string name, time_point deadline, Token&& token = Token{}) {
        return unregister_for(std::move(name), deadline, std::forward<Token>(token));
    }

    /**
     * @brief Looks up a name. The result is never older than what this client has registered or
     *        seen, including in earlier sessions.
     *
     * @completes `void(error_code, name_entry)`
     *
     * @errors `zk_errc::no_node` (not registered), `errc::bad_path`, `zk_errc::no_auth`,
     * `errc::closed`. Retries across outages and session loss.
     */
    template <class Token = default_token>
    auto resolve(std::string name, Token&& token = Token{}) {
        return resolve_for(std::move(name), time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto resolve_for(std::string name, time_limit limit, Token&& token = Token{}) {
        return initiate_about<&start_resolve>("name_service.resolve",
                                              name,
                                              std::forward<Token>(token),
                                              std::move(name),
                                              limit,
                                              false);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto resolve_until(std::string name, time_point deadline, Token&& token = Token{}) {
        return resolve_for(std::move(name), deadline, std::forward<Token>(token));
    }

    /** @brief As `resolve`, but waits until the name is registered. */
    template <class Token = default_token>
    auto await(std::string name, Token&& token = Token{}) {
        return await_for(std::move(name), time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto await_for(std::string name, time_limit limit, Token&& token = Token{}) {
        return initiate_about<&start_resolve>(
            "name_service.await", name, std::forward<Token>(token), std::move(name), limit, true);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto await_until(std::string name, time_point deadline, Token&& token = Token{}) {
        return await_for(std::move(name), deadline, std::forward<Token>(token));
    }

    /**
     * @brief Lists the names directly below a parent (the root, if empty), sorted. Nodes without a
     *        value are not listed. Empty if the parent does not exist.
     *
     * @completes `void(error_code, std::vector<name_entry>)`
     *
     * @errors `errc::bad_path`, `zk_errc::no_auth`, `errc::closed`. Retries across outages and
     * session loss.
     */
    template <class Token = default_token>
    auto list(std::string parent, Token&& token = Token{}) {
        return list_for(std::move(parent), time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto list_for(std::string parent, time_limit limit, Token&& token = Token{}) {
        return initiate_about<&start_list>(
            "name_service.list", parent, std::forward<Token>(token), std::move(parent), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto list_until(std::string parent, time_point deadline, Token&& token = Token{}) {
        return list_for(std::move(parent), deadline, std::forward<Token>(token));
    }

    /** @brief As `list` above, for the root. */
    template <detail::token_not<std::string> Token = default_token>
    auto list(Token&& token = Token{}) {
        return list(std::string(), std::forward<Token>(token));
    }

    /** @brief Follows a name, which need not be registered. Nothing is sent. */
    name_watch follow(std::string name) const;

private:
    static void start_register(const impl_ptr&,
                               std::string name,
                               std::string value,
                               create_mode mode,
                               time_limit limit,
                               handler_of<>);
    static void start_unregister(const impl_ptr&, std::string name, time_limit limit, handler_of<>);
    static void start_resolve(
        const impl_ptr&, std::string name, time_limit limit, bool wait, handler_of<name_entry>);
    static void start_list(const impl_ptr&,
                           std::string,
                           time_limit,
                           handler_of<std::vector<name_entry>>);
};

}  // namespace corozk
