// SPDX-License-Identifier: Apache-2.0
// A test of somebody's own code, with the installed test kit: what does a worker do when its session
// expires?
#include <corozk.hpp>
#include <corozk/testing/fault_proxy.hpp>
#include <corozk/testing/raw_session.hpp>
#include <corozk/testing/run.hpp>
#include <corozk/testing/server.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <cstdlib>
#include <iostream>

namespace testing = corozk::testing;

namespace {

void require(bool what, const char* why) {
    if (!what) {
        std::cerr << "failed: " << why << '\n';
        std::exit(1);
    }
}

boost::asio::awaitable<void> loses_its_lock(testing::server& server, testing::fault_proxy& proxy) {
    auto zk = co_await corozk::client::connect(corozk::client_options(proxy.hosts()));
    corozk::lock lock(zk, "/locks/worker");
    auto held = co_await lock.acquire();
    require(held.valid(), "the lock is held");

    // The server expires the session, and the client hears of it.
    testing::session_record session = proxy.session();
    require(testing::expire_session(server.port(), session.session_id, session.password),
            "the session is expired");
    proxy.cut();
    corozk::error_code why = co_await held.wait_lost();
    require(corozk::is_session_lost(why), "the lock is lost with its session");
    require(!held.valid(), "and known to be");

    // It can be had again, in a new session.
    auto again = co_await lock.acquire();
    require(again.valid(), "the lock is held again");
    co_await again.release();
    co_await zk.close();
}

}  // namespace

int main() {
    testing::server server;
    testing::fault_proxy proxy(server.port());
    boost::asio::io_context context;
    testing::run(context, [&] { return loses_its_lock(server, proxy); });
    std::cout << "the worker noticed\n";
}
