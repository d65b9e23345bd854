// SPDX-License-Identifier: Apache-2.0
#include "engine/meter.hpp"

#include <catch2/catch.hpp>

namespace corozk::testing::client_test {

using boost::asio::awaitable;

TEST_CASE("costs: client") {
    costs_of("client", 1, [](meter& m) {
        client& zk = m[0];
        std::string node = m.path();
        m.count("create", [&]() -> awaitable<void> { co_await zk.create(node, "data"); });
        m.count("get", [&]() -> awaitable<void> { co_await zk.get(node); });
        m.count("set", [&]() -> awaitable<void> { co_await zk.set(node, "other"); });
        m.count("exists", [&]() -> awaitable<void> { co_await zk.exists(node); });
        m.count("children", [&]() -> awaitable<void> { co_await zk.get_children(node); });
        m.count("commit", [&]() -> awaitable<void> {
            transaction steps;
            steps.check(node, 1).create(node + "/a", "data").erase(node + "/a");
            co_await zk.commit(steps);
        });
        auto get = [&]() -> awaitable<void> { co_await zk.get(node); };
        m.count_steps("100 gets at the same time", [&] { m.begin_many(100, get); });
        m.count("ensure_path",
                [&]() -> awaitable<void> { co_await zk.ensure_path(node + "/b/c"); });
        m.count("ensure_path, again",
                [&]() -> awaitable<void> { co_await zk.ensure_path(node + "/b/c"); });
        m.run([&]() -> awaitable<void> { co_await zk.erase(node + "/b/c"); });
        m.count("erase", [&]() -> awaitable<void> { co_await zk.erase(node + "/b"); });
    });
}

}  // namespace corozk::testing::client_test
