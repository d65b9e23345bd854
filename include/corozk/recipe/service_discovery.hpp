// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/recipe/recipe_object.hpp>
#include <corozk/recipe/service_types.hpp>
#include <corozk/time_limit.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

namespace detail {
class service_discovery_impl;
class service_cache_impl;
}  // namespace detail

/** @brief Options of service discovery. */
struct service_discovery_options {
    service_discovery_options() = default;

    /// Whether registration of a dynamic instance waits while its id belongs to another session, to
    /// another object of this client, or to a static or permanent instance. Otherwise it fails with
    /// `errc::already_exists`. It always waits for an earlier session of the same object.
    bool wait_for_predecessor = true;

    service_format format = service_format::curator;  ///< The format of nodes and data.

    /// ACL of the instances' nodes and of missing parents. Empty means open to everyone.
    corozk::acl acl;
};

/**
 * @brief Registers and finds instances of services, in the format of Curator's `ServiceDiscovery`
 *        or of Finagle's ServerSet (`service_format`).
 *
 * Programs of both kinds can share a path: an instance is a node `path/service/id`, or
 * `path/service/member_NUMBER`, with JSON data. Without such programs, and where a name has one
 * value, `name_service` is simpler.
 *
 * A dynamic instance stays registered until `unregister`: after session loss it is registered again
 * in the next session with its latest data, as soon as the server has deleted the node of the lost
 * session; likewise if another client deletes its node. Static and permanent instances are
 * persistent nodes, which remain when this object is destroyed (Curator's `close` deletes its own).
 *
 * A node that is not a valid instance is skipped and logged. Unknown fields are ignored. Children
 * of a ServerSet whose names are not `member_NUMBER` are not instances. Finagle reads a member only
 * once: it may miss an `update`, or new data under the same id.
 *
 * @cancellation
 * | operation | all types |
 * |---|---|
 * | `register_instance` | completes at once; a dynamic instance is unregistered in the background; another one may be registered if in flight |
 * | `update` | completes at once; a dynamic instance is updated in the background; another one may be updated if in flight |
 * | `unregister` | completes at once; a dynamic instance is unregistered in the background; another one may be unregistered if in flight |
 * | `resolve`, `list_names` | completes at once |
 *
 * @executor As `client`. The destructor unregisters dynamic instances in the background.
 *
 * @origin Curator's x-discovery; CURATOR-164, CURATOR-275. Finagle's ServerSet.
 */
class COROZK_DECL service_discovery : public detail::recipe_object<detail::service_discovery_impl> {
public:
    /** @brief The services below `path`, Curator's base path, which may be "/". Nothing is sent. */
    service_discovery(const client& c,
                      std::string path,
                      service_discovery_options options = service_discovery_options());

    service_discovery() noexcept = default;

