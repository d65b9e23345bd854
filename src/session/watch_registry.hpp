// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/watch_node.hpp"

#include <boost/intrusive/list.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace corozk::detail {

/// Who waits for which node of the server.
///
/// The C client is given one watcher for everything: with a context per watch it blocks for seconds
/// at each disconnect. What it knows of watches is only the set of watched paths; who waits is
/// known here. An entry stays while the server (or the C client) watches, even if nobody waits any
/// more.
class watch_registry {
public:
    using waiters = boost::intrusive::list<watch_node, boost::intrusive::constant_time_size<false>>;

    struct entry {
        waiters nodes;

        /// What the node looked like when the watch was set: mzxid (data) or pzxid (children).
        std::int64_t zxid = 0;

        /// Whether the C client has it in its own tables, and thus in its SetWatches packet.
        bool in_c_client = true;
    };

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

    /// The server's watch of these lists fired (or is known to be gone): tells all who wait.
    /// @return how many were told.
    std::size_t fire(watch_kind kind, std::string_view path, watch_event_type type);

    /// Tells everybody that nothing will come any more.
    void drop_all(const error_code& reason);

    /// Whether somebody waits for this node.
    bool has_waiters(watch_kind kind, const std::string& path) const;

    bool contains(watch_kind kind, const std::string& path) const;

    /// The server and the C client do not watch any more, and nobody waits.
    void forget(watch_kind kind, const std::string& path);

    /// Marks watches as not kept by the C client until what it keeps fits into `bytes`.
    /// @return their paths, at most `count`; each has to be taken from the C client, too.
    std::vector<std::string> detach_surplus(std::size_t bytes, std::size_t count);

    /// Everything that the C client does not keep and somebody waits for; entries without waiters
    /// are forgotten.
    std::vector<surplus> take_detached();

    /// Bytes of the paths that the C client would put into one SetWatches packet.
    std::size_t c_client_bytes() const noexcept { return c_client_bytes_; }

    std::size_t size() const noexcept {
        return maps_[0].size() + maps_[1].size() + maps_[2].size();
    }

private:
    struct hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept {
            return std::hash<std::string_view>()(text);
        }
    };
    using map = std::unordered_map<std::string, entry, hash, std::equal_to<>>;

    map& of(watch_kind kind) noexcept { return maps_[static_cast<std::size_t>(kind)]; }
    const map& of(watch_kind kind) const noexcept { return maps_[static_cast<std::size_t>(kind)]; }
    void release_bytes(const entry& e, const std::string& path) noexcept;

    std::array<map, 3> maps_;
    std::size_t c_client_bytes_ = 0;
};

}  // namespace corozk::detail
