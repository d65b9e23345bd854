// SPDX-License-Identifier: Apache-2.0
// ctest: ALONE
// A machine whose loopback interface is down: the C client begins to connect there. The system call is
// replaced for this program.
#include "client_fixture.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace corozk::testing::client_tests::loopback_test {

namespace {

std::atomic<int> refusals{0};

}  // namespace

/// Fails at once for port 1 of this machine, where the C client begins.
extern "C" int connect(int descriptor, const sockaddr* address, socklen_t size) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, std::min<std::size_t>(size, sizeof v4));
    const std::uint16_t port = ntohs(v4.sin_port);
    if (v4.sin_family == AF_INET && v4.sin_addr.s_addr == htonl(INADDR_LOOPBACK) && port == 1) {
        ++refusals;
        errno = ENETUNREACH;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_connect, descriptor, address, size));
}

TEST_CASE("loopback: without it the client connects, again and again, and leaves nothing behind") {
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port());
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connected_client(quiet_options(rooted(proxy.hosts())));
        for (int i = 0; i < 3; ++i) {
            session_status status = zk.status();
            proxy.cut();
            co_await zk.next_status(status);
            co_await reach(zk, session_state::connected);
            co_await zk.sync();
        }
        CHECK(refusals >= 4);
        CHECK(zk.generation() == 1);
        co_await zk.close();
    });
    run_to_idle(context);
}

}  // namespace corozk::testing::client_tests::loopback_test
