// SPDX-License-Identifier: Apache-2.0
#include "session/watch_trimming.hpp"

#include "operation/operation.hpp"

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

std::optional<watch_registry::surplus> watch_trimming::take_surplus() {
    auto next = take_detached();
    setting_again_ += next ? 1 : 0;
    return next;
}

std::optional<watch_kind> watch_trimming::set_again(const surplus& watch, const operation& answer) {
    --setting_again_;
    if (is_recoverable(answer.error)) {
        detach_again(watch.kind, watch.path);
        return std::nullopt;
    }
    bool missing = answer.code == op_code::exists && answer.error == zk_errc::no_node;
    bool same = watch.kind == watch_kind::exists
                    ? missing
                    : !answer.error && version_for(watch.kind, answer.record) == watch.version;
    if (same)
        return std::nullopt;  // the response has armed it again
    // Otherwise all waiters read again, and set new watches if necessary.
    fire(watch.kind, watch.path, watch_event_type::unknown);
    if (answer.error && !missing)
        return std::nullopt;
    watch_kind left = watch_kind::data;
    if (missing)
        left = watch_kind::exists;
    else if (answer.code == op_code::children)
        left = watch_kind::children;
    if (!contains(left, watch.path))
        armed(left, watch.path, {}, nullptr, !answer.covered);
    return left;
}

}  // namespace corozk::detail
