// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/watch_node.hpp"

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

/// What is watched in one session.
struct watch_tables {
    using waiters = boost::intrusive::list<watch_node, boost::intrusive::constant_time_size<false>>;

    struct entry {
        waiters nodes;

        /// What the node looked like when the watch was set: mzxid (data) or pzxid (children).
        std::int64_t zxid = 0;

        /// Whether the C client has it in its own tables, and thus in its SetWatches packet.
        bool in_c_client = false;
    };

    // Ordered: a hash table of this size stops the loop for milliseconds when it grows.
    using map = std::map<std::string, entry, std::less<>>;

    map& of(watch_kind kind) noexcept { return maps[static_cast<std::size_t>(kind)]; }
    const map& of(watch_kind kind) const noexcept { return maps[static_cast<std::size_t>(kind)]; }

    std::size_t size() const noexcept { return maps[0].size() + maps[1].size() + maps[2].size(); }

    std::array<map, 3> maps;

    /// What is to be set again after the reconnect; may name what has gone since.
    std::deque<std::pair<watch_kind, std::string>> detached;

    /// Whether the server watches; not after the end of the session.
    bool current = true;
};

/// The watches of a session and their waiters.
///
/// The C client is given one watcher for everything: with a context per watch it blocks for seconds
/// at each disconnect. It knows only which paths are watched; the waiters are here. An entry stays
/// while the server (or the C client) watches, even without waiters.
///
/// What concerns all watches at once is done in pieces, so that no number of watches stops the
/// loop.
class watch_registry {
public:
    /// A watch that the C client does not keep for us and that must be set again after a reconnect.
    struct surplus {
        surplus() = default;
        surplus(watch_kind kind_, std::string path_, std::int64_t zxid_)
            : kind(kind_), path(std::move(path_)), zxid(zxid_) {}
        watch_kind kind = watch_kind::data;
        std::string path;
        std::int64_t zxid = 0;
    };

    /// The server watches now; `node` may be null.
    void armed(watch_kind kind, const std::string& path, std::int64_t zxid, watch_node* node);

    /// The server's watch fired, or is known to be gone. @return how many waiters were notified.
    std::size_t fire(watch_kind kind, std::string_view path, watch_event_type type);

    /// No event will come any more: disarms all at once; `notify_dropped` notifies their waiters.
    void drop_all(const error_code& reason);

    /// Notifies about `count` waiters that were dropped, and calls `forget` for each path that the
    /// C client has.
    void notify_dropped(std::size_t count, const std::function<void(const std::string&)>& forget);

    /// Whether waiters are still to be notified.
    bool notifying() const noexcept { return !dropped_.empty(); }

    /// Of how many paths.
    std::size_t unnotified() const noexcept;

    bool has_waiters(watch_kind kind, const std::string& path) const;

    bool contains(watch_kind kind, const std::string& path) const;

    /// The server and the C client do not watch any more, and there is no waiter.
    void forget(watch_kind kind, const std::string& path);

    /// Marks watches as not kept by the C client until what it keeps fits into `bytes`.
    /// @return their paths, at most `count`; each has to be taken from the C client, too.
    std::vector<std::string> detach_surplus(std::size_t bytes, std::size_t count);

    /// Setting this one again did not work: once more after the next reconnect.
    void detach_again(watch_kind kind, const std::string& path);

    /// The next one that the C client does not keep and that has waiters; each only once. Entries
    /// without waiters are forgotten.
    std::optional<surplus> take_detached();

    /// Whether `take_detached` has something to give.
    bool has_detached() const noexcept { return !tables_->detached.empty(); }

    /// Bytes of the paths that the C client would put into one SetWatches packet.
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
    void release_bytes(const entry& e, const std::string& path) noexcept;
    void detach(const std::string& path);

    std::unique_ptr<watch_tables> tables_ = std::make_unique<watch_tables>();
    std::size_t c_client_bytes_ = 0;

    // Where `detach_surplus` goes on.
    std::size_t next_kind_ = 0;
    std::string next_path_;

    std::deque<dropped_tables> dropped_;
};

}  // namespace corozk::detail
