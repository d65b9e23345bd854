// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/export.hpp>
#include <corozk/detail/initiate.hpp>
#include <corozk/detail/recipe_object.hpp>
#include <corozk/error.hpp>
#include <corozk/recipe/cache.hpp>
#include <corozk/types.hpp>

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
enum class configuration_layout : std::uint8_t;
}  // namespace detail

/**
 * @brief A configuration that fits into one znode: an awaitable stream of its values.
 *
 * `next` gives the latest value that differs from the one seen before; none is older than one that
 * was given out before, reconnects included, and deletion is visible (`node_state::exists`).
 * Errors, cancellation, thread safety and lifetime of `next` are those of `basic_cache`.
 *
 * Where it comes from: "Configuration" of the recipes page; bug catalogue C2, C3.
 */
class COROZK_DECL configuration : public detail::recipe_object<detail::configuration_writer> {
public:
    configuration() noexcept = default;
    configuration(const client& c, std::string path, corozk::acl acl = corozk::acl());

    /** @brief The latest value; revision 0 if none is known yet. */
    node_state current() const { return cache_.current(); }

    /** @brief As `node_cache::next`. */
    template <class Token = default_token>
    auto next(std::uint64_t seen, Token&& token = Token{}) {
        return cache_.next(seen, std::forward<Token>(token));
    }

    /** @brief Same as `next(0)`. */
    template <detail::token_not<std::uint64_t> Token = default_token>
    auto next(Token&& token = Token{}) {
        return next(0, std::forward<Token>(token));
    }

    /**
     * @brief Writes a value; creates the node and its parents if they are missing.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * `errc::too_large`; `zk_errc::connection_loss` if the answer was lost and others wrote before
     * we could look: a value that was overwritten is not written again.
     *
     * @par Cancellation
     * All types: completes at once with `operation_aborted`; what was sent may be carried out.
     */
    template <class Token = default_token>
    auto publish(std::string data, Token&& token = Token{}) {
        return initiate<&start_publish>(
            "configuration.publish", std::forward<Token>(token), std::move(data));
    }

private:
    static void start_publish(const impl_ptr&, std::string data, handler_of<>);

    node_cache cache_;
};

/** @brief The parts of a configuration: name to data. */
using configuration_parts = std::map<std::string, std::string>;

/** @brief What a reader sees of a configuration of several parts. */
enum class configuration_status : std::uint8_t {
    absent,     ///< never published, or removed
    published,  ///< `parts` is one whole version
    broken,     ///< a writer died half-way, or parts were erased; publish again to take over
};

/** @brief One state in a stream of versions. Cheap to copy. */
struct configuration_version {
    configuration_version() = default;
    std::uint64_t revision = 0;  ///< of the stream; 0: nothing is known yet
    configuration_status status = configuration_status::absent;  ///< Whether there is one.
    std::int64_t number = 0;  ///< grows with each version that is published: a zxid
    std::shared_ptr<const configuration_parts> parts;  ///< null unless published
};

/** @brief How a configuration of several parts is stored. */
struct configuration_options {
    configuration_options() = default;

    /// `versioned_configuration`: how many old versions are kept beside the current one, for
    /// readers that are still reading them.
    std::size_t keep = 1;

    /// Of all nodes. Empty: open.
    corozk::acl acl;
};

/**
 * @brief What the two configurations of several parts have in common.
 *
 * Readers always get one whole version, never parts of two. Any number of `next` may wait.
 *
 * What the own client has published is shown when `publish` completes (see `client`), and `next`
 * gives no version from before it; but where yet another writer has begun meanwhile,
 * `ready_configuration` shows the version that was read before, until that one is done.
 *
 * @par Thread safety
 * Distinct objects: safe. Shared objects: unsafe; use it on the client's executor.
 *
 * @par Lifetime
 * May be destroyed in any state, before or after the client: what waits completes with
 * `operation_aborted`; a publication that has begun is finished in the background.
 */
