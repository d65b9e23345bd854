// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/sweep.hpp"
#include "recipe/toolkit/kept_node.hpp"

#include <map>
#include <memory>
#include <string>

namespace corozk::detail {

/// The nodes that an object keeps, by path. A driver shares its node until it has ended: so long,
/// what is pending there ends with the object.
class kept_nodes {
public:
    /// The node at this path, if it is wanted; otherwise null.
    kept_node* find(const std::string& path) const {
        auto at = nodes_.find(path);
        return at != nodes_.end() && at->second->wanted() ? at->second.get() : nullptr;
    }

    /// Whether the node at this path is being deleted, for a release or a `keep` that has ended early.
    bool releasing(const std::string& path) const {
        auto at = nodes_.find(path);
        return at != nodes_.end() && at->second->ending();
    }

    /// The node at this path, to be kept. Those whose drivers have ended are forgotten.
    kept_node& at(port& p,
                  const std::string& path,
                  const acl& entries,
                  kept_node_kind kind = kept_node_kind()) {
        sweep_(nodes_, [&path](const auto& one) {
            return one.first != path && one.second.use_count() == 1;
        });
        std::shared_ptr<kept_node>& node = nodes_[path];
        if (!node)
            node = std::make_shared<kept_node>(p, path, entries, kind);
        return *node;
    }

    /// The object is destroyed.
    void abandon() {
        for (auto& [path, node] : nodes_)
            node->abandon();
        nodes_.clear();
    }

private:
    std::map<std::string, std::shared_ptr<kept_node>> nodes_;
    sweep sweep_;
};

}  // namespace corozk::detail
