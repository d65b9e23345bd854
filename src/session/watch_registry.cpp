// SPDX-License-Identifier: Apache-2.0
#include "session/watch_registry.hpp"

namespace corozk::detail {

namespace {

/// A path in a packet: its length and its characters.
std::size_t packed_size(const std::string& path) noexcept {
    return path.size() + 4;
}

}  // namespace

void watch_registry::release_bytes(const entry& e, const std::string& path) noexcept {
    if (e.in_c_client)
        c_client_bytes_ -= packed_size(path);
}

void watch_registry::armed(watch_kind kind,
                           const std::string& path,
                           std::int64_t zxid,
                           watch_node* node) {
    auto [it, inserted] = of(kind).try_emplace(path);
    entry& e = it->second;
    if (inserted || !e.in_c_client)
        c_client_bytes_ += packed_size(path);
    e.in_c_client = true;
    e.zxid = zxid;
    if (node)
        e.nodes.push_back(*node);
}

std::size_t watch_registry::fire(watch_kind kind, std::string_view path, watch_event_type type) {
    map& m = of(kind);
    auto it = m.find(path);
    if (it == m.end())
        return 0;
    release_bytes(it->second, it->first);
    waiters nodes;
    nodes.swap(it->second.nodes);
    m.erase(it);
    std::size_t count = 0;
    while (!nodes.empty()) {
        watch_node& node = nodes.front();
        nodes.pop_front();
        node.fired(type);
        ++count;
    }
    return count;
}

void watch_registry::drop_all(const error_code& reason) {
    waiters nodes;
    for (map& m : maps_) {
        for (auto& [path, e] : m)
            nodes.splice(nodes.end(), e.nodes);
        m.clear();
    }
    c_client_bytes_ = 0;
    while (!nodes.empty()) {
        watch_node& node = nodes.front();
        nodes.pop_front();
        node.dropped(reason);
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
    if (it == m.end() || !it->second.nodes.empty())
        return;
    release_bytes(it->second, it->first);
    m.erase(it);
}

std::vector<std::string> watch_registry::detach_surplus(std::size_t bytes, std::size_t count) {
    std::vector<std::string> paths;
    for (map& m : maps_) {
        for (auto& [path, e] : m) {
            if (c_client_bytes_ <= bytes || paths.size() >= count)
                return paths;
            if (!e.in_c_client)
                continue;
            paths.push_back(path);
            // The C client forgets all kinds of watches on a path together.
            for (map& other : maps_) {
                auto it = other.find(path);
                if (it == other.end())
                    continue;
                release_bytes(it->second, path);
                it->second.in_c_client = false;
            }
        }
    }
    return paths;
}

std::vector<watch_registry::surplus> watch_registry::take_detached() {
    std::vector<surplus> result;
    for (std::size_t k = 0; k < maps_.size(); ++k) {
        for (auto it = maps_[k].begin(); it != maps_[k].end();) {
            if (it->second.in_c_client) {
                ++it;
            } else if (it->second.nodes.empty()) {
                it = maps_[k].erase(it);
            } else {
                result.emplace_back(static_cast<watch_kind>(k), it->first, it->second.zxid);
                ++it;
            }
        }
    }
    return result;
}

}  // namespace corozk::detail
