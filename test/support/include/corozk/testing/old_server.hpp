// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/fault_proxy.hpp"
#include "corozk/testing/op_code.hpp"

#include <cstdint>
#include <set>

namespace corozk::testing {

/** @brief What a server does with an operation that it does not know. */
enum class ignorance : std::uint8_t {
    answers,   ///< says so, in turn
    refuses,   ///< says so at once, and closes the connection: ZooKeeper
    hangs_up,  ///< closes the connection; earlier answers are lost: ClickHouse Keeper, RaftKeeper
};

/** @brief The operations that came after ZooKeeper 3.4. */
std::set<op_code> later_operations();

/** @brief How a server differs from the one behind a proxy. */
struct old_server {
    std::set<op_code> unknown = later_operations();  ///< also as steps of transactions
    ignorance how = ignorance::refuses;
    /// ClickHouse Keeper never continues a session: the client gets a new one, and nothing is said.
    bool forgets_sessions = false;
    /// ClickHouse Keeper's stats: `pzxid` does not change when a child is deleted, and `cversion`
    /// does when a child's data is set. Of what happens through the proxy.
    bool keeper_stats = false;
};

/**
 * @brief Makes the server behind the proxy an old one.
 *
 * Takes the proxy's editors, and arms rules that precede those armed later. Before there are
 * connections.
 */
void play(const old_server& what, fault_proxy& proxy);

}  // namespace corozk::testing
