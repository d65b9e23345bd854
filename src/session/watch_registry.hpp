// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/watch_node.hpp"
#include <corozk/types.hpp>

#include <boost/intrusive/list.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corozk::detail {

/// Whether what is watched has changed since the watch was set.
struct watched_version {
    watched_version(std::int64_t zxid_ = 0, std::int32_t num_children_ = 0) noexcept
        : zxid(zxid_), num_children(num_children_) {}

    std::int64_t zxid;  ///< of the last change of the data, or of the children

    /// ClickHouse Keeper counts no deletion as a change of the children.
    std::int32_t num_children;

    friend bool operator==(const watched_version&, const watched_version&) = default;
};

watched_version version_for(watch_kind kind, const stat& node) noexcept;

/// The watches of a session.
struct watch_tables {
    using waiters = boost::intrusive::list<watch_node, boost::intrusive::constant_time_size<false>>;

    struct entry {
        waiters nodes;
        watch_state state;

        /// Of the node when the watch was set.
        watched_version version;

        /// Whether it is in the C client's tables, and so in its SetWatches packet. Otherwise it is
        /// to be set again, or a persistent watch serves it.
        bool in_c_client = false;
    };

    // Not a hash table, which would block the loop for milliseconds when it grows.
    using map = std::map<std::string, entry, std::less<>>;

    map& of(watch_kind kind) noexcept { return maps[static_cast<std::size_t>(kind)]; }
    const map& of(watch_kind kind) const noexcept { return maps[static_cast<std::size_t>(kind)]; }

    std::size_t size() const noexcept { return maps[0].size() + maps[1].size() + maps[2].size(); }

    std::array<map, 3> maps;

    /// The watches to be set again after the reconnect; may contain removed ones.
    std::deque<std::pair<watch_kind, std::string>> detached;

    /// Whether the server has these watches: not after the end of the session.
    bool current = true;
};

/// The watches of a session and their waiters.
///
/// The C client has a single watcher for all watches, as it would block for seconds at each
/// disconnect with one context per watch. It only knows the watched paths; the waiters are here. An
/// entry exists as long as the server or the C client has the watch, even without waiters.
///
/// Operations on all watches are done in pieces, so that they do not block the loop.
class watch_registry {
public:
    /// A watch that is not in the C client's tables and must be set again after a reconnect.
    struct surplus {
        surplus() = default;
        surplus(watch_kind kind_, std::string path_, watched_version version_)
            : kind(kind_), path(std::move(path_)), version(version_) {}
        watch_kind kind = watch_kind::data;
        std::string path;
        watched_version version;
    };

    /// The server has set the watch; `node` may be null.
    /// @param in_c_client false if it is to be set again
    void armed(watch_kind kind,
               const std::string& path,
               watched_version version,
               watch_node* node,
               bool in_c_client = true);

    /// The server's watch fired, or was removed. @return the number of notified waiters
    std::size_t fire(watch_kind kind, std::string_view path, watch_event_type type);

    /// Fires all that an event of this type concerns.
    /// @param detached only those that are not in the C client's tables
    void fire(std::string_view path, watch_event_type type, bool detached = false);

    /// There will be no more events: disarms all watches; `notify_dropped` notifies their waiters.
    void drop_all(const error_code& reason);

    /// Notifies about `count` dropped waiters, and calls `forget` for each path in the C client's
    /// tables.
    void notify_dropped(std::size_t count, const std::function<void(const std::string&)>& forget);

    /// Whether there are dropped waiters to notify.
    bool notifying() const noexcept { return !dropped_.empty(); }

    /// The number of their paths.
    std::size_t unnotified() const noexcept;

    bool has_waiters(watch_kind kind, const std::string& path) const;

    bool contains(watch_kind kind, const std::string& path) const;

    /// Neither the server nor the C client has the watch, and there is no waiter.
    void forget(watch_kind kind, const std::string& path);

    /// Detaches watches from the C client until the rest fits into `bytes`.
    /// @return their paths, at most `count`; the owner removes each from the C client's tables
    std::vector<std::string> detach_surplus(std::size_t bytes, std::size_t count);

    /// The C client forgets the watches of a path, which are set again.
    void detach(const std::string& path);

    /// Those that the C client does not know already are set again.
    void set_detached_again(const std::string& path);

    /// Setting the watch again has failed: try after the next reconnect.
    void detach_again(watch_kind kind, const std::string& path);

    /// The next detached watch with waiters, each only once. Forgets entries without waiters.
    std::optional<surplus> take_detached();

    /// Whether `take_detached` may return a watch.
    bool has_detached() const noexcept { return !tables_->detached.empty(); }

    /// The size of the paths in the C client's SetWatches packet.
    std::size_t c_client_bytes() const noexcept { return c_client_bytes_; }

    std::size_t size() const noexcept { return tables_->size(); }

private:
    using map = watch_tables::map;
    using entry = watch_tables::entry;

    struct dropped_tables {
        std::unique_ptr<watch_tables> tables;
        error_code reason;
    };

    map& of(watch_kind kind) noexcept { return tables_->of(kind); }
    const map& of(watch_kind kind) const noexcept { return std::as_const(*tables_).of(kind); }
    static std::size_t notify(watch_tables::waiters nodes, watch_event_type type);
    void release_bytes(const entry& e, const std::string& path) noexcept;

    std::unique_ptr<watch_tables> tables_ = std::make_unique<watch_tables>();
    std::size_t c_client_bytes_ = 0;

    // Where `detach_surplus` continues.
    std::size_t next_kind_ = 0;
    std::string next_path_;

    std::deque<dropped_tables> dropped_;
};

}  // namespace corozk::detail
