// SPDX-License-Identifier: Apache-2.0
// What a server says of itself, in all pieces in which it may arrive.
#include "network/server_mode.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <string_view>

namespace corozk::testing::server_mode_test {

using detail::server_mode;
using detail::to_server_mode;

namespace {

std::string serving(std::string_view mode) {
    return "Zookeeper version: 3.8.0-1, built on 2022\nLatency min/avg/max: 0/0.0/0\nReceived: 1\n"
           "Sent: 0\nConnections: 1\nOutstanding: 0\nZxid: 0x2\nMode: " +
           std::string(mode) + "\nNode count: 5\n";
}

/// Of a whole response; before its end nothing else is said.
server_mode mode_of(const std::string& response) {
    const server_mode whole = to_server_mode(response, true);
    for (std::size_t n = 0; n < response.size(); ++n) {
        const server_mode so_far = to_server_mode(std::string_view(response).substr(0, n), false);
        CHECK((so_far == whole || so_far == server_mode::unknown));
    }
    return whole;
}

}  // namespace

TEST_CASE("server mode: with a quorum or without") {
    for (const char* mode : {"standalone", "leader", "follower", "observer"})
        CHECK(mode_of(serving(mode)) == server_mode::has_quorum);
    CHECK(mode_of("ClickHouse Keeper version: v23.8\n\nZxid: 1\nMode: leader\nNode count: 4\n") ==
          server_mode::has_quorum);
    CHECK(mode_of(serving("read-only")) == server_mode::no_quorum);
    CHECK(mode_of("This ZooKeeper instance is not currently serving requests\n") ==
          server_mode::no_quorum);
}

TEST_CASE("server mode: what does not say it") {
    CHECK(mode_of("srvr is not executed because it is not in the whitelist.\n") ==
          server_mode::unwilling);
    CHECK(mode_of("SSH-2.0-OpenSSH_9.2\r\n") == server_mode::foreign);
    CHECK(mode_of("220 mail.example ESMTP\r\n") == server_mode::foreign);
    CHECK(mode_of("\nMode: leader") == server_mode::foreign);  // cut off
    CHECK(to_server_mode("", true) == server_mode::unknown);
    CHECK(to_server_mode("220 mail.example ESMTP\r\n", false) == server_mode::unknown);
    CHECK(to_server_mode(std::string(4096, 'x'), false) == server_mode::foreign);
}

}  // namespace corozk::testing::server_mode_test
