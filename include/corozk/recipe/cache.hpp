// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/export.hpp>
#include <corozk/detail/initiate.hpp>
#include <corozk/detail/recipe_object.hpp>
#include <corozk/error.hpp>
#include <corozk/types.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace corozk {

namespace detail {
class cache_core;
}

/** @brief A node as a `node_cache` saw it last. */
struct node_state {
    node_state() = default;
    std::uint64_t revision = 0;  ///< of the cache; 0: nothing is known yet
    bool exists = false;         ///< Whether the node is there.
    std::string data;            ///< The node's data.
    corozk::stat stat;           ///< The node's record.
};

/** @brief Several nodes as a `children_cache` or `tree_cache` saw them last. Cheap to copy. */
struct tree_state {
    tree_state() = default;
    std::uint64_t revision = 0;  ///< of the cache; 0: nothing is known yet
    bool exists = false;         ///< the root of the cache

    /// By path (tree) or by name (children). Null before the first revision.
    std::shared_ptr<const std::map<std::string, node_data>> nodes;
};

/**
 * @brief What the caches have in common: a local copy, kept up to date with one-shot watches.
 *
 * A cache begins to read when it is made. `next` waits for a state that differs from one seen
 * before; states that nobody asked for in between are skipped (the latest wins). After every
 * reconnect, and in every new session, everything is read again behind a `sync`: no state is older
 * than one that was given out before, and nothing that happened meanwhile is missed. When the
 * servers come to rest, so does the cache, with their very state.
 *
 * Each state was true, node by node; several nodes that change at about the same time may be seen
 * one after the other (see `configuration` for what must change together).
 *
 * A change by the cache's own client is shown when it completes (see `client`), and `next` gives no
 * state from before it.
 *
 * A node below the root that may not be read is there, without data and children. The server tells
 * nobody of changes of what he may not read: it is looked at again after the next reconnect.
 *
 * @par Errors of `next`
 * `zk_errc::no_auth`: the root may not be read; the state before it was forbidden remains
 * `current`, and each further `next` asks the server again. `errc::closed`. Lost connections and
 * sessions are no errors: the cache goes on.
 *
 * @par Cancellation of `next`
 * All types: completes at once with `operation_aborted`; no state is lost to a later `next`.
 *
 * @par Thread safety
 * Distinct objects: safe. Shared objects: unsafe; use it on the client's executor.
 *
 * @par Lifetime
 * May be destroyed in any state, before or after the client: `next` completes with
 * `operation_aborted`, and the watches are taken back.
 *
 * Where it comes from: Curator's caches and what went wrong there: CURATOR-391, -328, -476, -690,
 * ZOOKEEPER-1416 (bug catalogue M8, M9, M10).
 */
class COROZK_DECL basic_cache : public detail::recipe_object<detail::cache_core> {
public:
    basic_cache() noexcept = default;

protected:
    basic_cache(const client& c, std::string path, std::size_t depth, bool names);

    static void start_next(const impl_ptr&, std::uint64_t seen, handler_of<tree_state>);
    static void start_next_node(const impl_ptr&, std::uint64_t seen, handler_of<node_state>);
    tree_state current_tree() const;
};

/** @brief A cache of one node, which need not exist. */
class COROZK_DECL node_cache : public basic_cache {
public:
    node_cache() noexcept = default;
    node_cache(const client& c, std::string path) : basic_cache(c, std::move(path), 0, true) {}

    /** @brief The latest state. */
    node_state current() const;

    /**
     * @brief Waits for a state with another revision than the one seen before (0: any).
     *
     * @par Completion signature
     * `void(error_code, node_state)`
     */
    template <class Token = default_token>
    auto next(std::uint64_t seen, Token&& token = Token{}) {
        return initiate<&start_next_node>("node_cache.next", std::forward<Token>(token), seen);
    }

    /** @brief Same as `next(0)`. */
    template <detail::token_not<std::uint64_t> Token = default_token>
    auto next(Token&& token = Token{}) {
        return next(0, std::forward<Token>(token));
    }
};

/** @brief A cache of a node's children and their data, by name. */
class COROZK_DECL children_cache : public basic_cache {
public:
    children_cache() noexcept = default;
    children_cache(const client& c, std::string path) : basic_cache(c, std::move(path), 1, true) {}

    /** @brief The latest state. */
    tree_state current() const;

    /**
     * @brief Waits for a state with another revision than the one seen before (0: any).
     *
     * @par Completion signature
     * `void(error_code, tree_state)`
     */
    template <class Token = default_token>
    auto next(std::uint64_t seen, Token&& token = Token{}) {
        return initiate<&start_next>("children_cache.next", std::forward<Token>(token), seen);
    }

    /** @brief Same as `next(0)`. */
    template <detail::token_not<std::uint64_t> Token = default_token>
    auto next(Token&& token = Token{}) {
        return next(0, std::forward<Token>(token));
    }
};

/**
 * @brief A cache of a node and what is below it, by path.
 *
 * It holds two watches at the server for each node.
 */
class COROZK_DECL tree_cache : public basic_cache {
public:
    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();  ///< All.

    tree_cache() noexcept = default;

    /** @param depth how many levels below the root are copied */
    tree_cache(const client& c, std::string path, std::size_t depth = unlimited)
        : basic_cache(c, std::move(path), depth, false) {}

    /** @brief The latest state. */
    tree_state current() const { return current_tree(); }

    /**
     * @brief Waits for a state with another revision than the one seen before (0: any).
     *
     * @par Completion signature
     * `void(error_code, tree_state)`
     */
    template <class Token = default_token>
    auto next(std::uint64_t seen, Token&& token = Token{}) {
        return initiate<&start_next>("tree_cache.next", std::forward<Token>(token), seen);
    }

    /** @brief Same as `next(0)`. */
    template <detail::token_not<std::uint64_t> Token = default_token>
    auto next(Token&& token = Token{}) {
        return next(0, std::forward<Token>(token));
    }
};

}  // namespace corozk
