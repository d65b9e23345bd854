// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/watch_registry.hpp"

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace corozk::detail {

/// The watches of a session, and which of them to remove from the server because they have no
/// waiters, or to set again because they were detached from the C client. Does no I/O: the owner
/// sends the requests and reports their results.
class watch_trimming : public watch_registry {
public:
    using key = std::pair<std::string, watch_kind>;

    /// A watch has lost a waiter. @return whether to remove it from the server now. If that is not
    /// possible yet, `read_ended` or `take_retry` return it again.
    bool unused(watch_kind kind, const std::string& path, bool connected);

    /// The result of the request that was caused by `unused`.
    void removed(watch_kind kind, const std::string& path, const error_code& ec);

    /// A read that sets a watch was queued.
    void read_started(const std::string& path) { ++reads_[path]; }

    /// One of them has finished or was withdrawn. @return the unused watches on its path
    std::set<key> read_ended(const std::string& path, bool connected);

    /// Removals that failed because of the lost connection are due.
    void connected() { retry_.merge(late_); }

    void session_lost();

    /// The next due one, to be passed to `unused` again.
    bool has_retry() const noexcept { return !retry_.empty(); }
    key take_retry() { return std::move(retry_.extract(retry_.begin()).value()); }

    /// The next watch to be set again by a read, unless too many such reads are in flight.
    bool has_surplus() const noexcept { return has_detached() && setting_again_ < 512; }
    std::optional<surplus> take_surplus();

    /// That read has finished. @return a watch that it has set without a waiter
    std::optional<watch_kind> set_again(const surplus& watch, const operation& answer);

private:
    bool removable(watch_kind kind, const std::string& path) const;

    std::unordered_map<std::string, std::size_t> reads_;  ///< with a watch, in flight
    std::set<key> late_;                                  ///< cannot be removed yet
    std::set<key> retry_;
    std::set<key> removing_;  ///< requests in flight; one for data and exists
    std::size_t setting_again_ = 0;
};

}  // namespace corozk::detail
