// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/testing/fault_proxy.hpp>
#include <corozk/testing/stream_proxy.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// One process's way to the servers on this machine, which carries nothing while it is cut, in
/// either direction: neither side hears that the other one has closed its connection.
class cut_line {
public:
    /// @param zookeeper whether it is ZooKeeper's protocol; else there is one server, and it never
    /// closes a connection
    cut_line(std::string_view hosts, bool zookeeper);

    std::string hosts() const;
    void cut(bool on);

private:
    std::string chroot_;  ///< "" if there is none
    std::vector<std::unique_ptr<testing::fault_proxy>> proxies_;
    std::optional<testing::stream_proxy> plain_;
};

/// Whether a proxy reaches all of them.
bool on_this_machine(std::string_view hosts);

}  // namespace corozk::bench
