// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/export.hpp>
#include <corozk/detail/initiate.hpp>
#include <corozk/detail/recipe_object.hpp>
#include <corozk/error.hpp>
#include <corozk/recipe/name_service_types.hpp>
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
class name_service_impl;
class name_watch_impl;
}  // namespace detail

/** @brief How names are kept. */
struct name_service_options {
    name_service_options() = default;

    /// What registering does with a name that is taken by another value: replace it (true), or fail
    /// with `errc::already_exists` (false). A name that is bound to another session cannot be
    /// replaced: then a session-bound registration waits for its end, as it does, whatever is said
    /// here, for an earlier session of its own.
    bool replace = false;

    /// Of the names' nodes and of folders that are made for them; empty means open.
    corozk::acl acl;
};

/**
 * @brief The values of one name, as they change. Made by `name_service::follow`.
 *
 * @par Cancellation
 * Terminal, partial, total: completes at once; nothing is lost to the next call.
 *
 * @par Executor, thread safety, lifetime
 * As `name_service`.
 */
class COROZK_DECL name_watch : public detail::recipe_object<detail::name_watch_impl> {
public:
    name_watch() noexcept = default;
    name_watch(std::shared_ptr<detail::session> session,
               std::shared_ptr<detail::name_watch_impl> impl) noexcept;

    /**
     * @brief Waits until the name is different from what was told last: another value, registered
     *        anew, unregistered. The first call tells at once how things are. The latest state
     * wins.
     *
     * @par Completion signature
     * `void(error_code, name_entry)`
     *
     * @par Errors
     * `errc::busy` (another `next` waits), `errc::bad_path`, `zk_errc::no_auth`, `errc::closed`.
     */
    template <class Token = default_token>
    auto next(Token&& token = Token{}) {
        return initiate<&start_next>("name_watch.next", std::forward<Token>(token));
    }

private:
    static void start_next(const std::shared_ptr<detail::name_watch_impl>&, handler_of<name_entry>);
};

/**
 * @brief Names below a folder, each with a value: register, resolve, list, follow.
 *
 * A name may have several parts ("printers/second-floor"): they are folders. A node without data is
 * a folder and no name, so a value is never empty.
 *
 * @par Cancellation
 * Terminal, partial, total: all operations complete at once with
 * `boost::asio::error::operation_aborted`. A cancelled registration for a session is taken back in
 * the background; one of a persistent name, and `unregister`, may still happen if it was sent.
 *
 * @par Executor and thread safety
 * As `client`: use it on the client's executor only. Handlers never run within the initiating
 * function.
 *
 * @par Lifetime
 * Destroying the object takes its session-bound names away (in the background); what waits
 * completes with `operation_aborted`. After `client::close` everything fails with `errc::closed`.
 *
 * @par Origin
 * "Name Service" on ZooKeeper's recipes page.
 */
class COROZK_DECL name_service : public detail::recipe_object<detail::name_service_impl> {
public:
    /** @brief The names below `root`. Nothing is sent. */
    name_service(const client& c,
                 std::string root,
                 name_service_options options = name_service_options());

    name_service() noexcept = default;

    /**
     * @brief Gives a name a value. Doing it twice with the same value is no error.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * `errc::already_exists` (see the options; also a folder that was made for other names),
     * `errc::bad_option` (an empty value), `errc::bad_path`, `zk_errc::no_children_for_ephemerals`
     * (a part of the name is bound to a session), `zk_errc::no_auth`, `errc::closed`.
     */
    template <class Token = default_token>
    auto register_name(std::string name,
                       std::string value,
                       name_lifetime lifetime,
                       Token&& token = Token{}) {
        return initiate_about<&start_register>("name_service.register_name",
                                               name,
                                               std::forward<Token>(token),
                                               std::move(name),
                                               std::move(value),
                                               lifetime);
    }

    /** @brief The same, until it is unregistered. */
    template <detail::token_not<name_lifetime> Token = default_token>
    auto register_name(std::string name, std::string value, Token&& token = Token{}) {
        return register_name(std::move(name),
                             std::move(value),
                             name_lifetime::persistent,
                             std::forward<Token>(token));
    }

    /**
     * @brief Takes a name away, whoever registered a persistent one.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * `zk_errc::no_node` (not registered), `zk_errc::not_empty` (there are names below it),
     * `errc::bad_path`, `zk_errc::no_auth`, `errc::closed`.
     */
    template <class Token = default_token>
    auto unregister(std::string name, Token&& token = Token{}) {
        return initiate_about<&start_unregister>(
            "name_service.unregister", name, std::forward<Token>(token), std::move(name));
    }

    /**
     * @brief Looks a name up.
     *
     * @par Completion signature
     * `void(error_code, name_entry)`
     *
     * @par Errors
     * `zk_errc::no_node` (not registered), `errc::bad_path`, `zk_errc::no_auth`, `errc::closed`.
     */
    template <class Token = default_token>
    auto resolve(std::string name, Token&& token = Token{}) {
        return initiate_about<&start_resolve>("name_service.resolve",
                                              name,
                                              std::forward<Token>(token),
                                              std::move(name),
                                              std::nullopt);
    }

    /** @brief The same, but waits for the name to be registered, at most that long (see
     *  `time_limit`): `errc::deadline_exceeded`. */
    template <class Token = default_token>
    auto await_for(std::string name, time_limit limit, Token&& token = Token{}) {
        return initiate_about<&start_resolve>(
            "name_service.await", name, std::forward<Token>(token), std::move(name), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto await_until(std::string name, time_limit::time_point deadline, Token&& token = Token{}) {
        return await_for(std::move(name), time_limit::until(deadline), std::forward<Token>(token));
    }

    /**
     * @brief The names in a folder (in the root, if it is empty), ordered. Folders are not listed;
     * a missing one is empty.
     *
     * @par Completion signature
     * `void(error_code, std::vector<name_entry>)`
     */
    template <class Token = default_token>
    auto list(std::string folder, Token&& token = Token{}) {
        return initiate_about<&start_list>(
            "name_service.list", folder, std::forward<Token>(token), std::move(folder));
    }

    /** @brief The same, of the names in the root. */
    template <detail::token_not<std::string> Token = default_token>
    auto list(Token&& token = Token{}) {
        return list(std::string(), std::forward<Token>(token));
    }

    /** @brief Follows a name, whether it is registered or not. Nothing is sent. */
    name_watch follow(std::string name) const;

private:
    static void start_register(const impl_ptr&,
                               std::string name,
                               std::string value,
                               name_lifetime lifetime,
                               handler_of<>);
    static void start_unregister(const impl_ptr&, std::string name, handler_of<>);
    static void start_resolve(const impl_ptr&,
                              std::string name,
                              std::optional<time_limit> wait,
                              handler_of<name_entry>);
    static void start_list(const impl_ptr&,
                           std::string folder,
                           handler_of<std::vector<name_entry>>);
};

}  // namespace corozk
