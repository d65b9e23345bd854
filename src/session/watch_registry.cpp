// SPDX-License-Identifier: Apache-2.0
#include "session/watch_registry.hpp"

namespace corozk::detail {

namespace {

constexpr std::array all_kinds{watch_kind::data, watch_kind::exists, watch_kind::children};

/// The size of a path in a packet: its length and its characters.
std::size_t packed_size(const std::string& path) noexcept {
    return path.size() + 4;
}

}  // namespace

void watch_registry::release_bytes(const entry& e, const std::string& path) noexcept {
    if (e.in_c_client)
        c_client_bytes_ -= packed_size(path);
}

watched_version version_for(watch_kind kind, const stat& node) noexcept {
    watched_version version;
    if (kind == watch_kind::data)
        version.zxid = node.mzxid;
    else if (kind == watch_kind::children)
        version = {node.pzxid, node.num_children};
    return version;
}

void watch_registry::armed(watch_kind kind,
                           const std::string& path,
                           watched_version version,
                           watch_node* node,
                           bool in_c_client) {
    entry& e = of(kind)[path];
    if (node)
        node->unlink();  // it may still belong to an earlier session
    // An event comes before the response, unless it was missed: these have not been set again yet.
    if (!e.in_c_client && e.version != version) {
        watch_tables::waiters nodes;
        nodes.swap(e.nodes);
        notify(std::move(nodes), watch_event_type::unknown);
    }
    if (in_c_client && !e.in_c_client) {
        c_client_bytes_ += packed_size(path);
        e.in_c_client = true;
    }
    e.version = version;
    e.state = {&tables_->current, false};
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
    release_bytes(it->second, it->first);
    watch_tables::waiters nodes;
    nodes.swap(it->second.nodes);
    m.erase(it);
    return notify(std::move(nodes), type);
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

void watch_registry::fire(std::string_view path, watch_event_type type, bool detached) {
    const bool of_children =
        type != watch_event_type::created && type != watch_event_type::data_changed;
    const bool of_node = type != watch_event_type::children_changed;
    for (watch_kind kind : all_kinds) {
        if (kind == watch_kind::children ? !of_children : !of_node)
            continue;
        auto it = of(kind).find(path);
        if (it != of(kind).end() && !(detached && it->second.in_c_client))
            fire(kind, path, type);
    }
}

void watch_registry::drop_all(const error_code& reason) {
    c_client_bytes_ = 0;
    if (size() == 0)
        return;
    auto fresh = std::make_unique<watch_tables>();
    tables_->current = false;
    dropped_.push_back({std::exchange(tables_, std::move(fresh)), reason});
}

void watch_registry::notify_dropped(std::size_t count,
                                    const std::function<void(const std::string&)>& forget) {
    while (!dropped_.empty()) {
        dropped_tables& d = dropped_.front();
        for (auto& detached = d.tables->detached; !detached.empty(); detached.pop_front()) {
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
                if (forget && m.begin()->second.in_c_client)
                    forget(m.begin()->first);
                m.erase(m.begin());
            }
        }
        dropped_.pop_front();
    }
}

std::size_t watch_registry::unnotified() const noexcept {
    std::size_t count = 0;
    for (const dropped_tables& d : dropped_)
        count += d.tables->size();
    return count;
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
    if (it == m.end() || !it->second.nodes.empty())
        return;
    release_bytes(it->second, it->first);
    m.erase(it);
}

/// The C client forgets all kinds of watches on a path at once.
void watch_registry::detach(const std::string& path) {
    for (watch_kind kind : all_kinds) {
        auto it = of(kind).find(path);
        if (it == of(kind).end() || !it->second.in_c_client)
            continue;
        release_bytes(it->second, path);
        it->second.in_c_client = false;
        detach_again(kind, path);
    }
}

void watch_registry::set_detached_again(const std::string& path) {
    for (watch_kind kind : all_kinds)
        detach_again(kind, path);
}

std::vector<std::string> watch_registry::detach_surplus(std::size_t bytes, std::size_t count) {
    std::vector<std::string> paths;
    for (; next_kind_ < all_kinds.size(); ++next_kind_, next_path_.clear()) {
        map& m = of(all_kinds[next_kind_]);
        for (auto it = m.lower_bound(next_path_); it != m.end(); ++it) {
            if (c_client_bytes_ <= bytes || paths.size() >= count) {
                next_path_ = it->first;
                return paths;
            }
            if (!it->second.in_c_client)
                continue;
            paths.push_back(it->first);
            detach(it->first);
        }
    }
    next_kind_ = 0;  // restart if there are more
    return paths;
}

void watch_registry::detach_again(watch_kind kind, const std::string& path) {
    auto it = of(kind).find(path);
    if (it == of(kind).end() || it->second.in_c_client)
        return;
    it->second.state.in_doubt = true;
    tables_->detached.emplace_back(kind, path);
}

std::optional<watch_registry::surplus> watch_registry::take_detached() {
    auto& detached = tables_->detached;
    while (!detached.empty()) {
        auto [kind, path] = std::move(detached.front());
        detached.pop_front();
        auto it = of(kind).find(path);
        if (it == of(kind).end() || it->second.in_c_client)
            continue;
        if (!it->second.nodes.empty())
            return surplus(kind, std::move(path), it->second.version);
        of(kind).erase(it);
    }
    return std::nullopt;
}

}  // namespace corozk::detail
