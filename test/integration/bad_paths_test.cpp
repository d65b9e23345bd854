// SPDX-License-Identifier: Apache-2.0
// Every operation of every recipe refuses a path that cannot be, in the same words, and sends nothing.
#include "client_fixture.hpp"
#include "every_operation.hpp"

#include <catch2/catch.hpp>

#include <string>

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

TEST_CASE("bad paths: a queue's folder for control, too") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        queue_options options;
        options.control_path = "relative";
        queue q(zk, path + "/q", options);
        auto [ec, none] = co_await q.take(as_tuple());
        CHECK(ec == errc::bad_path);
    });
}
