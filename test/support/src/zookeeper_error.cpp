// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/zookeeper_error.hpp"

#include <fmt/format.h>

namespace corozk::testing {

std::string to_string(zk_code code) {
    switch (code) {
        case zk_code::ok: return "ok";
        case zk_code::connection_loss: return "connection loss";
        case zk_code::marshalling_error: return "marshalling error";
        case zk_code::unimplemented: return "unimplemented";
        case zk_code::bad_arguments: return "bad arguments";
        case zk_code::no_node: return "no node";
        case zk_code::no_auth: return "no auth";
        case zk_code::bad_version: return "bad version";
        case zk_code::no_children_for_ephemerals: return "no children for ephemerals";
        case zk_code::node_exists: return "node exists";
        case zk_code::not_empty: return "not empty";
        case zk_code::session_expired: return "session expired";
        case zk_code::invalid_acl: return "invalid ACL";
        case zk_code::auth_failed: return "auth failed";
        case zk_code::session_moved: return "session moved";
        case zk_code::no_watcher: return "no watcher";
    }
    return fmt::format("error {}", static_cast<std::int32_t>(code));
}

zookeeper_error::zookeeper_error(zk_code code, std::string_view what)
    : std::runtime_error{fmt::format("{}: {}", what, to_string(code))}, code_{code} {}

}  // namespace corozk::testing
