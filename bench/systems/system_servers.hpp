// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.hpp"
#include "systems/etcd_servers.hpp"
#include "systems/redis_servers.hpp"
#include "systems/system_kind.hpp"

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>
#include <vector>

namespace corozk::bench {

/// The servers of all systems that take part, running as long as this lives; ZooKeeper's are the
/// stage's. As many of each, with their data in the same place.
class system_servers {
public:
    /// Starts them; blocks. Leaves out those that are not installed.
    explicit system_servers(job& j);

    struct running {
        const system_kind* kind = nullptr;
        std::string hosts;
        std::string title;  ///< with its version
    };
    const std::vector<running>& all() const noexcept { return all_; }

    /// Which server of several leads; of Redis's, of which none does, any.
    boost::asio::awaitable<std::size_t> leader(const running& system);

    /// SIGKILL; blocks until it is gone.
    void kill(const running& system, std::size_t index);

    /// Blocks until it serves again.
    void restart(const running& system, std::size_t index);

    /// What was left out, and why: lines, or nothing.
    const std::string& remarks() const noexcept { return remarks_; }

private:
    job& job_;
    std::unique_ptr<etcd_servers> etcd_;
    std::unique_ptr<redis_servers> redis_;
    std::vector<running> all_;
    std::string remarks_;
};

}  // namespace corozk::bench
