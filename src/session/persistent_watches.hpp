// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/persistent_watch_node.hpp"
#include "session/watch_trimming.hpp"

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace corozk::detail {

/// The watches of a session: persistent ones, and how others at the same paths are served. Does no
/// I/O: the owner sends the requests and reports their results.
///
/// Servers before ZOOKEEPER-4466 know one mode for each connection, path and list (data, children):
/// a later one-shot watch replaces a persistent one, and the other way round. So once a persistent
/// watch has been requested,
///  1. reads of its path set no watch at the server: its events serve them, apart from watches of
///     children under a recursive one, which is in the other list;
///  2. its response, and that to its removal, mean that the server may have forgotten all that was
///     set before: what the persistent watch does not serve is set again;
///  3. no watch of its path is removed by kind.
/// What was requested is known when the next request is sent, as the server serves them in order.
class persistent_watches : public watch_trimming, private persistent_watch_keeper {
public:
    /// @param wake called when there is something to restore or to remove
    explicit persistent_watches(std::function<void()> wake) : wake_(std::move(wake)) {}

    /// An `add_watch` was queued.
    void add_started(const std::string& path) { ++places_[path].adding; }

    /// It was withdrawn.
    void add_withdrawn(const std::string& path);

    /// It has finished: links its waiter.
    void add_finished(operation& op, bool sent);

    /// A request is about to be sent, and is completed by what the server knows.
    /// @return false if it need not be sent: the server has no such watch
    bool sending(operation& op);

    /// The response of a read that sets a watch.
    void armed(watch_kind kind, const operation& op);

    /// Any event, as the server sends it.
    void report(watch_event_type type, const std::string& path);

    /// There is a new connection: the server knows none of them.
    void connected(std::int64_t last_zxid);

    /// The next path whose watch is to be removed from the server.
    bool has_unused() const noexcept { return !unused_.empty(); }
    std::optional<std::string> take_unused();

    /// The next one whose watch is to be set again.
    bool has_lost() const noexcept { return !lost_.empty(); }
    std::optional<std::pair<std::string, watch_mode>> take_lost();

    /// The result of the `add_watch` that was caused by `take_lost`.
    /// @param refused  by the server, whose later responses may show changes
    void restored(const std::string& path, const error_code& ec, bool refused = false);

    /// The `remove_watches` that was caused by `take_unused` has finished.
    void removed_from_server(const std::string& path);

    /// There will be no more events.
    void drop_all(const error_code& reason);

    /// The number of paths with a persistent watch.
    std::size_t persistent() const noexcept { return places_.size(); }

private:
    using waiters =
        boost::intrusive::list<persistent_watch_node, boost::intrusive::constant_time_size<false>>;

    struct place {
        waiters nodes;
        std::optional<watch_mode> requested;  ///< from the server, on this connection
        std::optional<watch_mode> served;     ///< according to its last response
        std::size_t adding = 0;               ///< requests queued or in flight
        std::size_t in_flight = 0;
        bool restoring = false;  ///< by an `add_watch` that is queued or in flight

        /// The server does not have it any more. @return whether it was requested
        bool forget_server() noexcept {
            served.reset();
            return std::exchange(requested, std::nullopt).has_value();
        }
    };

    static bool idle(const place& at) noexcept;
    static bool serves(const place& at, watch_kind kind) noexcept;
    bool serves(const std::string& path, watch_kind kind) const;
    void add_failed(const std::string& path, place& at);
    void set_others_again(const std::string& path);
    void notify(place& at, watch_event_type type, const std::string& path, watch_mode mode);
    void drop(place& at, const error_code& reason);
    void released(const std::string& path) noexcept override;

    std::map<std::string, place, std::less<>> places_;
    std::set<std::string> unused_;  ///< perhaps
    std::set<std::string> lost_;
    std::function<void()> wake_;
};

}  // namespace corozk::detail
