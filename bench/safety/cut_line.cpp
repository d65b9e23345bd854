// SPDX-License-Identifier: Apache-2.0
#include "safety/cut_line.hpp"

#include "host_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace corozk::bench {

cut_line::cut_line(std::string_view hosts, bool zookeeper)
    : chroot_(hosts.substr(std::min(hosts.find('/'), hosts.size()))) {
    auto ports = ports_of(hosts);
    if (!zookeeper) {
        plain_.emplace();
        plain_->forward_to(ports.front());
        return;
    }
    for (auto port : ports)
        proxies_.push_back(std::make_unique<testing::fault_proxy>(port));
}

std::string cut_line::hosts() const {
    if (plain_)
        return plain_->hosts();
    std::vector<std::string> all;
    for (const auto& proxy : proxies_)
        all.push_back(proxy->hosts());
    return fmt::format("{}{}", fmt::join(all, ","), chroot_);
}

void cut_line::cut(bool on) {
    for (const auto& proxy : proxies_)
        proxy->black_hole(on);
    if (plain_) {
        plain_->hold(testing::direction::to_server, on);
        plain_->hold(testing::direction::to_client, on);
    }
}

bool on_this_machine(std::string_view hosts) {
    constexpr std::string_view here = "127.0.0.1:";
    auto count = ports_of(hosts).size();
    std::size_t found = 0;
    for (auto at = hosts.find(here); at != hosts.npos; at = hosts.find(here, at + 1))
        ++found;
    return found == count;
}

}  // namespace corozk::bench
