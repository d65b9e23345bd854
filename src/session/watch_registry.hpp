// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/watch_node.hpp"
#include <corozk/error.hpp>

#include <boost/intrusive/list.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corozk::detail {

/// Watches that one request sets again, by kind.
struct watch_batch {
    std::int64_t since = 0;       ///< a transaction; the server reports what has changed after it
    bool of_a_reconnect = false;  ///< one of those for all watches
    std::array<std::vector<std::string>, 3> paths;
};

/// How far the watches have been set again after a reconnect.
struct watch_position {
    std::size_t kind = 0;
    std::string path;
};

/// The watches of a session.
struct watch_tables {
    using waiters = boost::intrusive::list<watch_node, boost::intrusive::constant_time_size<false>>;

    struct entry {
        waiters nodes;
        watch_state state;

        /// The last transaction when the watch was set: later changes have not been reported.
        std::int64_t since = 0;
    };

    // Not a hash table, which would block the loop for milliseconds when it grows.
    using map = std::map<std::string, entry, std::less<>>;

    map& of(watch_kind kind) noexcept { return maps[static_cast<std::size_t>(kind)]; }
    const map& of(watch_kind kind) const noexcept { return maps[static_cast<std::size_t>(kind)]; }

    std::size_t size() const noexcept { return maps[0].size() + maps[1].size() + maps[2].size(); }

    std::array<map, 3> maps;

    /// Those that the server has forgotten on this connection; may contain removed ones.
    std::deque<std::pair<watch_kind, std::string>> forgotten;

    /// Whether the server has these watches: not after the end of the session.
    bool current = true;
};

/// The watches of a session and their waiters. An entry exists as long as the server has the watch,
/// even without waiters.
///
/// After a reconnect the server has none of them, and all are set again before any other request but
/// the credentials: so a response never shows a change before it was reported. The server reports
/// what has changed since the last transaction that it has reported on earlier connections; as long
/// as it has not confirmed all watches, that remains the one from which it starts.
///
/// Operations on all watches are done in pieces, so that they do not block the loop.
class watch_registry {
public:
    /// The server has set the watch; `node` may be null.
    /// @param zxid the last transaction that it had seen
    void armed(watch_kind kind, const std::string& path, std::int64_t zxid, watch_node* node);

    /// The server's watch fired, or was removed. @return the number of notified waiters
    std::size_t fire(watch_kind kind, std::string_view path, watch_event_type type);

    /// Fires all that an event of this type concerns.
    void fire(std::string_view path, watch_event_type type);

    /// There will be no more events: disarms all watches; `notify_dropped` notifies their waiters.
    void drop_all(const error_code& reason);

    /// Notifies about `count` dropped waiters.
    void notify_dropped(std::size_t count);

    /// Whether there are dropped waiters to notify.
    bool notifying() const noexcept { return !dropped_.empty(); }

    bool has_waiters(watch_kind kind, const std::string& path) const;

    bool contains(watch_kind kind, const std::string& path) const;

    /// The server does not have the watch, and there is no waiter.
    void forget(watch_kind kind, const std::string& path);

    /// There is a new connection: all are to be set again.
    /// @param last_zxid the last transaction that was reported on earlier connections
    void connected(std::int64_t last_zxid);

    /// The server may have forgotten the watch on this connection: it is to be set again.
    /// @param since  not later than from this transaction
    void set_again(watch_kind kind,
                   const std::string& path,
                   std::int64_t since = std::numeric_limits<std::int64_t>::max());

    /// Whether `take_unset` may return a batch.
    bool has_unset() const noexcept { return resuming_ || !tables_->forgotten.empty(); }

    /// The next watches to be set again, of at most `bytes` unless it is only one. Forgets entries
    /// without waiters.
    std::optional<watch_batch> take_unset(std::size_t bytes);

    /// The response to the request for such a batch.
    void were_set(const watch_batch& batch, const error_code& ec);

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
    void collect_all(watch_batch& batch, std::size_t bytes);
    void collect_forgotten(watch_batch& batch, std::size_t bytes);
    void was_set(watch_kind kind, const std::string& path);

    std::unique_ptr<watch_tables> tables_ = std::make_unique<watch_tables>();
    std::optional<watch_position> resuming_;
    std::int64_t since_ = 0;       ///< for all watches, after a reconnect
    std::size_t unconfirmed_ = 0;  ///< of these batches
    bool failed_ = false;          ///< one of them, since the reconnect
    std::deque<dropped_tables> dropped_;
};

}  // namespace corozk::detail
