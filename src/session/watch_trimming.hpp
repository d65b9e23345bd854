// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/watch_registry.hpp"

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace corozk::detail {

/// The watches of a session, and which of them are removed from the server because they have no
/// waiter any more, or set again because the C client could not keep them. Does no I/O: the owner
/// sends the requests and reports their outcome.
class watch_trimming : public watch_registry {
public:
    using key = std::pair<std::string, watch_kind>;

    /// A watch has lost a waiter. @return whether to remove it from the server now. If that cannot
    /// be done yet it comes up again in `read_ended` or `take_retry`.
    bool unused(watch_kind kind, const std::string& path, bool connected);

    /// The request that `unused` asked for ended like this.
    void removed(watch_kind kind, const std::string& path, const error_code& ec);

    /// A read that sets a watch was queued.
    void read_started(const std::string& path) { ++reads_[path]; }

    /// One of them was answered, or withdrawn. @return the watches on its path that are unused.
    std::set<key> read_ended(const std::string& path, bool connected);

    /// What could not be removed before the connection was lost is due.
    void connected() { retry_.merge(late_); }

    void session_lost();

    /// The next one that is due, to be given to `unused` again.
    bool has_retry() const noexcept { return !retry_.empty(); }
    key take_retry() { return std::move(retry_.extract(retry_.begin()).value()); }

    /// The next watch to be set again by a read, if there are not too many such reads in flight.
    bool has_surplus() const noexcept { return has_detached() && setting_again_ < 512; }
    std::optional<surplus> take_surplus();

    /// That read was answered. @return a watch that it left without a waiter.
    std::optional<watch_kind> set_again(const surplus& watch, const operation& answer);

private:
    bool removable(watch_kind kind, const std::string& path) const;

    std::unordered_map<std::string, std::size_t> reads_;  ///< with a watch, not yet answered
    std::set<key> late_;                                  ///< cannot be removed yet
    std::set<key> retry_;
    std::set<key> removing_;  ///< requests in flight; one for data and exists
    std::size_t setting_again_ = 0;
};

}  // namespace corozk::detail
