// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/op_code.hpp"

namespace corozk::testing {

std::string_view to_string(op_code op) noexcept {
    switch (op) {
        case op_code::close_session:
            return "closeSession";
        case op_code::create_session:
            return "connect";
        case op_code::notification:
            return "notification";
        case op_code::create:
            return "create";
        case op_code::erase:
            return "delete";
        case op_code::exists:
            return "exists";
        case op_code::get_data:
            return "getData";
        case op_code::set_data:
            return "setData";
        case op_code::get_acl:
            return "getACL";
        case op_code::set_acl:
            return "setACL";
        case op_code::get_children:
            return "getChildren";
        case op_code::sync:
            return "sync";
        case op_code::ping:
            return "ping";
        case op_code::get_children2:
            return "getChildren2";
        case op_code::check:
            return "check";
        case op_code::multi:
            return "multi";
        case op_code::create2:
            return "create2";
        case op_code::reconfig:
            return "reconfig";
        case op_code::check_watches:
            return "checkWatches";
        case op_code::remove_watches:
            return "removeWatches";
        case op_code::create_container:
            return "createContainer";
        case op_code::delete_container:
            return "deleteContainer";
        case op_code::create_ttl:
            return "createTTL";
        case op_code::multi_read:
            return "multiRead";
        case op_code::auth:
            return "auth";
        case op_code::set_watches:
            return "setWatches";
        case op_code::sasl:
            return "sasl";
        case op_code::get_ephemerals:
            return "getEphemerals";
        case op_code::get_all_children_number:
            return "getAllChildrenNumber";
        case op_code::set_watches2:
            return "setWatches2";
        case op_code::add_watch:
            return "addWatch";
    }
    return "unknown";
}

bool has_path(op_code op) noexcept {
    switch (op) {
        case op_code::create:
        case op_code::erase:
        case op_code::exists:
        case op_code::get_data:
        case op_code::set_data:
        case op_code::get_acl:
        case op_code::set_acl:
        case op_code::get_children:
        case op_code::sync:
        case op_code::get_children2:
        case op_code::check:
        case op_code::create2:
        case op_code::check_watches:
        case op_code::remove_watches:
        case op_code::create_container:
        case op_code::delete_container:
        case op_code::create_ttl:
        case op_code::get_ephemerals:
        case op_code::get_all_children_number:
        case op_code::add_watch:
            return true;
        default:
            return false;
    }
}

bool is_create(op_code op) noexcept {
    return op == op_code::create || op == op_code::create2 || op == op_code::create_container ||
           op == op_code::create_ttl;
}

}  // namespace corozk::testing
