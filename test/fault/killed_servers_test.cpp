// SPDX-License-Identifier: Apache-2.0
// Servers that are killed while they are asked for what old ones do not know: what they know is not
// doubted.
// ctest: PROCESSORS 2
#include "client_fixture.hpp"
#include "ensemble_fixture.hpp"
#include <corozk/client.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

namespace corozk::testing::client_tests::killed_servers_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

/// A server behind a proxy, and apart from all others.
struct lone_server {
    server instance{client_server_options()};
    fault_proxy proxy{instance.port()};

    /// Once: instead of a response.
    void kill_at(op_code op) {
        proxy.arm(at_op(op), call_at_request([this](const frame_info&) { instance.kill(); }));
    }
};

/// What ZooKeeper 3.4 and ClickHouse Keeper do not know, all at once, so that all of it is in flight
/// when the connection ends.
class later_requests {
public:
    later_requests(client& zk, const std::string& box) {
        create_options container;
        container.mode = create_mode::container;
        zk.create(box, "", container, created.handler());
        zk.add_watch("/", watch_mode::persistent, watched.handler());
        zk.read_all(read_set().get("/"), read.handler());
    }

    awaitable<void> end() {
        co_await created.wait();
        co_await watched.wait();
        co_await read.wait();
    }

    bool all_well() const { return !created.error() && !watched.error() && !read.error(); }

    outcome<created_node> created;
    outcome<persistent_watch> watched;
    outcome<std::vector<read_result>> read;
};

/// So many servers, each of which is killed at its first request for a container, so many times; then
/// what was asked for is asked for again, until it is well.
void ask_despite_kills(std::size_t count, int times) {
    std::deque<lone_server> servers(count);
    std::string hosts;
    for (lone_server& one : servers)
        hosts += (hosts.empty() ? "" : ",") + one.proxy.hosts();
    auto all_dead = [&] {
        return std::none_of(servers.begin(), servers.end(), [](const lone_server& one) {
            return one.instance.running();
        });
    };
    auto restart = [&] {
        for (lone_server& one : servers)
            one.instance.restart();
    };
    auto body = [&]() -> awaitable<void> {
        client zk = co_await connected_client(quiet_options(hosts));
        std::string box = "/box";
        for (int i = 0; i < times; ++i) {
            for (lone_server& one : servers)
                one.kill_at(op_code::create_container);
            while (!all_dead()) {
                box += "x";
                later_requests asked(zk, box);
                co_await asked.end();
                CHECK_FALSE(asked.all_well());
            }
            co_await in_background(restart);
        }
        for (bool well = false; !well;) {
            co_await reach(zk, session_state::connected);
            box += "x";
            later_requests asked(zk, box);
            co_await asked.end();
            for (error_code ec :
                 {asked.created.error(), asked.watched.error(), asked.read.error()}) {
                INFO(ec.message());
                REQUIRE((!ec || is_recoverable(ec) || is_session_lost(ec)));
            }
            well = asked.all_well();
        }
        for (lone_server& one : servers)
            CHECK(one.proxy.statistics().requests_of(op_code::create) == 0);
        co_await zk.close(as_tuple());
    };
    boost::asio::io_context context;
    run(context, body, 120s);
    run_to_idle(context);
}

}  // namespace

TEST_CASE("two servers that are killed in succession are asked for the same again") {
    ask_despite_kills(2, 1);
}

TEST_CASE("a server that is killed twice is asked for the same again") {
    ask_despite_kills(1, 2);
}

}  // namespace corozk::testing::client_tests::killed_servers_test
