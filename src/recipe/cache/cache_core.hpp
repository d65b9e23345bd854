// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/local_copy.hpp"
#include "driver/port.hpp"
#include "recipe/toolkit/either_call.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include "recipe/toolkit/retry.hpp"
#include <corozk/recipe/cache.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace corozk::detail {

/// A copy of a subtree that is updated by one-shot watches.
///
/// Every node that is in the copy, or may become part of it, has a watch or is marked to be read
/// again. A watch is armed by the request that reads, so that no change in between is missed. Nodes
/// are read in rounds: nodes that are marked during a round (`stale_`) belong to the next one,
/// nodes that a round finds below those it reads belong to it (`round_`). After each connect
/// everything is read again after a sync, as the server or the session may be another one.
///   - A deleted node is removed with its descendants; its parent's watch reports its re-creation.
///   - The root has no parent here: if it does not exist, there is a watch for its creation.
///   - A root that may not be read is an error, not a state: each `next` tries again.
class cache_core final : public recipe_core, public std::enable_shared_from_this<cache_core> {
public:
    using nodes_map = std::map<std::string, node_data>;
    using nodes_ptr = std::shared_ptr<const nodes_map>;

    struct call_type {
        either_call<tree_state, node_state> result;
        std::uint64_t seen = 0;

        bool waiting() const { return result.waiting(); }
        void complete(const tree_state& state) {
            if (auto* tree = result.get<tree_state>()) {
                tree->complete(error_code(), state);
            } else {
                result.get<node_state>()->complete(error_code(), to_node(state));
            }
        }
    };

    /// For a cache of depth 0.
    static node_state to_node(const tree_state& state);

    /// `depth`: the levels below the root to copy. `names`: keys are relative to the root.
    cache_core(port& p, std::string root, std::size_t depth, bool names, cache_options options);

    void start();
    void stop() noexcept override;

    /// Completes with a state that differs from `call.seen`.
    void next(call_type call);
    tree_state current();

    signal& wake() noexcept { return wake_; }
    bool path_is_good() const { return node_path_is_good(port_, "cache", root_); }

private:
    struct entry;

    class entry_watch final : public watch_node {
    public:
        entry_watch(cache_core& owner, entry& e) noexcept : owner_(owner), entry_(e) {}

    private:
        void fired(watch_event_type) noexcept override { owner_.mark(entry_); }
        void dropped(const error_code&) noexcept override { owner_.mark(entry_); }
        cache_core& owner_;
        entry& entry_;
    };

    struct entry {
        entry(cache_core& owner, std::string path_, std::size_t level_)
            : path(std::move(path_)),
              level(level_),
              data_watch(owner, *this),
              children_watch(owner, *this) {}
        std::string path;
        std::size_t level;
        bool present = false;
        bool unread = false;  ///< may not be read: at most the stat of `node` is known
        bool stale = false;
        node_data node;
        std::set<std::string> children;
        entry_watch data_watch;
        entry_watch children_watch;
    };

    struct reading;

    static task<> run(std::shared_ptr<cache_core> self);
    task<> work();
    task<> read_some();
    task<> settle(reading& r);
    task<> watch_for_root();
    task<> watch_unreadable(std::string path);
    void mark(entry& e) noexcept;
    void read_again(entry& e);
    void mark_all();
    void begin_round();
    void end_round();
    bool selects(const std::string& path) const;
    void add(std::string path, std::size_t level);
    void remove(const std::string& path);
    void adopt_children(entry& e, std::set<std::string> names);
    void publish();
    void answer_calls();
    void fail_all(error_code ec);
    void forget_watches(entry& e);

    signal wake_;
    std::string root_;
    std::size_t depth_;
    bool names_;
    cache_options options_;
    bool running_ = false;

    std::map<std::string, std::unique_ptr<entry>> entries_;
    std::deque<std::string> stale_;
    std::deque<std::string> round_;
    std::optional<local_copy> copy_;  ///< while the driver runs
    bool changed_ = true;             ///< since the last publication
    bool resyncing_ = true;
    std::uint64_t revision_ = 0;
    nodes_ptr snapshot_;
    error_code refusal_;  ///< why the root cannot be read
    std::vector<call_type> calls_;
    bool exists_ = false;
    error_code ended_;
};

}  // namespace corozk::detail