    /**
     * @brief Registers an instance. A static or permanent one that exists is replaced.
     *
     * @completes `void(error_code)`, after its node was created.
     *
     * @errors Retries across outages and session loss. A static or permanent instance that this call has
     * registered and another client has unregistered, while the response was lost, is registered again.
     * - `errc::busy`: this object has registered, or is unregistering, a dynamic instance with the
     *   same name and id.
     * - `errc::already_exists`: the id is that of a dynamic instance, if this one is static or
     *   permanent, or without `wait_for_predecessor`.
     * - `errc::bad_option`: the payload is not JSON, a text is not UTF-8, braces in `uri_spec` are
     *   not paired, the type is `dynamic_sequential`, or the format has no place for something.
     * - `errc::bad_path`: the name or the id is not a valid node name, such as the empty one.
     * - `boost::asio::error::operation_aborted`: a dynamic instance was unregistered meanwhile.
     * - `zk_errc::not_read_only`: a static or permanent instance.
     * - `errc::too_large`, `zk_errc::no_auth`, `zk_errc::invalid_acl`, `errc::closed`.
     */
    template <class Token = default_token>
    auto register_instance(service_instance instance, Token&& token = Token{}) {
        return register_instance_for(
            std::move(instance), time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). A
     *         static or permanent instance may be registered nevertheless. */
    template <class Token = default_token>
    auto register_instance_for(service_instance instance,
                               time_limit limit,
                               Token&& token = Token{}) {
        std::string about = instance.name;
        return initiate_about<&start_register>("service_discovery.register_instance",
                                               std::move(about),
                                               std::forward<Token>(token),
                                               std::move(instance),
                                               limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto register_instance_until(service_instance instance,
                                 time_point deadline,
                                 Token&& token = Token{}) {
        return register_instance_for(std::move(instance), deadline, std::forward<Token>(token));
    }

    /**
     * @brief Replaces the data of a dynamic instance that this object has registered, for this
     *        session and later ones, or of any static or permanent instance.
     *
     * @completes `void(error_code)`, after it was written.
     *
     * @errors `errc::not_a_member` (a dynamic instance that this object has not registered),
     * `zk_errc::no_node` (another one that does not exist), `boost::asio::error::operation_aborted`
     * (a dynamic instance was unregistered meanwhile), `zk_errc::not_read_only` (a static or
     * permanent one), `errc::bad_option`, `errc::bad_path`, `errc::too_large`, `zk_errc::no_auth`,
     * `errc::closed`. Retries across outages and session loss.
     */
    template <class Token = default_token>
    auto update(service_instance instance, Token&& token = Token{}) {
        return update_for(std::move(instance), time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto update_for(service_instance instance, time_limit limit, Token&& token = Token{}) {
        std::string about = instance.name;
        return initiate_about<&start_update>("service_discovery.update",
                                             std::move(about),
                                             std::forward<Token>(token),
                                             std::move(instance),
                                             limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto update_until(service_instance instance, time_point deadline, Token&& token = Token{}) {
        return update_for(std::move(instance), deadline, std::forward<Token>(token));
    }

    /**
     * @brief Unregisters an instance, even one that another client has registered (which may
     *        register it again).
     *
     * Ends a pending `register_instance` or `update` of a dynamic instance. If that is still
     * waiting for another session's node, that node is left alone; this is not an error.
     *
     * @completes `void(error_code)`, after its node was deleted or its session has ended.
     *
     * @errors `zk_errc::no_node` (not registered), `errc::bad_path`, `zk_errc::no_auth`,
     * `zk_errc::not_read_only` (not a dynamic one of this object), `errc::closed`. Retries across
     * outages and session loss.
     */
    template <class Token = default_token>
    auto unregister(std::string service, std::string id, Token&& token = Token{}) {
        return unregister_for(
            std::move(service), std::move(id), time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto unregister_for(std::string service,
                        std::string id,
                        time_limit limit,
                        Token&& token = Token{}) {
        return initiate_about<&start_unregister>("service_discovery.unregister",
                                                 service,
                                                 std::forward<Token>(token),
                                                 std::move(service),
                                                 std::move(id),
                                                 limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto unregister_until(std::string service,
                          std::string id,
                          time_point deadline,
                          Token&& token = Token{}) {
        return unregister_for(
            std::move(service), std::move(id), deadline, std::forward<Token>(token));
    }

    /**
     * @brief As `unregister` above. If its `node` is set (it was found), that node is deleted,
     *        whatever its id is.
     */
    template <class Token = default_token>
    auto unregister(const service_instance& instance, Token&& token = Token{}) {
        return unregister(instance.name,
                          instance.node.empty() ? instance.id : instance.node,
                          std::forward<Token>(token));
    }

    /**
     * @brief Gets the instances of a service, sorted by node name; none if it does not exist. The
     *        result is never older than what this client has registered or seen, including in
     *        earlier sessions.
     *
     * @completes `void(error_code, std::vector<service_instance>)`
     *
     * @errors `errc::bad_path`, `zk_errc::no_auth`, `errc::closed`. Retries across outages and
     * session loss.
     */
    template <class Token = default_token>
    auto resolve(std::string service, Token&& token = Token{}) {
        return resolve_for(std::move(service), time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto resolve_for(std::string service, time_limit limit, Token&& token = Token{}) {
        return initiate_about<&start_resolve>("service_discovery.resolve",
                                              service,
                                              std::forward<Token>(token),
                                              std::move(service),
                                              limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto resolve_until(std::string service, time_point deadline, Token&& token = Token{}) {
        return resolve_for(std::move(service), deadline, std::forward<Token>(token));
    }

    /**
     * @brief Gets the names of the services, sorted; none if the path does not exist. The server
     *        may list a service for a minute after its last instance.
     *
     * @completes `void(error_code, std::vector<std::string>)`
     *
     * @errors `errc::bad_path`, `zk_errc::no_auth`, `errc::closed`. Retries across outages and
     * session loss.
     */
    template <class Token = default_token>
    auto list_names(Token&& token = Token{}) {
        return list_names_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto list_names_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_list_names>(
            "service_discovery.list_names", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto list_names_until(time_point deadline, Token&& token = Token{}) {
        return list_names_for(deadline, std::forward<Token>(token));
    }

private:
    static void start_register(const impl_ptr&, service_instance, time_limit, handler_of<>);
    static void start_update(const impl_ptr&, service_instance, time_limit, handler_of<>);
    static void start_unregister(
        const impl_ptr&, std::string, std::string, time_limit, handler_of<>);
    static void start_resolve(const impl_ptr&,
                              std::string,
                              time_limit,
                              handler_of<std::vector<service_instance>>);
    static void start_list_names(const impl_ptr&, time_limit, handler_of<std::vector<std::string>>);
};

/**
 * @brief A local copy of a service's instances that is updated by watches: a `children_cache`.
 *
 * The service need not exist; `path()` is its node. A node that is not a valid instance is listed
 * in `service_state::malformed`, and logged once per change. States never revert to older ones,
 * even if the next session's server lags.
 *
 * @cancellation All types: completes at once; a later `next` still returns the state.
 *
 * @executor As `client`. The destructor removes the watches.
 *
 * @origin Curator's `ServiceCache`, which fails on a malformed instance; CURATOR-328.
 */
class COROZK_DECL service_cache : public detail::recipe_object<detail::service_cache_impl> {
public:
    service_cache() noexcept = default;

    /** @brief A copy of the service at `path/service`. Starts reading. */
    service_cache(const client& c,
                  const std::string& path,
                  const std::string& service,
                  service_format format = service_format::curator);

    /** @brief The latest state. */
    service_state current() const;

    /**
     * @brief Waits until the state differs from the one passed: `s = co_await cache.next(s)`.
     *        Intermediate states may be skipped, the latest never is.
     *
     * @completes `void(error_code, service_state)`
     *
     * @errors `zk_errc::no_auth` (the service may not be read; each `next` tries again),
     * `errc::bad_path`, `errc::closed`.
     */
    template <class Token = default_token>
    auto next(const service_state& seen, Token&& token = Token{}) {
        return initiate<&start_next>(
            "service_cache.next", std::forward<Token>(token), seen.revision);
    }

    /** @brief Same as above, for the first state. */
    template <detail::token_not<service_state> Token = default_token>
    auto next(Token&& token = Token{}) {
        return next(service_state(), std::forward<Token>(token));
    }

private:
    static void start_next(const impl_ptr&, std::uint64_t seen, handler_of<service_state>);
};

}  // namespace corozk
