// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/local_copy.hpp"
#include "driver/port.hpp"
#include "node_map/node_map_editor.hpp"
#include "operation/name_list.hpp"
#include "operation/persistent_watch_node.hpp"
#include "recipe/cache/cache_states.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include "recipe/toolkit/retry.hpp"
#include <corozk/recipe/cache.hpp>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::detail {

/// A copy of a subtree.
///
/// Where events come from is the only difference between the two forms of the copy:
///   - One recursive watch on the root, set before anything is read. Its events name the node, so a
///     deleted one is removed without a request, and a created one is read alone: its children
///     have events of their own. It also reports that the root was created.
///   - One-shot watches, each armed by the request that reads, where the servers have no recursive
///     ones, or for a single node. A missing root has a watch for its creation.
/// What holds:
///   1. A node of the copy equals the server's, or is marked to be read again, or is being read.
///   2. Events arrive before the responses that show them, and responses are applied in the order
///      in which they arrive among the events. So a listing, or a stat without children, is what
///      the events that follow change. A response for an entry that has been removed since is not
///      applied, even if there is a new one with the same path.
///   3. Nodes are read in rounds, each of which ends with a new state for the user: nodes that are
///      marked during a round (`stale_`) belong to the next one, nodes that listings of a round
///      find belong to it (`round_.entries`).
///   4. After each connect, and when events may have been missed, everything is read again after a
///      sync, as the server or the session may be another one; until then there is no new state.
///   5. Descendants of what may not be read, is filtered out, or is at the largest depth do not
///      exist here, whatever events say.
///   6. A root that may not be read is an error, not a state: each `next` tries again.
///   7. Servers withhold events of nodes that this client may not read. So the children of the
///      parent of such a node have a one-shot watch, too: a listing shows whether the node exists.
///   8. No step takes long, however many nodes there are. What concerns many is done in pieces by
///      the driver, between which events are applied: a listing is compared with the copy
///      (`round_.listings`), and the descendants of a node that is gone are removed
///      (`round_.doomed`). What was added since such work began is not affected
///      (`entry::since`), and a round does not end before it is done.
///   9. A response that is too large costs the connection. So what had one is as what may not be read,
///      and only looked at (`exists`) after a connect: it is read again after an event or if its data
///      was written since it was last looked at, and the root for a `next`. So data that was not seen
///      before is read twice: it may have been written between the response and the first look.
class cache_core final : public recipe_core, public std::enable_shared_from_this<cache_core> {
public:
    /// `depth`: the levels below the root to copy. `names`: keys are relative to the root.
    cache_core(port& p, std::string root, std::size_t depth, bool names, cache_options options);

    void start();
    void stop() noexcept override;

    /// Completes with a state that differs from `call.seen`.
    void next(cache_states::call_type call);
    const tree_state& current() const noexcept { return states_.latest(); }

    signal& wake() noexcept { return wake_; }
    bool path_is_good() const { return node_path_is_good(port_, "cache", scope_.root); }

private:
    /// How many nodes are dealt with before other things are done.
    static constexpr std::size_t piece_of_work = 64;

    struct entry;
    using entry_ptr = boost::intrusive_ptr<entry>;

    class tree_watch final : public persistent_watch_node {
    public:
        explicit tree_watch(cache_core& owner) noexcept : owner_(owner) {}

    private:
        void changed(watch_event_type type, const std::string& path) noexcept override {
            owner_.changed(type, path);
        }
        void interrupted() noexcept override { owner_.read_all_again(); }
        void dropped(const error_code& reason) noexcept override {
            owner_.one_shot_ = reason == zk_errc::unimplemented;
            owner_.read_all_again();
        }
        cache_core& owner_;
    };

    class entry_watch final : public watch_node {
    public:
        entry_watch(cache_core& owner, entry& e) noexcept : owner_(owner), entry_(e) {}

    private:
        void fired(watch_event_type) noexcept override { owner_.mark(entry_); }
        void dropped(const error_code&) noexcept override { owner_.mark(entry_); }
        cache_core& owner_;
        entry& entry_;
    };

    struct one_shot_watches {
        one_shot_watches(cache_core& owner, entry& e) noexcept
            : data(owner, e), children(owner, e) {}
        entry_watch data;
        entry_watch children;
    };

