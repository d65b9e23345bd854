// SPDX-License-Identifier: Apache-2.0
#include "session/watch_trimming.hpp"

namespace corozk::detail {

namespace {

/// The server has one list for data and exists watches.
watch_kind server_list(watch_kind kind) noexcept {
    return kind == watch_kind::children ? kind : watch_kind::data;
}

}  // namespace

bool watch_trimming::removable(watch_kind kind, const std::string& path) const {
    if (kind == watch_kind::children)
        return contains(kind, path) && !has_waiters(kind, path);
    return (contains(watch_kind::data, path) || contains(watch_kind::exists, path)) &&
           !has_waiters(watch_kind::data, path) && !has_waiters(watch_kind::exists, path);
}

bool watch_trimming::unused(watch_kind kind, const std::string& path, bool connected) {
    if (connected && !reads_.contains(path))
        return removable(kind, path) && removing_.emplace(path, server_list(kind)).second;
    late_.emplace(path, kind);
    return false;
}

void watch_trimming::removed(watch_kind kind, const std::string& path, const error_code& ec) {
    removing_.erase({path, server_list(kind)});
    if (is_session_lost(ec))
        return;
    if (ec == zk_errc::throttled) {
        retry_.emplace(path, kind);
        return;
    }
    if (is_recoverable(ec) || ec == errc::not_connected) {
        late_.emplace(path, kind);
        return;
    }
    forget(server_list(kind), path);
    if (kind != watch_kind::children)
        forget(watch_kind::exists, path);
}

std::set<watch_trimming::key> watch_trimming::read_ended(const std::string& path, bool connected) {
    std::set<key> unused;
    auto it = reads_.find(path);
    if (it == reads_.end() || --it->second > 0)
        return unused;
    reads_.erase(it);
    if (!connected || late_.empty())
        return unused;
    for (auto late = late_.lower_bound({path, watch_kind::data});
         late != late_.end() && late->first == path;) {
        unused.insert(late_.extract(late++));
    }
    return unused;
}

void watch_trimming::session_lost() {
    late_.clear();
    retry_.clear();
}

}  // namespace corozk::detail
