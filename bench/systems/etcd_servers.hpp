// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "systems/service.hpp"
#include <corozk/testing/port.hpp>
#include <corozk/testing/temporary_directory.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace corozk::bench {

/// One etcd server, or several that form a cluster, on free ports of this machine. Version 3.4
/// cannot be told not to wait for fsync: with its data in memory that costs nothing.
class etcd_servers {
public:
    static constexpr const char* program = "etcd";

    /// Returns when all of them serve.
    etcd_servers(std::size_t count, testing::storage where);

    /// HOST:PORT[,HOST:PORT...]
    std::string hosts() const;

    /// SIGKILL; returns when it is gone.
    void kill(std::size_t index) { members_.at(index).process.reset(); }

    /// On the same data and ports; returns when it serves.
    void restart(std::size_t index);

private:
    struct member {
        member() = default;

        std::string name;
        testing::port_reservation client;
        testing::port_reservation peer;
        std::unique_ptr<service> process;
    };

    void launch(member& m) const;
    std::vector<std::string> command(const member& m) const;

    testing::temporary_directory folder_;
    std::vector<member> members_;
};

}  // namespace corozk::bench
