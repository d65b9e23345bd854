// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace corozk::bench {

/// The numbers of `mntr` that add up to the notifications a server has sent (since ZooKeeper 3.6):
/// the watches that each kind of event has fired. What is left of the packets sent after one for
/// each that has come is no such number: an answer to `mntr` itself is several of them, the more the
/// longer it is. A session that watches a node and its children is counted twice when it is deleted.
inline constexpr std::array<std::string_view, 4> notification_counters{
    "zk_sum_node_created_watch_count",
    "zk_sum_node_changed_watch_count",
    "zk_sum_node_deleted_watch_count",
    "zk_sum_node_children_watch_count"};

}  // namespace corozk::bench
