// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/detail/recipe/recipe_object.hpp>
#include <corozk/node_map.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace corozk {

namespace detail {
class cache_core;
}

/** @brief The state of a `node_cache`. */
struct node_state {
    node_state() = default;
    std::uint64_t revision = 0;  ///< Incremented by every change; 0: not read yet.
    bool exists = false;         ///< Whether the node exists.
    std::string data;            ///< The node's data.
    corozk::stat stat;           ///< The node's metadata.
};

/** @brief The state of a `children_cache` or `tree_cache`. Cheap to copy. */
struct tree_state {
    tree_state() = default;
    std::uint64_t revision = 0;  ///< Incremented by every change; 0: not read yet.
    bool exists = false;         ///< Whether the root of the cache exists.

    /// By path (tree) or by name (children). Null before the first revision. Shares unchanged nodes
    /// with other states, and can be read and destroyed in any thread.
    std::shared_ptr<const node_map> nodes;
};

/** @brief Options of caches. `filter` and `one_shot_watches` do not concern a `node_cache`. */
struct cache_options {
    cache_options() = default;

    /// Called with the path of each descendant, on the client's executor. If it returns false, the
    /// node and its descendants are neither read nor watched. Must always return the same for a
    /// path, and must not throw. Empty: all nodes are cached.
    std::function<bool(std::string_view path)> filter;

    /// Two one-shot watches per node, even if the servers have recursive watches. These also send
    /// events of descendants that are not cached, below the children or left out by `filter`: if
    /// they change often, one-shot watches cost less.
    bool one_shot_watches = false;

    /// Whether states contain the nodes' data. Without it, the names of a node's children are read
    /// in place of its data; with one-shot watches the data is read and discarded. This saves data,
    /// not requests: each node is still read, even if only its data changed.
    bool data = true;

    /// `next` completes once no further revision has followed for this long, at most ten times as
    /// long after the first unreported one: so several changes are reported together. `current`
    /// does not wait, and neither do operations that read their own writes.
    std::chrono::milliseconds settle{0};
};

/**
 * @brief Base of the caches: local copies of nodes that are updated by watches.
 *
 * `children_cache` and `tree_cache` have one recursive watch at the server, whatever their size,
 * and read only the nodes that events name. Servers before ZooKeeper 3.6 do not have that; there,
 * and in a `node_cache`, each node has one-shot watches.
 *
 * A cache starts reading when it is constructed. `next` waits for a state that differs from one
 * seen before (and, with `cache_options::settle`, until nothing changes); intermediate states may
 * be skipped, the latest never is. After every reconnect and in every new session everything is
 * read again after a `sync`, so that states never revert to older ones and no change is missed. The
 * cache eventually equals the state of the servers.
 *
 * States are consistent per node; simultaneous changes of several nodes may appear one after the
 * other (see `configuration` for data that must change together).
 *
 * States never change, and share what they have in common (`node_map`): a change costs O(log n)
 * time and memory for n nodes. Filling a cache, reading it again after a reconnect, and destroying
 * it are split into chunks, so that they never block the event loop for long; the same holds for
 * the last state, if it is destroyed in the thread of the event loop before the client.
 *
 * A change by the cache's own client is visible when it completes (see `client`), and `next`
 * returns no earlier state afterwards.
 *
 * A node below the root that the client may not read appears without data and children. As the
 * server sends no watch events for it, changes are detected only after the next reconnect. With a
 * recursive watch, the same holds for its creation, unless the cache already knows another
 * unreadable child of that parent. A node below the root whose data or list of children exceeds
 * 64 MiB, or which has more than 2,000,000 children, appears in the same way, and is read again when
 * an event reports a change of it, or when its data may have changed during an outage: each such
 * response costs the connection, and one for data that the cache has not seen before costs it twice.
 *
 * A recursive watch reports changes of data, creations and deletions, but not that a node's
 * children have changed. So `num_children`, `cversion` and `pzxid` in the stat of a node above the
 * largest depth are as of the last read: initially, after a data change, or after a reconnect. With
 * one-shot watches they are up to date. For a node at the largest depth (in a `node_cache`: the
 * node itself) neither kind of watch keeps them up to date. The set of nodes and their names are
 * correct with both kinds.
 *
 * @errors `zk_errc::no_auth`: the root may not be read; `errc::too_large`: its data or list of
 * children exceeds 64 MiB, or it has more than 2,000,000 children. `current` keeps the last state,
 * and each `next` tries again. `errc::closed`. Loss of the connection or the session is not an error.
 *
 * @cancellation All types: completes at once with `boost::asio::error::operation_aborted`; a later
 * `next` still returns the state.
 *
 * @executor As `client`. The destructor removes the watches.
 *
 * @origin Curator's caches; CURATOR-328, CURATOR-391, CURATOR-476, CURATOR-690, ZOOKEEPER-1416:
 * events that were missed.
 */
class COROZK_DECL basic_cache : public detail::recipe_object<detail::cache_core> {
public:
    basic_cache() noexcept = default;

protected:
    basic_cache(const client& c,
                std::string path,
                std::size_t depth,
                bool names,
                cache_options options = cache_options());

    static void start_next(const impl_ptr&, std::uint64_t seen, handler_of<tree_state>);
    static void start_next(const impl_ptr&, std::uint64_t seen, handler_of<node_state>);
    void read(tree_state& latest) const;
    void read(node_state& latest) const;
};

/** @brief A cache with states of one type, `node_state` or `tree_state`. */
template <class State>
class cache_of : public basic_cache {
public:
    /** @brief The latest state. */
    State current() const {
        State latest;
        read(latest);
        return latest;
    }

    /**
     * @brief Waits until the state differs from the one passed: `s = co_await cache.next(s)`.
     *
     * @completes `void(error_code, State)`
     */
    template <class Token = default_token>
    auto next(const State& seen, Token&& token = Token{}) {
        return next_of("cache.next", seen, std::forward<Token>(token));
    }

    /** @brief Same as above, for the first state. */
    template <detail::token_not<State> Token = default_token>
    auto next(Token&& token = Token{}) {
        return next(State(), std::forward<Token>(token));
    }

protected:
    using basic_cache::basic_cache;

private:
    friend class configuration;

    /// `next`, with this name in errors and spans.
    template <class Token>
    auto next_of(const char* operation, const State& seen, Token&& token) {
        return initiate<&start>(operation, std::forward<Token>(token), seen.revision);
    }

    static void start(const impl_ptr& impl, std::uint64_t seen, handler_of<State> handler) {
        start_next(impl, seen, std::move(handler));
    }
};

/** @brief A cache of a single node, which need not exist. */
class COROZK_DECL node_cache : public cache_of<node_state> {
public:
    node_cache() noexcept = default;
    node_cache(const client& c, std::string path, cache_options options = cache_options())
        : cache_of(c, std::move(path), 0, true, std::move(options)) {}
};

/** @brief A cache of a node's children and their data, by name. */
class COROZK_DECL children_cache : public cache_of<tree_state> {
public:
    children_cache() noexcept = default;
    children_cache(const client& c, std::string path, cache_options options = cache_options())
        : cache_of(c, std::move(path), 1, true, std::move(options)) {}
};

/** @brief A cache of a node and its descendants, by path. */
class COROZK_DECL tree_cache : public cache_of<tree_state> {
public:
    /// All levels.
    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

    tree_cache() noexcept = default;

    /** @param depth the number of levels below the root to cache */
    tree_cache(const client& c,
               std::string path,
               std::size_t depth = unlimited,
               cache_options options = cache_options())
        : cache_of(c, std::move(path), depth, false, std::move(options)) {}
};

}  // namespace corozk
