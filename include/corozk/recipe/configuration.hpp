// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/recipe/recipe_object.hpp>
#include <corozk/recipe/cache.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace corozk {

namespace detail {
class configuration_core;
class configuration_writer;
}  // namespace detail

/** @brief Options of a configuration. */
struct configuration_options {
    configuration_options() = default;

    /// `versioned_configuration` only: how many old versions are kept besides the current one, for
    /// readers that are still reading them.
    std::size_t keep = 1;

    /// ACL of all nodes. Empty means open to everyone.
    corozk::acl acl;
};

/**
 * @brief A configuration in one node: an awaitable stream of its values.
 *
 * `next` returns the latest value, if it differs from the one seen before; values never revert to
 * older ones, even across reconnects, and deletion is visible (`node_state::exists`). Errors,
 * cancellation, thread safety and lifetime of `next` are those of `basic_cache`.
 *
 * @origin "Configuration" on the recipes page; CURATOR-311, CURATOR-329, CURATOR-391, CURATOR-688:
 * stale values.
 */
class COROZK_DECL configuration : public detail::recipe_object<detail::configuration_writer> {
public:
    configuration() noexcept = default;
    configuration(const client& c,
                  std::string path,
                  configuration_options options = configuration_options());

    /** @brief The latest value; revision 0 if none was read yet. */
    node_state current() const { return cache_.current(); }

    /** @brief As `node_cache::next`. */
    template <class Token = default_token>
    auto next(const node_state& seen, Token&& token = Token{}) {
        return cache_.next_of("configuration.next", seen, std::forward<Token>(token));
    }

    /** @brief Same as above, for the first value. */
    template <detail::token_not<node_state> Token = default_token>
    auto next(Token&& token = Token{}) {
        return next(node_state(), std::forward<Token>(token));
    }

