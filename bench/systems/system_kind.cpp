// SPDX-License-Identifier: Apache-2.0
#include "systems/system_kind.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace corozk::bench {

std::span<const system_kind> all_systems() {
    static constexpr std::array systems{
        system_kind{"corozk",
                    "corozk (ZooKeeper)",
                    "",
                    "zookeeper",
                    true,
                    "first come, first served",
                    "yes; or commit(), which the servers check",
                    "yes: a majority knows of it",
                    "the end of a session, which its client sees coming"},
        system_kind{"etcd",
                    "etcd",
                    "etcd",
                    "etcd-server",
                    true,
                    "first come, first served",
                    "the key's create_revision, which a transaction can compare",
                    "yes: a majority knows of it",
                    "the end of a lease, which starts anew when another server leads"},
        system_kind{"redis",
                    "Redis",
                    "redis-server",
                    "redis-server",
                    false,
                    "none: the first to try gets it",
                    "none; a script on the server can compare the lock's value",
                    "one server: no, replicas hear of it later; Redlock: if clocks run evenly and "
                    "no server forgets",
                    "the end of the key's time, by each server's clock"},
    };
    return systems;
}

const system_kind& find_system(std::string_view name) {
    auto all = all_systems();
    auto at = std::find_if(
        all.begin(), all.end(), [name](const system_kind& s) { return s.name == name; });
    if (at == all.end())
        throw std::logic_error("no such system: " + std::string(name));
    return *at;
}

}  // namespace corozk::bench
