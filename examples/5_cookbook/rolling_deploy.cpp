// SPDX-License-Identifier: Apache-2.0
// A rolling deployment: at most two hosts at a time restart, and one that does not become healthy
// halts the others.
//
//   rolling_deploy 127.0.0.1:2181
#include "../2_recipes/program.hpp"
#include <corozk.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <iostream>
#include <stdexcept>

using boost::asio::awaitable;

struct restarts {
    int now = 0;
    int most = 0;
    int all = 0;
};

/// Instead of a restart. @return whether the new version is healthy
awaitable<bool> restart(const std::string& host, restarts& count) {
    count.most = std::max(count.most, ++count.now);
    ++count.all;
    boost::asio::steady_timer time(co_await boost::asio::this_coro::executor);
    time.expires_after(std::chrono::milliseconds(20));
    co_await time.async_wait(boost::asio::use_awaitable);
    --count.now;
    co_return host != "web-3";
}

/// Runs on every host.
awaitable<void> deploy(std::string hosts, std::string host, restarts& count) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    corozk::service_discovery services(zk, "/services");
    corozk::service_instance self("web", host + ".example.org", 8080);
    self.id = host;
    co_await services.register_instance(self);

    corozk::semaphore turns(zk, "/deploy/web/turns", 2, corozk::semaphore_options(host));
    corozk::barrier halt(zk, "/deploy/web/halt");
    auto update = [&](corozk::ownership&) -> awaitable<void> {
        bool halted = co_await halt.check();
        if (halted) {
            std::cout << host << " keeps the old version\n";
            co_return;
        }
        self.enabled = false;  // no new requests
        co_await services.update(self);
        bool healthy = co_await restart(host, count);
        if (healthy) {
            self.enabled = true;
            co_await services.update(self);
        } else {
            co_await halt.set();
        }
        std::cout << host << (healthy ? " has the new version\n" : " is sick: halt\n");
    };
    co_await turns.run(1, update);  // cancels it if the permit is lost
    co_await zk.close();
}

awaitable<void> work(std::string hosts) {
    using namespace boost::asio::experimental::awaitable_operators;
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    co_await erase_leftovers(zk, "/deploy");
    restarts count;
    auto first = deploy(hosts, "web-1", count) && deploy(hosts, "web-2", count);
    auto second = deploy(hosts, "web-3", count) && deploy(hosts, "web-4", count);
    co_await (std::move(first) && std::move(second));
    // A host that has a permit is no longer halted.
    co_await deploy(hosts, "web-5", count);
    if (count.most > 2 || count.all > 4)
        throw std::runtime_error("too many restarts");
    if (count.all == 0)
        throw std::runtime_error("no restart");
    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
