// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/stream_proxy.hpp"

#include "corozk/testing/admin.hpp"
#include "corozk/testing/error.hpp"
#include "corozk/testing/server.hpp"

#include <catch2/catch.hpp>

namespace corozk::testing::stream_proxy_test {

using namespace corozk::testing;
using namespace std::chrono_literals;

TEST_CASE("a stream proxy passes everything on, and holds back answers until told otherwise") {
    stream_proxy proxy;
    CHECK_THROWS(raw_session{proxy.port()});
    proxy.forward_to(shared_server().port());
    raw_session through{proxy.port()};
    through.create("/through-a-stream-proxy", "here");
    CHECK(through.get("/through-a-stream-proxy").first == "here");

    admin beside{shared_server().port()};
    proxy.hold_answers(true);
    through.set_operation_timeout(50ms);
    CHECK_THROWS_AS(through.set("/through-a-stream-proxy", "there"), timeout_error);
    // The request went through.
    CHECK(beside.data("/through-a-stream-proxy") == "there");
    CHECK_THROWS_AS(through.ping(), timeout_error);
    proxy.hold_answers(false);
    through.set_operation_timeout(10s);
    CHECK(through.get("/through-a-stream-proxy").first == "there");
    through.erase("/through-a-stream-proxy");
}

}  // namespace corozk::testing::stream_proxy_test
