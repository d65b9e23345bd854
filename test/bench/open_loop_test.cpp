// SPDX-License-Identifier: Apache-2.0
// A client that sends at fixed times: what is due while the server stands still counts as late.
#include "open_loop.hpp"

#include <corozk/testing/eventually.hpp>
#include <corozk/testing/server.hpp>

#include <catch2/catch.hpp>

namespace corozk::testing::open_loop_test {

using namespace corozk::bench;

TEST_CASE("open loop: requests that are due while the server stands still count from then") {
    server zookeeper;
    constexpr double per_second = 200;
    constexpr auto standstill = std::chrono::milliseconds(100);
    constexpr std::size_t due_meanwhile = 20;
    for (auto what : {open_loop::request::get, open_loop::request::set}) {
        open_loop loop(zookeeper.hosts(), "/", 10'000, what, per_second);
        auto passed = [&loop](bench::clock::time_point t) { return loop.has_passed(t); };
        auto begun = bench::clock::now();
        eventually([&] { return passed(begun); });
        zookeeper.stop();
        auto stopped = bench::clock::now();
        while (bench::clock::now() < stopped + standstill)
            std::this_thread::sleep_until(stopped + standstill);
        auto ended = stopped + standstill;
        zookeeper.cont();
        eventually([&] { return passed(ended); });
        auto times = loop.between(stopped, ended);
        INFO(times.size());
        CHECK(times.size() >= due_meanwhile - 1);
        CHECK(times.size() <= due_meanwhile + 1);
        // The first one was due within a period, and nothing was answered before the end.
        CHECK(times.max() >= to_microseconds(standstill) - 1e6 / per_second);
        CHECK(loop.between(ended, ended).empty());
    }
}

TEST_CASE("open loop: what ends it is told") {
    server zookeeper;
    open_loop loop(zookeeper.hosts(), "/missing", 10'000, open_loop::request::get, 100);
    auto ends = [&loop] {
        try {
            return loop.has_passed(bench::clock::time_point::max());
        } catch (const std::runtime_error& e) {
            CHECK(std::string(e.what()).find("no node") != std::string::npos);
            return true;
        }
    };
    eventually(ends);
}

}  // namespace corozk::testing::open_loop_test
