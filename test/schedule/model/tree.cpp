// SPDX-License-Identifier: Apache-2.0
#include "tree.hpp"

#include <algorithm>

namespace corozk::model {

std::string parent_of(const std::string& path) {
    std::size_t slash = path.rfind('/');
    return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_in_parent(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

void add(hasher& h, const log_entry& entry) {
    h.add(entry.zxid);
    h.add(entry.changes.size());
    for (const change& c : entry.changes) {
        h.add(c.what);
        h.add(c.path);
        h.add(c.data);
        h.add(c.owner);
        h.add(c.kind);
    }
}

tree::tree() {
    nodes_["/"].children.insert("zookeeper");
    nodes_["/zookeeper"].children.insert("config");
    nodes_["/zookeeper/config"];
}

bool allows(const std::vector<acl_item>& list, std::int32_t right) {
    return list.empty() || std::any_of(list.begin(), list.end(), [right](const acl_item& item) {
               return item.scheme == "world" && (item.perms & right) != 0;
           });
}

const node* tree::find(const std::string& path) const {
    auto it = nodes_.find(path);
    return it == nodes_.end() ? nullptr : &it->second;
}

node* tree::find(const std::string& path) {
    auto it = nodes_.find(path);
    return it == nodes_.end() ? nullptr : &it->second;
}

void tree::apply(const log_entry& entry, const change& c) {
    switch (c.what) {
        case change::type::create: {
            node& parent = nodes_.at(parent_of(c.path));
            parent.creates =
                static_cast<std::int32_t>(static_cast<std::uint32_t>(parent.creates) + 1);
            parent.pzxid = entry.zxid;
            parent.children.insert(name_in_parent(c.path));
            node n;
            n.data = c.data;
            n.acl = c.acl;
            n.czxid = n.mzxid = n.pzxid = entry.zxid;
            n.ctime = n.mtime = entry.time;
            n.owner = c.owner;
            n.kind = c.kind;
            nodes_.emplace(c.path, std::move(n));
            break;
        }
        case change::type::erase: {
            node& parent = nodes_.at(parent_of(c.path));
            parent.pzxid = entry.zxid;
            parent.children.erase(name_in_parent(c.path));
            nodes_.erase(c.path);
            break;
        }
        case change::type::set: {
            node& n = nodes_.at(c.path);
            n.data = c.data;
            n.mzxid = entry.zxid;
            n.mtime = entry.time;
            ++n.version;
            break;
        }
        case change::type::set_acl: {
            node& n = nodes_.at(c.path);
            n.acl = c.acl;
            ++n.aversion;
            break;
        }
    }
}

Stat tree::stat_of(const node& n) const {
    Stat s{};
    s.czxid = n.czxid;
    s.mzxid = n.mzxid;
    s.pzxid = n.pzxid;
    s.ctime = n.ctime;
    s.mtime = n.mtime;
    s.version = n.version;
    s.aversion = n.aversion;
    s.ephemeralOwner = n.owner;
    s.dataLength = static_cast<std::int32_t>(n.data.size());
    s.numChildren = static_cast<std::int32_t>(n.children.size());
    // Creations and deletions, from what the server counts.
    s.cversion = static_cast<std::int32_t>(static_cast<std::uint32_t>(n.creates) * 2 -
                                           static_cast<std::uint32_t>(n.children.size()));
    return s;
}

void tree::add_to(hasher& h, const change_names& names, bool child_stats) const {
    for (const auto& [path, n] : nodes_) {
        h.add(path);
        h.add(n.data);
        h.add(name_of(n.czxid, names));
        h.add(name_of(n.mzxid, names));
        h.add(child_stats ? name_of(n.pzxid, names) : 0);
        h.add(n.version);
        h.add(n.creates);
        h.add(n.owner);
        h.add(n.kind);
        for (const acl_item& item : n.acl)
            h.add(item.perms);
    }
}

}  // namespace corozk::model
