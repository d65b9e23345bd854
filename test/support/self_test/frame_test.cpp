// SPDX-License-Identifier: Apache-2.0

#include "frame_splitter.hpp"
#include "jute.hpp"
#include "proxy/frame_reader.hpp"

#include <catch2/catch.hpp>

#include <limits>

namespace corozk::testing::frame_test {

using namespace corozk::testing;
using namespace corozk::testing::detail;

TEST_CASE("jute values survive a round trip") {
    jute_writer writer;
    writer.boolean(true).int32(-8).int64(std::numeric_limits<std::int64_t>::min());
    writer.buffer("path").int32(-1).raw("rest");
    jute_reader reader{writer.bytes()};
    CHECK(reader.boolean());
    CHECK(reader.int32() == -8);
    CHECK(reader.int64() == std::numeric_limits<std::int64_t>::min());
    CHECK(reader.buffer() == "path");
    CHECK(reader.buffer().empty());
    CHECK(reader.rest() == "rest");
    CHECK_THROWS_AS(reader.int64(), malformed_frame);
}

TEST_CASE("frames are found however the bytes arrive") {
    const std::size_t step = GENERATE(1U, 2U, 3U, 5U, 7U, 100U);
    const std::string stream = framed("one") + framed("") + framed("three");
    frame_splitter splitter;
    std::vector<std::string> frames;
    for (std::size_t begin = 0; begin < stream.size(); begin += step) {
        splitter.feed(std::string_view{stream}.substr(begin, step));
        while (auto frame = splitter.next()) {
            frames.push_back(*frame);
        }
    }
    CHECK(frames == std::vector{framed("one"), framed(""), framed("three")});
    CHECK(splitter.pending() == 0);
    CHECK_FALSE(splitter.unframed());
}

TEST_CASE("large frames are found") {
    const std::string body(9UL * 1024 * 1024, 'x');
    const std::string stream = framed("small") + framed(body) + framed("small");
    frame_splitter splitter;
    std::vector<std::size_t> sizes;
    for (std::size_t begin = 0; begin < stream.size(); begin += 60'000) {
        splitter.feed(std::string_view{stream}.substr(begin, 60'000));
        while (auto frame = splitter.next()) {
            sizes.push_back(frame->size());
        }
    }
    CHECK(sizes == std::vector<std::size_t>{9, body.size() + 4, 9});
}

TEST_CASE("a stream without frames is handed out as it comes") {
    frame_splitter splitter;
    splitter.feed("sr");
    CHECK_FALSE(splitter.next());
    splitter.feed("vr");
    CHECK(splitter.next() == "srvr");
    splitter.feed("more");
    CHECK(splitter.next() == "more");
    CHECK_FALSE(splitter.next());
    CHECK(splitter.unframed());
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
    CHECK(to_string(static_cast<op_code>(12'345)) == "unknown");
    CHECK(is_create(op_code::create_ttl));
    CHECK_FALSE(is_create(op_code::erase));
}

}  // namespace corozk::testing::frame_test
