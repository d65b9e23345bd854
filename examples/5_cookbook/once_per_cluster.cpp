// SPDX-License-Identifier: Apache-2.0
// A periodic job that every host starts and one of them runs, as cron would: once per period.
//
//   once_per_cluster 127.0.0.1:2181
#include "../2_recipes/program.hpp"
#include <corozk/recipe/lock.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <functional>
#include <iostream>
#include <stdexcept>

using boost::asio::awaitable;

/// Runs the job unless it has run in this period, such as "2026-11-26".
awaitable<bool> once(corozk::client& zk, std::string period, std::function<awaitable<void>()> job) {
    corozk::lock lock(zk, "/cron/report/lock");
    auto held = co_await lock.acquire();

    co_await zk.ensure_path("/cron/report/last");
    auto last = co_await held.read("/cron/report/last");
    if (last.data >= period)
        co_return false;  // by another host

    co_await job();
    corozk::transaction record;
    record.set("/cron/report/last", period);
    co_await held.commit(record);
    co_await held.release();
    co_return true;
}

awaitable<void> host(std::string hosts, std::string name, int& runs) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    auto job = [&]() -> awaitable<void> {
        std::cout << name << " writes the report\n";
        ++runs;
        co_return;
    };
    for (const char* day : {"2026-11-25", "2026-11-26"}) {
        bool ran = co_await once(zk, day, job);
        std::cout << name << ": " << day << (ran ? " done\n" : " done by another host\n");
    }
    co_await zk.close();
}

awaitable<void> work(std::string hosts) {
    using namespace boost::asio::experimental::awaitable_operators;
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    co_await erase_leftovers(zk, "/cron");
    int runs = 0;
    co_await (host(hosts, "anna", runs) && host(hosts, "berta", runs) &&
              host(hosts, "carla", runs));
    if (runs != 2)
        throw std::runtime_error("not once per period");
    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
