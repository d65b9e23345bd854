// SPDX-License-Identifier: Apache-2.0
#include "wire/frame_splitter.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::testing::frame_splitter_test {

using namespace corozk::detail;

void feed(frame_splitter& splitter, std::string_view bytes) {
    auto room = splitter.room(bytes.size());
    REQUIRE(room.size() >= bytes.size());
    if (!bytes.empty())
        std::memcpy(room.data(), bytes.data(), bytes.size());
    splitter.filled(bytes.size());
}

std::string next(frame_splitter& splitter) {
    auto frame = splitter.next();
    return {frame.begin(), frame.end()};
}

TEST_CASE("frame splitter: whole frames, wherever the stream is cut") {
    const std::vector<std::string> frames = {
        framed("one"), framed(""), framed(std::string(5'000, 'x'))};
    const std::string stream = frames[0] + frames[1] + frames[2];
    for (std::size_t piece : {1u, 2u, 3u, 5u, 7u, 4'000u, 6'000u}) {
        CAPTURE(piece);
        frame_splitter splitter;
        std::vector<std::string> found;
        for (std::size_t at = 0; at < stream.size(); at += piece) {
            feed(splitter, std::string_view(stream).substr(at, piece));
            for (std::string frame = next(splitter); !frame.empty(); frame = next(splitter))
                found.push_back(frame);
        }
        CHECK(found == frames);
        CHECK(splitter.pending() == 0);
        CHECK(splitter.problem().empty());
    }
}

TEST_CASE("frame splitter: frames are changed in place and stay until the next read") {
    frame_splitter splitter;
    feed(splitter, framed("abc") + framed("def"));
    auto first = splitter.next();
    auto second = splitter.next();
    first[4] = 'A';
    CHECK(std::string(first.begin() + 4, first.end()) == "Abc");
    CHECK(std::string(second.begin() + 4, second.end()) == "def");
    CHECK(first.data() + first.size() == second.data());
    CHECK(splitter.next().empty());
}

TEST_CASE("frame splitter: lengths that no frame has") {
    for (std::int32_t length : {-1, std::numeric_limits<std::int32_t>::min(), 1'001, 0x48545450}) {
        CAPTURE(length);
        frame_splitter splitter{1'000};
        feed(splitter, framed("good"));
        feed(splitter, jute_writer().int32(length).raw("rest").bytes());
        CHECK(next(splitter) == framed("good"));
        CHECK(splitter.next().empty());
        CHECK(splitter.problem() == "a frame with a length of " + std::to_string(length));
        CHECK(splitter.capacity() < 100);
    }
    frame_splitter splitter{1'000};
    feed(splitter, framed(std::string(1'000, 'x')));
    CHECK(splitter.next().size() == 1'004);
}

TEST_CASE("frame splitter: memory grows with what has arrived, and is given back") {
    frame_splitter splitter;
    constexpr std::size_t piece = 4'096;
    constexpr std::size_t size = 8UL * 1024 * 1024;
    feed(splitter, jute_writer().int32(size).bytes());
    for (std::size_t sent = 0; sent < size; sent += piece) {
        feed(splitter, std::string(piece, 'x'));
        REQUIRE(splitter.capacity() <= 2 * (sent + 2 * piece));
    }
    CHECK(splitter.next().size() == size + 4);
    splitter.room(piece);
    CHECK(splitter.capacity() == piece);
}

TEST_CASE("frame splitter: any stream in any pieces") {
    std::mt19937 random{42};
    for (int round = 0; round < 200; ++round) {
        std::string stream;
        std::vector<std::string> frames;
        for (int i = 0; i < 20; ++i) {
            frames.push_back(framed(std::string(random() % 300, static_cast<char>('a' + i))));
            stream += frames.back();
        }
        frame_splitter splitter;
        std::vector<std::string> found;
        while (!stream.empty()) {
            const std::size_t piece = std::min<std::size_t>(1 + random() % 700, stream.size());
            feed(splitter, std::string_view(stream).substr(0, piece));
            stream.erase(0, piece);
            for (auto most = random() % 5; most > 0; --most) {
                if (std::string frame = next(splitter); !frame.empty())
                    found.push_back(frame);
            }
        }
        for (std::string frame = next(splitter); !frame.empty(); frame = next(splitter))
            found.push_back(frame);
        REQUIRE(found == frames);
    }
}

}  // namespace corozk::testing::frame_splitter_test
