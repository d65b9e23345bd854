// SPDX-License-Identifier: Apache-2.0
// What goes wrong between clients and servers.
#include "conductor.hpp"

namespace corozk::chaos {

using namespace std::chrono_literals;
using testing::direction;
using testing::fault_proxy;

fault_proxy& conductor::any_proxy() {
    return ways_[one_of(2)][one_of(3)]->proxy;
}

bool conductor::cut_connections(const std::string& what) {
    any_proxy().cut();
    begin(what, 0ms);
    return true;
}

bool conductor::lose_direction(const std::string& what) {
    fault_proxy& proxy = any_proxy();
    auto way = one_in(2) ? direction::to_client : direction::to_server;
    proxy.black_hole(true, way);
    begin(what, between(50ms, 4s), [&proxy, way] { proxy.black_hole(false, way); });
    return true;
}

bool conductor::delay_network(const std::string& what) {
    fault_proxy& proxy = any_proxy();
    proxy.set_delay(direction::to_client, between(1ms, 300ms));
    begin(what, between(100ms, 2s), [&proxy] { proxy.set_delay(direction::to_client, 0ms); });
    return true;
}

/// All servers for half of the clients, at times for longer than a session lives.
bool conductor::part_network(const std::string& what) {
    auto& row = ways_[one_of(2)];
    for (auto& one : row)
        one->proxy.black_hole(true);
    begin(what, between(100ms, 2 * session_timeout), [&row] {
        for (auto& one : row)
            one->proxy.black_hole(false);
    });
    return true;
}

}  // namespace corozk::chaos
