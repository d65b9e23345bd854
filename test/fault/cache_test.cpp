// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/cache.hpp>

#include <boost/asio/post.hpp>

#include <catch2/catch.hpp>

#include <map>
#include <random>

namespace corozk::testing::cache_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

std::map<std::string, std::string> tree_at(std::uint16_t port, const std::string& root) {
    std::map<std::string, std::string> result;
    admin hand(port);
    if (!hand.exists(root))
        return result;
    result[root] = hand.data(root);
    for (const std::string& path : hand.tree(root))
        result[path] = hand.data(path);
    return result;
}

std::map<std::string, std::string> tree_of(const tree_state& state) {
    std::map<std::string, std::string> result;
    if (!state.nodes)
        return result;
    for (const auto& [path, node] : *state.nodes)
        result[path] = node.data;
    return result;
}

/// Changes something anywhere below the root, or the root.
void mutate(admin& hand, const std::string& root, std::mt19937& random) {
    std::string path = root;
    for (auto depth = random() % 4; depth > 0; --depth) {
        path += "/n" + std::to_string(random() % 3);
    }
    switch (random() % 4) {
        case 0: hand.erase_recursively(path); break;
        case 1:
            if (hand.exists(path))
                hand.set(path, std::to_string(random() % 1000));
            break;
        default:
            if (!hand.exists(path))
                hand.plant(path, std::to_string(random() % 1000));
    }
}

}  // namespace

TEST_CASE("cache: what happens while the connection is away is seen") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        admin hand(shared_server().port());
        hand.plant(path, "1");
        node_cache cache(zk, path);
        node_state state = co_await cache.next();
        tree_cache tree(zk, path);
        tree_state all = co_await tree.next();
        for (bool expired : {false, true}) {
            proxy.set_acceptance(acceptance::close_at_once);
            proxy.cut();
            if (expired)
                expire(proxy.session());
            // The same version, another node.
            hand.erase(path);
            hand.plant(path, expired ? "3" : "2");
            proxy.set_acceptance(acceptance::normal);
            state = co_await cache.next(state);
            CHECK(state.data == (expired ? "3" : "2"));
            while (all.nodes->at(path).data != state.data)
                all = co_await tree.next(all);
        }
    });
}

TEST_CASE("cache: equal to the server after random changes, kills and restarts") {
    server victim(recipe_server_options());
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            auto executor = co_await boost::asio::this_coro::executor;
            client zk = co_await connect_to(victim.hosts(), 20s);
            tree_cache cache(zk, "/root");
            cache_options one_shot;
            one_shot.one_shot_watches = true;
            tree_cache cache_too(zk, "/root", tree_cache::unlimited, one_shot);
            std::mt19937 random(5);
            tree_state state;
            for (int round = 0; round < 12; ++round) {
                admin hand(victim.port());
                for (int i = 0; i < 60; ++i) {
                    mutate(hand, "/root", random);
                    if (i % 10 == 0)
                        co_await boost::asio::post(executor, boost::asio::use_awaitable);
                }
                if (round % 4 == 1) {
                    victim.kill();
                    victim.restart();
                    for (int i = 0; i < 10; ++i) {
                        admin again(victim.port());
                        mutate(again, "/root", random);
                    }
                }
                auto expected = tree_at(victim.port(), "/root");
                co_await eventually_async([&] { return tree_of(cache.current()) == expected; },
                                          60s);
                co_await eventually_async([&] { return tree_of(cache_too.current()) == expected; },
                                          60s);
            }
            co_await zk.close();
        },
        std::chrono::seconds(180));
}

}  // namespace corozk::testing::cache_test
