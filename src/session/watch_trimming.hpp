// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/watch_registry.hpp"

#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace corozk::detail {

/// The watches of a session, and which of them to remove from the server because they have no
/// waiters. Does no I/O: the owner sends the requests and reports their results.
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
    void connected(std::int64_t last_zxid) {
        watch_registry::connected(last_zxid);
        retry_.merge(late_);
    }

    void session_lost();

    /// The next due one, to be passed to `unused` again.
    bool has_retry() const noexcept { return !retry_.empty(); }
    key take_retry() { return std::move(retry_.extract(retry_.begin()).value()); }

private:
    bool removable(watch_kind kind, const std::string& path) const;

    std::unordered_map<std::string, std::size_t> reads_;  ///< with a watch, in flight
    std::set<key> late_;                                  ///< cannot be removed yet
    std::set<key> retry_;
    std::set<key> removing_;  ///< requests in flight; one for data and exists
};

}  // namespace corozk::detail
