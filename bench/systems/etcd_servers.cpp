// SPDX-License-Identifier: Apache-2.0
#include "systems/etcd_servers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

namespace corozk::bench {

namespace {

constexpr std::string_view etcd_serving = "ready to serve client requests";

std::string etcd_url(const testing::port_reservation& port) {
    return fmt::format("http://127.0.0.1:{}", port.port());
}

}  // namespace

etcd_servers::etcd_servers(std::size_t count, testing::storage where)
    : folder_(where), members_(count) {
    for (std::size_t i = 0; i < count; ++i)
        members_[i].name = fmt::format("member{}", i + 1);
    for (member& m : members_)
        launch(m);
    for (member& m : members_)
        m.process->wait_until_says(etcd_serving);
}

void etcd_servers::restart(std::size_t index) {
    member& m = members_.at(index);
    launch(m);
    m.process->wait_until_says(etcd_serving);
}

void etcd_servers::launch(member& m) const {
    auto folder = folder_.path() / m.name;
    std::filesystem::create_directories(folder);
    m.process = std::make_unique<service>(command(m), folder);
}

std::vector<std::string> etcd_servers::command(const member& m) const {
    std::vector<std::string> cluster;
    for (const member& each : members_)
        cluster.push_back(fmt::format("{}={}", each.name, etcd_url(each.peer)));
    return {find_installed(program),
            "--name",
            m.name,
            "--data-dir",
            folder_.path() / m.name / "data",
            "--listen-client-urls",
            etcd_url(m.client),
            "--advertise-client-urls",
            etcd_url(m.client),
            "--listen-peer-urls",
            etcd_url(m.peer),
            "--initial-advertise-peer-urls",
            etcd_url(m.peer),
            "--initial-cluster",
            fmt::format("{}", fmt::join(cluster, ",")),
            "--initial-cluster-state",
            "new",
            "--initial-cluster-token",
            folder_.path().filename()};
}

std::string etcd_servers::hosts() const {
    std::vector<std::string> all;
    for (const member& m : members_)
        all.push_back(fmt::format("127.0.0.1:{}", m.client.port()));
    return fmt::format("{}", fmt::join(all, ","));
}

}  // namespace corozk::bench
