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

/// Redis servers that know nothing of each other, on free ports of this machine: one, or as many as
/// Redlock asks. Each records every change in its append-only file.
class redis_servers {
public:
    static constexpr const char* program = "redis-server";

    /// @param fsync whether each change waits for the disk
    redis_servers(std::size_t count, testing::storage where, bool fsync);

    /// HOST:PORT[,HOST:PORT...]
    std::string hosts() const;

    /// SIGKILL; returns when it is gone.
    void kill(std::size_t index) { members_.at(index).process.reset(); }

    /// On the same data and port; returns when it serves.
    void restart(std::size_t index);

private:
    struct member {
        member() = default;

        testing::port_reservation port;
        std::unique_ptr<service> process;
    };

    void launch(std::size_t index);

    testing::temporary_directory folder_;
    bool fsync_;
    std::vector<member> members_;
};

}  // namespace corozk::bench
