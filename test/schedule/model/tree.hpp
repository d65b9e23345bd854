// SPDX-License-Identifier: Apache-2.0
// The nodes as one server has them, and the changes that come to it.
#pragma once

#include "packet.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::model {

/// Whether anyone may do that, by a node's list; the model knows no other identities.
bool allows(const std::vector<acl_item>& list, std::int32_t right);

enum class node_kind : std::uint8_t { plain, container, timed };

struct node {
    std::string data;
    std::vector<acl_item> acl;
    std::int64_t czxid = 0;
    std::int64_t mzxid = 0;
    std::int64_t pzxid = 0;
    std::int64_t ctime = 0;
    std::int64_t mtime = 0;
    std::int32_t version = 0;
    std::int32_t aversion = 0;

    /// How many children were ever created: the next sequence. Wraps around.
    std::int32_t creates = 0;

    std::int64_t owner = 0;
    node_kind kind = node_kind::plain;
    std::set<std::string> children;
};

/// One step of what the leader has decided on. Nothing can go wrong with it any more.
struct change {
    enum class type : std::uint8_t { create, erase, set, set_acl };
    type what = type::create;
    std::string path;
    std::string data;
    std::vector<acl_item> acl;
    std::int64_t owner = 0;
    node_kind kind = node_kind::plain;
};

struct log_entry {
    std::int64_t zxid = 0;
    std::int64_t time = 0;
    std::vector<change> changes;
};

void add(hasher& h, const log_entry& entry);

class tree {
public:
    tree();

    const node* find(const std::string& path) const;
    node* find(const std::string& path);
    const std::map<std::string, node>& nodes() const { return nodes_; }

    void apply(const log_entry& entry, const change& c);

    Stat stat_of(const node& n) const;
    /// @param child_stats  whether somebody sees pzxid
    void add_to(hasher& h, const change_names& names, bool child_stats) const;

private:
    std::map<std::string, node> nodes_;
};

/// "/" for children of the root.
std::string parent_of(const std::string& path);
std::string name_in_parent(const std::string& path);

}  // namespace corozk::model
