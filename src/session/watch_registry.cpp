// SPDX-License-Identifier: Apache-2.0
#include "session/watch_registry.hpp"

#include <algorithm>
#include <iterator>

namespace corozk::detail {

namespace {

using certainty = watch_state::certainty;

/// The size of a path in a request: its length and its characters.
std::size_t packed_size(const std::string& path) noexcept {
    return path.size() + 4;
}

}  // namespace

void watch_registry::armed(watch_kind kind,
                           const std::string& path,
                           std::int64_t zxid,
                           watch_node* node) {
    entry& e = of(kind)[path];
    if (node)
        node->unlink();  // it may still belong to an earlier session
    // Who has waited longer for what is still to be set again may have missed a change.
    if (e.state.at_server == certainty::certain) {
        e.since = zxid;
        e.state.current = &tables_->current;
    }
    if (!node)
        return;
    node->state_ = &e.state;
    e.nodes.push_back(*node);
}

std::size_t watch_registry::fire(watch_kind kind, std::string_view path, watch_event_type type) {
    map& m = of(kind);
    auto it = m.find(path);
    if (it == m.end())
        return 0;
    auto fired = m.extract(it);  // the waiters refer to it
    return notify(std::move(fired.mapped().nodes), type);
}

std::size_t watch_registry::notify(watch_tables::waiters nodes, watch_event_type type) {
    std::size_t count = 0;
    while (!nodes.empty()) {
        watch_node& node = nodes.front();
        nodes.pop_front();
        node.fired(type);
        ++count;
    }
    return count;
}

void watch_registry::fire(std::string_view path, watch_event_type type) {
    const bool of_children =
        type != watch_event_type::created && type != watch_event_type::data_changed;
    const bool of_node = type != watch_event_type::children_changed;
    for (watch_kind kind : all_watch_kinds) {
        if (kind == watch_kind::children ? of_children : of_node)
            fire(kind, path, type);
    }
}

void watch_registry::drop_all(const error_code& reason) {
    resuming_.reset();
    if (size() == 0)
        return;
    auto fresh = std::make_unique<watch_tables>();
    tables_->current = false;
    dropped_.push_back({std::exchange(tables_, std::move(fresh)), reason});
}

void watch_registry::notify_dropped(std::size_t count) {
    while (!dropped_.empty()) {
        dropped_tables& d = dropped_.front();
        for (auto& forgotten = d.tables->forgotten; !forgotten.empty(); forgotten.pop_front()) {
            if (count-- == 0)
                return;
        }
        for (map& m : d.tables->maps) {
            while (!m.empty()) {
                auto& nodes = m.begin()->second.nodes;
                while (!nodes.empty()) {
                    if (count-- == 0)
                        return;
                    watch_node& node = nodes.front();
                    nodes.pop_front();
                    node.dropped(d.reason);
                }
                if (count-- == 0)
                    return;
                m.erase(m.begin());
            }
        }
        dropped_.pop_front();
    }
}

bool watch_registry::has_waiters(watch_kind kind, const std::string& path) const {
    auto it = of(kind).find(path);
    return it != of(kind).end() && !it->second.nodes.empty();
}

bool watch_registry::contains(watch_kind kind, const std::string& path) const {
    return of(kind).contains(path);
}

void watch_registry::forget(watch_kind kind, const std::string& path) {
    map& m = of(kind);
    auto it = m.find(path);
    if (it != m.end() && it->second.nodes.empty())
        m.erase(it);
}

// ---------------------------------------------------------------------------------------------
// Setting watches again

void watch_registry::connected(std::int64_t last_zxid) {
    if (!resuming_ && unconfirmed_ == 0 && !failed_)
        since_ = last_zxid;
    failed_ = false;
    resuming_.emplace();
}

void watch_registry::set_again(watch_kind kind, const std::string& path, std::int64_t since) {
    auto it = of(kind).find(path);
    if (it == of(kind).end())
        return;
    it->second.state.at_server = certainty::in_doubt;
    it->second.since = std::min(it->second.since, since);
    tables_->forgotten.emplace_back(kind, path);
}

std::optional<watch_batch> watch_registry::take_unset(std::size_t bytes) {
    watch_batch batch;
    if (resuming_)
        collect_all(batch, bytes);
    else
        collect_forgotten(batch, bytes);
    for (const auto& paths : batch.paths) {
        if (paths.empty())
            continue;
        unconfirmed_ += batch.of_a_reconnect ? 1 : 0;
        return batch;
    }
    return std::nullopt;
}

void watch_registry::collect_all(watch_batch& batch, std::size_t bytes) {
    constexpr std::size_t looks = 4096;  // at entries that may have no waiters
    batch.since = since_;
    batch.of_a_reconnect = true;
    std::size_t size = 0;
    std::size_t count = 0;
    for (; resuming_->kind < std::size(all_watch_kinds);
         ++resuming_->kind, resuming_->path.clear()) {
        map& m = of(all_watch_kinds[resuming_->kind]);
        for (auto it = m.lower_bound(resuming_->path); it != m.end();) {
            const bool fits = size == 0 || size + packed_size(it->first) <= bytes;
            if (!fits || ++count > looks) {
                resuming_->path = it->first;
                return;
            }
            if (it->second.nodes.empty()) {
                it = m.erase(it);
                continue;
            }
            size += packed_size(it->first);
            batch.paths[resuming_->kind].push_back(it->first);
            ++it;
        }
    }
    resuming_.reset();
}

/// Those that were set at the same time, so that the server reports no earlier changes.
void watch_registry::collect_forgotten(watch_batch& batch, std::size_t bytes) {
    std::size_t size = 0;
    for (auto& forgotten = tables_->forgotten; !forgotten.empty(); forgotten.pop_front()) {
        auto& [kind, path] = forgotten.front();
        map& m = of(kind);
        auto it = m.find(path);
        if (it == m.end() || it->second.state.at_server != certainty::in_doubt)
            continue;
        if (it->second.nodes.empty()) {
            m.erase(it);
            continue;
        }
        if (size > 0 && (it->second.since != batch.since || size + packed_size(path) > bytes))
            return;
        batch.since = it->second.since;
        size += packed_size(path);
        // Requests sent before may still be answered before.
        it->second.state.at_server = certainty::being_set;
        batch.paths[static_cast<std::size_t>(kind)].push_back(std::move(path));
    }
}

void watch_registry::were_set(const watch_batch& batch, const error_code& ec) {
    if (batch.of_a_reconnect) {
        --unconfirmed_;
        failed_ = failed_ || ec;
    } else if (!is_session_lost(ec)) {
        for (watch_kind kind : all_watch_kinds) {
            for (const std::string& path : batch.paths[static_cast<std::size_t>(kind)]) {
                if (ec)
                    set_again(kind, path, batch.since);
                else
                    was_set(kind, path);
            }
        }
    }
}

/// Unless the server may have forgotten it once more.
void watch_registry::was_set(watch_kind kind, const std::string& path) {
    auto it = of(kind).find(path);
    if (it != of(kind).end() && it->second.state.at_server == certainty::being_set)
        it->second.state.at_server = certainty::certain;
}

}  // namespace corozk::detail
