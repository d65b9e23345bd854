// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/raw_session.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::testing {

/**
 * @brief A hand on the server's tree, independent of the code under test.
 *
 * Connects when first used, and again when the connection or the session is gone (the server was
 * restarted, say). Reads are preceded by a sync, so they are never stale, whichever member of an
 * ensemble answers. Operations block; errors are those of raw_session. A missing node is an answer
 * here, not an error, wherever the description says so.
 *
 * Ephemeral nodes planted here belong to its session and vanish with the object.
 *
 * Thread safety: distinct objects are safe, a shared one is not.
 */
class admin {
public:
    /** @brief Prepares for the server at 127.0.0.1:port; connects later. */
    explicit admin(std::uint16_t port, raw_session_options options = {});

    /**
     * @brief Creates a node, and its missing parents as persistent ones. Returns its path.
     * @throws zookeeper_error node_exists if it is there already.
     */
    std::string plant(const std::string& path,
                      std::string_view data = {},
                      node_kind kind = node_kind::persistent,
                      const std::vector<acl_entry>& acl = open_acl());

    /** @brief Writes a node's data, whatever its version. */
    void set(const std::string& path, std::string_view data);

    /** @brief Deletes a node; false if there was none. */
    bool erase(const std::string& path);

    /** @brief Deletes a node and everything below it; returns how many nodes that were. */
    std::size_t erase_recursively(const std::string& path);

    /** @brief The sorted names of the children; none if there is no such node. */
    std::vector<std::string> children(const std::string& path);

    /** @brief The sorted paths of everything below a node, without ZooKeeper's own /zookeeper. */
    std::vector<std::string> tree(const std::string& path = "/");

    /** @brief The node's metadata, or nothing. */
    std::optional<node_stat> stat(const std::string& path);

    /** @brief True if the node is there. */
    bool exists(const std::string& path) { return stat(path).has_value(); }

    /** @brief The node's data. @throws zookeeper_error no_node if it is not there. */
    std::string data(const std::string& path);

    /** @brief The session, connected and alive, for everything else. */
    raw_session& session();

private:
    std::size_t erase_children(const std::string& path);
    std::vector<std::string> list(const std::string& path);

    std::uint16_t port_;
    raw_session_options options_;
    std::optional<raw_session> session_;
    std::chrono::steady_clock::time_point last_used_;
};

}  // namespace corozk::testing
