// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace corozk::testing {

/** @brief The error numbers of ZooKeeper's protocol that the test kit meets. */
enum class zk_code : std::int32_t {
    ok = 0,
    connection_loss = -4,  ///< made here: the connection broke before the answer came
    marshalling_error = -5,
    unimplemented = -6,
    bad_arguments = -8,
    no_node = -101,
    no_auth = -102,
    bad_version = -103,
    no_children_for_ephemerals = -108,
    node_exists = -110,
    not_empty = -111,
    session_expired = -112,
    invalid_acl = -114,
    auth_failed = -115,
    session_moved = -118,
    no_watcher = -121,
};

/** @brief The number's name, or "error <number>". */
std::string to_string(zk_code code);

/** @brief An error answered by the server, or the loss of the connection to it. */
class zookeeper_error : public std::runtime_error {
public:
    zookeeper_error(zk_code code, std::string_view what);

    zk_code code() const noexcept { return code_; }

private:
    zk_code code_;
};

}  // namespace corozk::testing