    /**
     * @brief Writes a value; creates the node and its parents if they do not exist.
     *
     * @completes `void(error_code)`
     *
     * @errors `errc::too_large`, `errc::bad_path`, `zk_errc::no_auth`, `errc::not_connected`,
     * `zk_errc::not_read_only`; `errc::closed`: if a write was in flight, it may be applied;
     * `zk_errc::connection_loss`: the response was lost and other clients have written since, so
     * that it is unknown whether the value was written. It is not written again, except that a node
     * which this call created and another client deleted is re-created.
     *
     * @cancellation All types: completes at once with `boost::asio::error::operation_aborted`; a
     * write in flight may be applied, also at a deadline.
     */
    template <class Token = default_token>
    auto publish(std::string data, Token&& token = Token{}) {
        return publish_for(std::move(data), time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto publish_for(std::string data, time_limit limit, Token&& token = Token{}) {
        return initiate<&start_publish>(
            "configuration.publish", std::forward<Token>(token), std::move(data), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto publish_until(std::string data, time_point deadline, Token&& token = Token{}) {
        return publish_for(std::move(data), deadline, std::forward<Token>(token));
    }

private:
    static void start_publish(const impl_ptr&, std::string data, time_limit, handler_of<>);

    node_cache cache_;
};

/** @brief The parts of a configuration: data by name. */
using configuration_parts = std::map<std::string, std::string>;

/** @brief The status of a configuration of several parts. */
enum class configuration_status : std::uint8_t {
    absent,     ///< Never published, or removed.
    published,  ///< `parts` is a complete version.
    broken,     ///< A writer died while publishing, or parts were deleted; publish again.
};

/** @brief A version of a configuration of several parts. Cheap to copy. */
struct configuration_version {
    configuration_version() = default;
    std::uint64_t revision = 0;  ///< Incremented by every change; 0: not read yet.
    configuration_status status = configuration_status::absent;  ///< The status.
    std::int64_t number = 0;  ///< Increases with each published version (a `zxid`).
    std::shared_ptr<const configuration_parts> parts;  ///< Null unless published.
};

/**
 * @brief What the two configurations of several parts have in common.
 *
 * Readers always get one whole version, never parts of two, provided that no other client deletes
 * the recipe's nodes, in particular the `writer` node of a live client. Any number of `next` may
 * wait.
 *
 * @executor As `client`. When it is destroyed, a `publish` in progress is completed in the
 * background.
 */
class COROZK_DECL basic_configuration : public detail::recipe_object<detail::configuration_core> {
public:
    basic_configuration() noexcept = default;

    /** @brief The latest version; revision 0 if none was read yet. Reflects changes by other
     *         clients only after the first call of `next`. */
    configuration_version current() const;

    /**
     * @brief Waits until the version differs from the one passed: `v = co_await c.next(v)`.
     *
     * Intermediate versions may be skipped. While a writer is publishing, the previous version
     * remains current. Loss of the connection or the session is not an error; everything is read
     * again afterwards.
     *
     * @completes `void(error_code, configuration_version)`
     *
     * @errors `errc::closed`, or the server's, such as `zk_errc::no_auth`.
     *
     * @cancellation All types: completes at once with `boost::asio::error::operation_aborted`; a
     * later `next` still returns the state.
     */
    template <class Token = default_token>
    auto next(const configuration_version& seen, Token&& token = Token{}) {
        return initiate<&start_next>(
            "configuration.next", std::forward<Token>(token), seen.revision);
    }

    /** @brief Same as above, for the first version. */
    template <detail::token_not<configuration_version> Token = default_token>
    auto next(Token&& token = Token{}) {
        return next(configuration_version(), std::forward<Token>(token));
    }

    /**
     * @brief Publishes a new version that consists of the given parts only.
     *
     * @completes `void(error_code)`
     *
     * @errors
     * - `errc::busy`: another writer is publishing, or has just published; nothing was published.
     * - `errc::bad_path`: a part's name is not a valid node name, or is reserved.
     * - `errc::too_large`: a part exceeds the size of a request. (The total size is unlimited.)
     * - `zk_errc::session_expired`, `errc::ownership_lost`: interrupted. Publish again.
     * - `zk_errc::connection_loss`: the session was lost in the last step; read what is published.
     * - `errc::foreign_data`: the existing data was not published by this recipe.
     * - `zk_errc::no_auth`, `errc::not_connected`, `zk_errc::not_read_only`, `errc::closed`.
     *
     * @cancellation All types: completes at once with `boost::asio::error::operation_aborted`;
     * publishing is completed in the background, also after a deadline, so that neither leaves an
     * incomplete version.
     */
    template <class Token = default_token>
    auto publish(configuration_parts parts, Token&& token = Token{}) {
        return publish_for(std::move(parts), time_limit::for_ever(), std::forward<Token>(token));
    }

    /** @brief Same as above, with a time limit (`errc::deadline_exceeded`, see `time_limit`). */
    template <class Token = default_token>
    auto publish_for(configuration_parts parts, time_limit limit, Token&& token = Token{}) {
        return initiate<&start_publish>(
            "configuration.publish", std::forward<Token>(token), std::move(parts), limit);
    }

    /** @brief Same as above, with a deadline. */
    template <class Token = default_token>
    auto publish_until(configuration_parts parts, time_point deadline, Token&& token = Token{}) {
        return publish_for(std::move(parts), deadline, std::forward<Token>(token));
    }

protected:
    basic_configuration(const client& c,
                        std::string path,
                        configuration_options options,
                        bool versioned);

private:
    static void start_next(const impl_ptr&, std::uint64_t seen, handler_of<configuration_version>);
    static void start_publish(const impl_ptr&, configuration_parts parts, time_limit, handler_of<>);
};

/**
 * @brief A configuration of several nodes with fixed names, guarded by a node `ready`.
 *
 * A writer deletes `ready`, changes the parts, and creates `ready` again. Readers read while it
 * exists, and read again if it is a different node afterwards. So there is no version to read while
 * a writer is publishing, and a writer that dies leaves `configuration_status::broken` until a
 * version is published again.
 *
 * @origin Configuration with a `ready` node in the ZooKeeper paper.
 */
class COROZK_DECL ready_configuration : public basic_configuration {
public:
    ready_configuration() noexcept = default;
    ready_configuration(const client& c,
                        std::string path,
                        configuration_options options = configuration_options())
        : basic_configuration(c, std::move(path), std::move(options), false) {}
};

/**
 * @brief A configuration of several nodes, each version below a separate parent.
 *
 * A version is written next to the current one, with any number of requests, and becomes current in
 * one transaction, so that readers always have a version to read. The next writer deletes what dead
 * writers left, and old versions (see `configuration_options::keep`).
 *
 * Below the path are `versions`, and `current`, whose data is the name of the current version's
 * parent.
 */
class COROZK_DECL versioned_configuration : public basic_configuration {
public:
    versioned_configuration() noexcept = default;
    versioned_configuration(const client& c,
                            std::string path,
                            configuration_options options = configuration_options())
        : basic_configuration(c, std::move(path), std::move(options), true) {}
};

}  // namespace corozk
