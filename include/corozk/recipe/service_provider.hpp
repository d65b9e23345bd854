// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/recipe/recipe_object.hpp>
#include <corozk/recipe/service_types.hpp>
#include <corozk/time_limit.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace corozk {

namespace detail {
class service_provider_impl;
}

/** @brief Which of the available instances is chosen. */
enum class service_strategy : std::uint8_t {
    round_robin,  ///< One after the other, by node name.
    random,       ///< Any.
    sticky,       ///< The same as long as it is available, then any.
};

/** @brief Options of a service provider. */
struct service_provider_options {
    service_provider_options() = default;

    service_strategy strategy = service_strategy::round_robin;  ///< Which instance is chosen.

    /// An instance is set aside when this many failures have been reported within `set_aside_for`
    /// of the first one, and is available again after that time. 0 means never. Curator's
    /// `DownInstancePolicy`.
    std::uint32_t failure_threshold = 2;
    std::chrono::milliseconds set_aside_for = std::chrono::seconds(30);  ///< See above.

    bool ssl = false;  ///< `get_endpoints` have the SSL port instead of the port.

    service_format format = service_format::curator;  ///< The format of nodes and data.

    /// The name of the additional endpoint that `get_endpoints` returns; empty: the instance's own.
    std::string endpoint;
};

/**
 * @brief Chooses instances of a service for each use: load balancing in the client.
 *
 * Follows the service as a `service_cache` does; `path()` is the service's node. While there is
 * no connection, it chooses from the instances known last. An instance is available unless it is
 * disabled, or set aside because of reported failures (`report_failure`). A later registration of
 * the same id is available at once if it is dynamic. A static or permanent instance that is
 * registered again stays set aside for the rest of `service_provider_options::set_aside_for`.
 *
 * @cancellation All types: all operations complete at once.
 *
 * @executor As `client`. Host names are looked up on detached threads, so that the look-up never
 * blocks the executor. The destructor removes the watches.
 *
 * @origin Curator's `ServiceProvider`, its strategies and `DownInstancePolicy`.
 */
class COROZK_DECL service_provider : public detail::recipe_object<detail::service_provider_impl> {
public:
    service_provider() noexcept = default;

    /** @brief For the service at `path/service`. Starts reading. */
    service_provider(const client& c,
                     const std::string& path,
                     const std::string& service,
                     service_provider_options options = service_provider_options());

    /**
     * @brief Chooses an instance. Waits until there is one.
     *
     * @completes `void(error_code, service_instance)`
     *
     * @errors `zk_errc::no_auth`, `errc::bad_path`, `errc::closed`.
     */
    template <class Token = default_token>
    auto choose(Token&& token = Token{}) {
        return choose_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto choose_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_choose>(
            "service_provider.choose", std::forward<Token>(token), limit, false);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto choose_until(time_point deadline, Token&& token = Token{}) {
        return choose_for(deadline, std::forward<Token>(token));
    }

    /**
     * @brief Same as `choose`, but fails with `errc::would_block` if no instance is available, as
     *        soon as the service was read.
     *
     * @completes `void(error_code, service_instance)`
     */
    template <class Token = default_token>
    auto try_choose(Token&& token = Token{}) {
        return initiate<&start_choose>("service_provider.try_choose",
                                       std::forward<Token>(token),
                                       time_limit::for_ever(),
                                       true);
    }

    /**
     * @brief Gets the endpoints of all available instances that have a port, the chosen one first.
     *        Waits until there is one. Several endpoints in a row may belong to one instance, if
     *        its host name has several addresses. Host names are looked up, at most eight at a
     *        time, and all are awaited, so one slow look-up delays the whole call: prefer
     *        `get_endpoints_for`. An instance whose name has no address is omitted, and reported as a
     *        failure, unless no name has one: then the name service is assumed to be down.
     *
     * @completes `void(error_code, service_endpoints)`
     *
     * @errors As `choose`; `errc::host_not_found` (no host name has an address).
     */
    template <class Token = default_token>
    auto get_endpoints(Token&& token = Token{}) {
        return get_endpoints_for(time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto get_endpoints_for(time_limit limit, Token&& token = Token{}) {
        return initiate<&start_endpoints>(
            "service_provider.get_endpoints", std::forward<Token>(token), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto get_endpoints_until(time_point deadline, Token&& token = Token{}) {
        return get_endpoints_for(deadline, std::forward<Token>(token));
    }

    /** @brief Reports that an instance could not be used; see `failure_threshold`. Report an
     *         instance once even if several of its endpoints failed, and not if any of them
     *         worked. */
    void report_failure(const service_instance& instance);

private:
    static void start_choose(const impl_ptr&, time_limit, bool, handler_of<service_instance>);
    static void start_endpoints(const impl_ptr&, time_limit, handler_of<service_endpoints>);
};

}  // namespace corozk
