// SPDX-License-Identifier: Apache-2.0
// Every operation of every recipe refuses a path that cannot be, in the same words, and sends nothing.
#include "client_fixture.hpp"
#include "every_operation.hpp"

#include <catch2/catch.hpp>

#include <string>

namespace corozk::testing::client_tests::bad_paths_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;

TEST_CASE("bad paths: refused by every operation of every recipe, and nothing is sent") {
    with_client([](client& zk, std::string) -> awaitable<void> {
        for (std::string path : {"",
                                 "/",
                                 "relative",
                                 "/trailing/",
                                 "/a//b",
                                 "/a/../b",
                                 "/a/.",
                                 "/a\x01"
                                 "b"}) {
            CAPTURE(path);
            auto before = zk.counters().requests;
            every_operation all(zk, path);
            all.ask_all(path == "/");
            co_await eventually_async([&] { return all.complete(); });
            for (const auto& [operation, answer] : all.answers()) {
                INFO(operation);
                CHECK(answer == errc::bad_path);
            }
            CHECK(all.asked() > 50);
            CHECK(zk.counters().requests == before);
        }
    });
}

TEST_CASE("bad paths: what the server refuses, and nothing else") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path);
        admin hand = observer();
        for (std::string_view character :
             {"\x20",         "\x7e",         "\x01",         "\x1f",         "\x7f",
              "\xc2\x80",     "\xc2\x9f",     "\xc2\xa0",     "\xdf\xbf",     "\xe0\xa0\x80",
              "\xed\x9f\xbf", "\xed\xa0\x80", "\xee\x80\x80", "\xef\xa3\xbf", "\xef\xa4\x80",
              "\xef\xbf\xaf", "\xef\xbf\xb0", "\xef\xbf\xbd", "\xef\xbf\xbf", "\xf0\x9f\x98\x80",
              "\xff",         "\xc3",         "\xc0\xaf"}) {
            std::string node = path + "/a" + std::string(character) + "b";
            CAPTURE(node);
            bool server_refuses = false;
            try {
                hand.plant(at_server(node));
            } catch (const std::exception&) {
                server_refuses = true;
            }
            auto [ec, data] = co_await zk.get(node, as_tuple());
            CHECK((ec == errc::bad_path) == server_refuses);
        }
    });
}

TEST_CASE("bad paths: a queue's folder for control, too") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        queue_options options;
        options.control_path = "relative";
        queue q(zk, path + "/q", options);
        auto [ec, none] = co_await q.take(as_tuple());
        CHECK(ec == errc::bad_path);
    });
}

TEST_CASE("bad paths: a transaction's that goes with something that is held, which stays held") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        queue q(zk, path + "/q");
        co_await q.put("item");
        queue_claim claim = co_await q.consume();
        lock l(zk, path + "/lock");
        ownership held = co_await l.acquire();
        for (const char* bad : {"relative", "/a/.", "/a/"}) {
            CAPTURE(bad);
            transaction steps;
            steps.create(path + "/effect", "").erase(bad);
            auto [acknowledged] = co_await claim.acknowledge(steps, as_tuple());
            CHECK(acknowledged == errc::bad_path);
            CHECK(claim.valid());
            auto [committed, results] = co_await held.commit(steps, as_tuple());
            CHECK(committed == errc::bad_path);
            CHECK(held.valid());
        }
        auto effect = co_await zk.exists(path + "/effect");
        CHECK_FALSE(effect.has_value());
        co_await claim.acknowledge();
        co_await held.release();
    });
}

}  // namespace corozk::testing::client_tests::bad_paths_test
