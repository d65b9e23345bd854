// SPDX-License-Identifier: Apache-2.0

#include "jute.hpp"
#include "proxy/frame_reader.hpp"
#include "proxy/frame_stream.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string_view>

namespace corozk::testing::frame_test {

using namespace corozk::testing;
using namespace corozk::testing::detail;

TEST_CASE("a stream without frames is handed out as it comes") {
    frame_stream stream;
    const auto feed = [&stream](std::string_view bytes) {
        std::copy(bytes.begin(), bytes.end(), stream.room(bytes.size()).begin());
        stream.filled(bytes.size());
    };
    feed(framed("one"));
    CHECK(stream.next() == framed("one"));
    feed("sr");
    CHECK_FALSE(stream.next());
    CHECK(stream.pending() == 2);
    feed("vr");
    CHECK(stream.next() == "srvr");
    feed("more");
    CHECK(stream.next() == "more");
    CHECK_FALSE(stream.next());
    CHECK(stream.unframed());
}

namespace {

frame_info request(const std::string& payload) {
    frame_info info;
    info.payload = payload;
    read_request(info);
    info.payload = {};
    return info;
}

}  // namespace

TEST_CASE("a request's operation and path are read") {
    jute_writer create;
    create.int32(7).int32(1).buffer("/a/b").buffer("data");
    CHECK(request(create.bytes()).xid == 7);
    CHECK(request(create.bytes()).op == op_code::create);
    CHECK(request(create.bytes()).path == "/a/b");

    jute_writer multi;
    multi.int32(8).int32(14).int32(2).boolean(false).int32(-1).buffer("/in/multi");
    CHECK(request(multi.bytes()).op == op_code::multi);
    CHECK(request(multi.bytes()).path == "/in/multi");

    jute_writer ping;
    CHECK(request(ping.int32(-2).int32(11).bytes()).op == op_code::ping);
    CHECK(request("x").op == op_code::notification);
}

TEST_CASE("operations have names") {
    CHECK(to_string(op_code::get_children2) == "getChildren2");
    CHECK(to_string(static_cast<op_code>(12'345)) == "unknown operation");
    CHECK(is_create(op_code::create_ttl));
    CHECK_FALSE(is_create(op_code::erase));
}

}  // namespace corozk::testing::frame_test