    /// What is known of a node besides its data, which is in `nodes_`.
    struct entry : boost::intrusive_ref_counter<entry, boost::thread_unsafe_counter> {
        entry(std::string path_, std::size_t level_, std::uint64_t since_)
            : path(std::move(path_)), level(level_), since(since_) {}
        const std::string path;
        const std::size_t level;
        std::uint64_t since;  ///< when it was created, as far as known: a value of `clock_`
        bool present = false;
        bool unread = false;     ///< may not be read: at most its stat is known
        bool too_large = false;  ///< the same, but for its size: see 9
        bool stale = false;
        bool listed = false;   ///< its children were complete once, and events keep them so
        bool removed = false;  ///< not in the copy any more
        std::unique_ptr<one_shot_watches> watches;  ///< null: only the recursive one
    };

    /// A node's children, to be compared with the copy in the order of their names.
    struct listing {
        listing(entry_ptr of_, name_list names_, std::uint64_t since_)
            : of(std::move(of_)), names(std::move(names_)), since(since_) {}
        entry_ptr of;
        name_list names;
        std::vector<std::uint32_t> heap;  ///< names to be compared, the first in front
        std::size_t heaped = 0;           ///< how many names have been put there
        std::uint64_t since;              ///< newer nodes need not be listed
        bool compared = false;            ///< whether there were children: some may be gone
        std::string last;                 ///< the path compared last
    };

    /// The nodes below one that is gone.
    struct doomed_branch {
        std::string prefix;   ///< of their paths
        std::uint64_t since;  ///< newer ones are others
        std::string last;     ///< the path looked at last
    };

    enum class progress : bool { unfinished, finished };

    struct reading;

    static task<> run(std::shared_ptr<cache_core> self);
    task<> work();
    task<error_code> watch_tree();

    // Events.
    void changed(watch_event_type type, const std::string& path) noexcept;
    void appear(const std::string& path);
    void read_all_again() noexcept;
    void mark(entry& e) noexcept;
    void mark_stale(entry& e) noexcept;
    void note_change() noexcept;

    // Reading.
    task<> read_some();
    task<> settle(reading& r);
    task<> settle_children(reading& r);
    void adopt(reading& r, name_list names);
    void cannot_read(entry& e, error_code ec);
    std::unique_ptr<reading> look(const std::string& path);
    task<> settle_look(reading& r);
    bool has_answer(const reading& r, error_code& ec);
    void read_again(entry& e);
    task<> mark_all();
    void begin_round();
    void end_round();
    bool has_work() const noexcept {
        return !round_.entries.empty() || !round_.listings.empty() || !round_.doomed.empty();
    }
    bool prepare_reads();

    // The copy.
    bool selects(const std::string& path) const;
    entry* find(std::string_view path);
    entry& add(std::string path, std::size_t level);
    void show(entry& e, node_data node);
    const corozk::stat& stat_of(const entry& e) const;
    bool shows_data(const entry& e) const;
    bool is_shown(const entry& e) const noexcept;
    std::string_view key_of(const entry& e) const noexcept;
    void remove(entry& e);
    void remove_missing(entry& e);
    std::size_t remove_below(const entry& e);
    progress remove_some(doomed_branch& branch, std::size_t count);
    bool is_doomed(const entry& e) const noexcept;
    progress adopt_some(listing& l, std::size_t count);
    progress remove_unlisted(listing& l, std::string_view before, std::size_t& count);
    bool has_descendants(const entry& e) const;
    void give_watches(entry& e);
    void forget_watches(entry& e);
    task<> forget_all();

    void publish();

    signal wake_;
    const struct {
        std::string root;
        std::size_t depth;  ///< the levels below the root
        bool names;         ///< keys are relative to the root
    } scope_;
    cache_options options_;

    std::map<std::string_view, entry_ptr> entries_;  ///< by their own paths
    node_map_editor nodes_;                          ///< what the next state shows
    corozk::stat root_stat_;                         ///< where the states do not show the root
    std::deque<entry_ptr> stale_;

    /// What this round has yet to do.
    struct {
        std::deque<entry_ptr> entries;      ///< to be read
        std::deque<listing> listings;       ///< to be compared
        std::vector<doomed_branch> doomed;  ///< to be removed
    } round_;
    std::uint64_t clock_ = 0;  ///< counts what `entry::since` is compared with
    tree_watch watch_;
    bool one_shot_;                   ///< instead of the recursive watch
    std::optional<local_copy> copy_;  ///< while the driver runs
    bool changed_ = true;             ///< since the last publication
    bool behind_ = true;              ///< everything must be read again
    error_code refusal_;              ///< why the root cannot be read
    cache_states states_;
};

}  // namespace corozk::detail
