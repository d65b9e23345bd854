// SPDX-License-Identifier: Apache-2.0
// Where and when the maps of users are destroyed.
#include "recipe/cache/map_bin.hpp"

#include "node_map/node_map_editor.hpp"

#include <boost/asio/io_context.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <thread>

namespace corozk::testing::map_bin_test {

using namespace corozk;
using namespace corozk::detail;

namespace {

/// The last owner of a map of so many nodes.
std::shared_ptr<const node_map> shared_by(map_bin& bin, int count) {
    node_map_editor editor;
    for (int i = 0; i < count; ++i)
        editor.set("/" + std::to_string(i), node_data());
    return bin.share(editor.map());
}

/// How many pieces of work there were.
std::size_t pieces(boost::asio::io_context& loop) {
    loop.restart();
    return loop.poll();
}

}  // namespace

TEST_CASE("map bin: on the loop's thread a large map is destroyed in pieces") {
    boost::asio::io_context loop;
    auto bin = std::make_shared<map_bin>(loop.get_executor());
    auto map = shared_by(*bin, 10'000);
    auto other = map;
    map.reset();
    CHECK(pieces(loop) == 0);
    other.reset();
    CHECK(pieces(loop) > 20);
    // A small one at once, and a large one where it is still shared.
    shared_by(*bin, 50).reset();
    map = shared_by(*bin, 10'000);
    bin->share(*map).reset();
    CHECK(pieces(loop) == 0);
    // What is left when the loop ends is destroyed with it.
    map.reset();
    loop.restart();
    CHECK(loop.poll_one() == 1);
}

TEST_CASE("map bin: on another thread, and after the session's end, a map is destroyed at once") {
    auto loop = std::make_unique<boost::asio::io_context>();
    auto bin = std::make_shared<map_bin>(loop->get_executor());
    auto map = shared_by(*bin, 10'000);
    std::thread([&] { map.reset(); }).join();
    CHECK(pieces(*loop) == 0);
    map = shared_by(*bin, 10'000);
    bin->close();
    loop.reset();
    bin.reset();
    map.reset();
    CHECK_FALSE(map);
}

}  // namespace corozk::testing::map_bin_test
