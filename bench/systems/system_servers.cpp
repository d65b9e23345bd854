// SPDX-License-Identifier: Apache-2.0
#include "systems/system_servers.hpp"

#include "host_list.hpp"
#include "systems/etcd_api.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <stdexcept>

namespace corozk::bench {

system_servers::system_servers(job& j) : job_(j) {
    auto where = j.wanted.on_disk ? testing::storage::disk : testing::storage::memory;
    auto count = static_cast<std::size_t>(j.wanted.servers);
    for (const auto& name : j.wanted.systems) {
        running one;
        one.kind = &find_system(name);
        one.title = one.kind->title;
        if (name == "corozk") {
            one.hosts = j.on.hosts();
            all_.push_back(one);
            continue;
        }
        std::string program = find_installed(one.kind->program);
        if (program.empty()) {
            remarks_ += fmt::format(
                "{}: left out, not installed: Debian's package {}\n", one.title, one.kind->package);
            continue;
        }
        j.on.shown().update("starting " + one.title);
        if (name == "etcd") {
            etcd_ = with_free_ports([&] { return std::make_unique<etcd_servers>(count, where); });
            one.hosts = etcd_->hosts();
            one.title += " " + version_after(program, "etcd Version: ");
        } else {
            bool fsync = j.wanted.on_disk;
            redis_ = with_free_ports(
                [&] { return std::make_unique<redis_servers>(count, where, fsync); });
            one.hosts = redis_->hosts();
            one.title += " " + version_after(program, "v=");
        }
        all_.push_back(one);
    }
}

namespace {

/// A cluster that has just lost a member may elect.
constexpr int most_leader_looks = 300;
constexpr auto leader_interval = std::chrono::milliseconds(100);

}  // namespace

boost::asio::awaitable<std::size_t> system_servers::leader(const running& system) {
    if (system.kind->name == "redis")
        co_return 0;
    auto executor = co_await boost::asio::this_coro::executor;
    for (int i = 0; i < most_leader_looks; ++i) {
        if (system.kind->name == "corozk") {
            if (auto index = job_.on.leader())
                co_return *index;
        } else {
            auto ports = ports_of(system.hosts);
            for (std::size_t index = 0; index < ports.size(); ++index) {
                etcd_api api(executor, ports[index]);
                bool leads = co_await api.leads();
                if (leads)
                    co_return index;
            }
        }
        boost::asio::steady_timer timer(executor, leader_interval);
        co_await timer.async_wait(boost::asio::use_awaitable);
    }
    throw std::runtime_error("no server leads");
}

void system_servers::kill(const running& system, std::size_t index) {
    if (system.kind->name == "corozk") {
        job_.on.server(index).kill();
    } else if (system.kind->name == "etcd") {
        etcd_->kill(index);
    } else {
        redis_->kill(index);
    }
}

void system_servers::restart(const running& system, std::size_t index) {
    if (system.kind->name == "corozk") {
        job_.on.server(index).restart();
    } else if (system.kind->name == "etcd") {
        etcd_->restart(index);
    } else {
        redis_->restart(index);
    }
}

}  // namespace corozk::bench
