// SPDX-License-Identifier: Apache-2.0
#include "recipe/partitioner/member_list.hpp"

#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/toolkit/node_view.hpp"
#include "recipe/toolkit/retry.hpp"

#include <cstddef>
#include <deque>
#include <utility>

namespace corozk::detail {

task<error_code> member_list::look() {
    while (!children_.current()) {
        name_list names;
        error_code ec = co_await children_.list(names);
        if (!ec) {
            ec = co_await identify(names);
            if (ec)
                children_.discard();
        }
        if (ec && !retry(port_).again(ec))
            co_return ec;
    }
    co_return error_code();
}

/// Looks at nodes that were not members before: one that is not ephemeral is none, but a member may
/// have taken its place.
task<error_code> member_list::identify(const name_list& names) {
    std::map<std::string, bool> nodes;
    std::deque<request> looks;
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::string name(names[i]);
        auto known = nodes_.find(name);
        if (known != nodes_.end() && known->second) {
            nodes.insert(*known);
            continue;
        }
        looks.emplace_back(port_, op_code::exists, join_path(children_.parent(), name));
        looks.back().send();
    }
    error_code result;
    for (request& look : looks) {
        error_code ec = co_await look;
        if (!ec)
            nodes.emplace(base_name(look.path), session_of(look.record) != 0);
        else if (ec != zk_errc::no_node)
            result = ec;
    }
    if (!result)
        nodes_ = std::move(nodes);
    co_return result;
}

std::vector<std::string> member_list::names() const {
    std::vector<std::string> members;
    for (const auto& [name, member] : nodes_) {
        if (member)
            members.push_back(name);
    }
    return members;
}

}  // namespace corozk::detail