class COROZK_DECL basic_configuration : public detail::recipe_object<detail::configuration_core> {
public:
    basic_configuration() noexcept = default;

    /**
     * @brief The latest version; revision 0 if none is known yet. Follows the changes of others
     *        from the first `next` on; what this object has published is shown in any case.
     */
    configuration_version current() const;

    /**
     * @brief Waits for a state with another revision than the one seen before (0: any).
     *
     * The latest wins; while a writer is at work the version before stays current. Lost connections
     * and sessions are no errors; afterwards everything is looked at again, behind a `sync`.
     *
     * @par Completion signature
     * `void(error_code, configuration_version)`; `errc::closed`, or what the server answers to a
     * reader that may not read.
     *
     * @par Cancellation
     * All types: completes at once with `operation_aborted`; no state is lost to a later `next`.
     */
    template <class Token = default_token>
    auto next(std::uint64_t seen, Token&& token = Token{}) {
        return initiate<&start_next>("configuration.next", std::forward<Token>(token), seen);
    }

    /** @brief Same as `next(0)`. */
    template <detail::token_not<std::uint64_t> Token = default_token>
    auto next(Token&& token = Token{}) {
        return next(0, std::forward<Token>(token));
    }

    /**
     * @brief Replaces the whole by these parts. Parts that are not named are removed.
     *
     * @par Completion signature
     * `void(error_code)`
     *
     * @par Errors
     * - `errc::busy`: another writer is at work, or was faster; nothing was published.
     * - `errc::bad_path`: a part's name cannot be a node's, or is one that the layout uses.
     * - `errc::too_large`: a part does not fit into one request. (The whole may be of any size.)
     * - `zk_errc::session_expired`, `errc::ownership_lost`: given up half-way. Publish again.
     * - `zk_errc::connection_loss`: the session was lost at the last step: look what is published.
     *
     * @par Cancellation
     * All types: completes at once with `operation_aborted`; what has begun is finished in the
     * background, so that cancelling never leaves half a version.
     */
    template <class Token = default_token>
    auto publish(configuration_parts parts, Token&& token = Token{}) {
        return initiate<&start_publish>(
            "configuration.publish", std::forward<Token>(token), std::move(parts));
    }

protected:
    basic_configuration(const client& c,
                        std::string path,
                        configuration_options options,
                        detail::configuration_layout layout);

private:
    static void start_next(const impl_ptr&, std::uint64_t seen, handler_of<configuration_version>);
    static void start_publish(const impl_ptr&, configuration_parts parts, handler_of<>);
};

/**
 * @brief Several znodes that are published together behind a znode `ready`.
 *
 * The parts are children of the path, with fixed names. A writer takes `ready` away, changes them,
 * and creates it again; readers read only while it is there, and start again if it is not the same
 * one afterwards. So there is no version to read while a writer is at work, and a writer that dies
 * half-way leaves none: `configuration_status::broken`, until somebody publishes again.
 *
 * Where it comes from: the configuration of the notes on the ZooKeeper paper; bug catalogue C6.
 */
class COROZK_DECL ready_configuration : public basic_configuration {
public:
    ready_configuration() noexcept = default;
    ready_configuration(const client& c,
                        std::string path,
                        configuration_options options = configuration_options());
};

/**
 * @brief Several znodes in a folder that is never changed; a pointer is switched to the next one.
 *
 * A version is written beside the current one, in as many requests as it takes, and becomes current
 * in one transaction. Readers always have a version to read, and what a dead writer leaves hurts
 * nobody: the next writer removes it. Old versions are removed, see `configuration_options::keep`.
 *
 * Below the path: `current`, whose data is the name of the folder, and `versions`.
 *
 * Where it comes from: bug catalogue C6.
 */
class COROZK_DECL versioned_configuration : public basic_configuration {
public:
    versioned_configuration() noexcept = default;
    versioned_configuration(const client& c,
                            std::string path,
                            configuration_options options = configuration_options());
};

}  // namespace corozk
