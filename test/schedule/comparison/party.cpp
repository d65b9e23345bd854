// SPDX-License-Identifier: Apache-2.0
#include "party.hpp"

#include <stdexcept>
#include <sys/time.h>
#include <utility>

namespace corozk::comparison {

party::party(const world& w, std::string chroot, const clientid_t* id) : world_(w) {
    zoo_set_debug_level(static_cast<ZooLogLevel>(0));
    std::string hosts = w.server + chroot;
    zh_ =
        zookeeper_init2(hosts.c_str(), &on_watch, 20'000, id, this, ZOO_NO_LOG_CLIENTENV, nullptr);
    if (!zh_)
        throw std::runtime_error("no handle");
    zoo_set_servers_resolution_delay(zh_, -1);
}

party::~party() {
    zookeeper_close(zh_);
}

void party::on_watch(zhandle_t*, int type, int, const char* path, void* context) {
    auto& self = *static_cast<party*>(context);
    if (type != ZOO_SESSION_EVENT)
        self.events_.insert("event " + std::to_string(type) + " " + path);
}

void party::disconnect() {
    zoo_set_servers(zh_, "255.255.255.255:1");
    for (int i = 0; i < 3; ++i) {
        int descriptor = -1;
        int events = 0;
        timeval wait{};
        if (zookeeper_interest(zh_, &descriptor, &events, &wait) != ZOK)
            break;
    }
}

void party::reconnect() {
    zoo_set_servers(zh_, world_.server.c_str());
}

std::multiset<std::string> party::take_events() {
    return std::exchange(events_, {});
}

}  // namespace corozk::comparison
