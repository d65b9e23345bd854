// SPDX-License-Identifier: Apache-2.0
// Many responses on a slow connection: together they take longer than the session lives.
#include "client_fixture.hpp"
#include <corozk/client.hpp>
#include <corozk/testing/fault_proxy.hpp>

#include <boost/asio/detached.hpp>

#include <catch2/catch.hpp>

namespace corozk::testing::client_tests::session_slow_link_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;
using wire = corozk::testing::op_code;

// Responses arrive in order, those to heartbeats behind the others: without a limit all sessions would end
// like the first one.
TEST_CASE(
    "reads that take longer than the session timeout: fewer at once, and the session remains") {
    constexpr int reads = 2'000;  // 20 s, of 4 s each
    fault_proxy proxy(the_server().port());
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client_options options = quiet_options(rooted(proxy.hosts()));
            options.session_timeout = 4'000ms;
            client zk = co_await connected_client(options);
            co_await zk.create("/a", "");
            proxy.arm(at_op(wire::get_data).times(0), delay_reply(10ms));
            int done = 0;
            while (done < reads) {
                int pending = reads - done;
                for (int i = pending; i > 0; --i) {
                    zk.get("/a", [&](error_code ec, const node_data&) {
                        --pending;
                        done += ec ? 0 : 1;
                    });
                }
                co_await eventually_async([&] { return pending == 0; }, 60s);
                if (done < reads)
                    co_await reach(zk, session_state::connected);
            }
            CHECK(zk.status().generation <= 3);
            co_await zk.close();
        },
        120s);
    run_to_idle(context);
}

}  // namespace corozk::testing::client_tests::session_slow_link_test
