// SPDX-License-Identifier: Apache-2.0
// Watches whose reading operation is on its way when the client is closed.
// ctest: CHROOT
#include "client_fixture.hpp"
#include <corozk/client.hpp>

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

namespace corozk::testing::client_tests::client_watch_close_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

/// A reading operation, and who waits for its watch.
struct reading {
    outcome<watch_event> event;
    watch changed;
    bool answered = false;
    bool set = false;  ///< with a watch

    template <class Result>
    auto handler() {
        return [this](error_code ec, Result r) {
            answered = true;
            if (ec)
                return;
            set = true;
            changed = std::move(r.changed);
            changed.next(event.handler());
        };
    }
};

}  // namespace

TEST_CASE("close: a watch that is answered for while the client closes ends as all others") {
    constexpr std::size_t many = 50;
    boost::asio::io_context context;
    std::vector<std::unique_ptr<reading>> readings;
    std::string path = fresh_path();
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connected_client(quiet_options(the_hosts()));
        co_await zk.ensure_path(path);
        std::uint64_t before = zk.counters().requests;
        for (std::size_t i = 0; i < many; ++i) {
            for (int kind = 0; kind < 3; ++kind) {
                reading& r = *readings.emplace_back(std::make_unique<reading>());
                if (kind == 0)
                    zk.watch_data(path, r.handler<watched_data>());
                if (kind == 1)
                    zk.watch_exists(path + "-none", r.handler<watched_stat>());
                if (kind == 2)
                    zk.watch_children(path, r.handler<watched_children>());
            }
        }
        while (zk.counters().requests == before) {
            co_await boost::asio::post(boost::asio::use_awaitable);
        }
        // Sent, and not answered yet.
        co_await zk.close();
    });
    run_to_idle(context);
    std::size_t set = 0;
    for (auto& r : readings) {
        CHECK(r->answered);
        if (!r->set)
            continue;
        ++set;
        REQUIRE(r->event.calls() == 1);
        CHECK(r->event.error() == errc::closed);
    }
    CHECK(set > 0);
}

}  // namespace corozk::testing::client_tests::client_watch_close_test
