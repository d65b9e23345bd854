// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

namespace corozk::testing {

/** @brief The operation codes of ZooKeeper's wire protocol. */
enum class op_code : std::int32_t {
    close_session = -11,
    create_session = -10,  ///< stands for the connect request, which has no header of its own
    notification = 0,
    create = 1,
    erase = 2,
    exists = 3,
    get_data = 4,
    set_data = 5,
    get_acl = 6,
    set_acl = 7,
    get_children = 8,
    sync = 9,
    ping = 11,
    get_children2 = 12,
    check = 13,
    multi = 14,
    create2 = 15,
    reconfig = 16,
    check_watches = 17,
    remove_watches = 18,
    create_container = 19,
    delete_container = 20,
    create_ttl = 21,
    multi_read = 22,
    auth = 100,
    set_watches = 101,
    sasl = 102,
    get_ephemerals = 103,
    get_all_children_number = 104,
    set_watches2 = 105,
    add_watch = 106,
    who_am_i = 107,
};

/**
 * @brief The operation's name as ZooKeeper's own sources spell it ("create", "getData", ...).
 *
 * An unknown code gives "unknown operation". Never throws.
 */
std::string_view to_string(op_code op) noexcept;

/** @brief True where the request's first field is the path that it concerns. */
bool has_path(op_code op) noexcept;

/** @brief True for the operations that create a node (plain, with stat, container, TTL). */
bool is_create(op_code op) noexcept;

}  // namespace corozk::testing
