// SPDX-License-Identifier: Apache-2.0
// Maps that share what they have in common, compared with std::map.
#include "live_blocks.hpp"
#include "node_map/node_map_editor.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace corozk::testing::node_map_test {

using namespace corozk;
using detail::node_map_editor;
using plain_map = std::map<std::string, std::string>;

namespace {

/// In this order, and too long to be stored without a block of memory.
std::string key(std::size_t number) {
    char text[64];
    std::snprintf(text, sizeof text, "/a/long/enough/path/%06zu", number);
    return text;
}

node_data data(std::string text) {
    node_data result;
    result.data = std::move(text);
    return result;
}

node_map_editor filled(std::size_t count) {
    node_map_editor editor;
    for (std::size_t i = 0; i < count; ++i)
        editor.set(key(i), data(std::to_string(i)));
    return editor;
}

void check_equal(const node_map& map, const plain_map& expected) {
    REQUIRE(map.size() == expected.size());
    REQUIRE(map.empty() == expected.empty());
    auto same = [](const auto& a, const auto& b) {
        return a.first == b.first && a.second.data == b.second;
    };
    REQUIRE(std::equal(map.begin(), map.end(), expected.begin(), expected.end(), same));
    REQUIRE(std::equal(map.rbegin(), map.rend(), expected.rbegin(), expected.rend(), same));
}

/// Both found the same element, or none.
template <class Iterator>
bool same_place(const node_map& map,
                node_map::const_iterator at,
                const plain_map& expected,
                Iterator there) {
    if (at == map.end() || there == expected.end())
        return (at == map.end()) == (there == expected.end());
    return at->first == there->first;
}

void check_look_ups(const node_map& map, const plain_map& expected, const std::string& k) {
    REQUIRE(same_place(map, map.find(k), expected, expected.find(k)));
    REQUIRE(same_place(map, map.lower_bound(k), expected, expected.lower_bound(k)));
    REQUIRE(same_place(map, map.upper_bound(k), expected, expected.upper_bound(k)));
    auto [first, last] = map.equal_range(k);
    REQUIRE(first == map.lower_bound(k));
    REQUIRE(last == map.upper_bound(k));
    REQUIRE(map.contains(k) == expected.contains(k));
    REQUIRE(map.count(k) == expected.count(k));
    if (expected.contains(k))
        REQUIRE(map.at(k).data == expected.at(k));
    else
        REQUIRE_THROWS_AS(map.at(k), std::out_of_range);
}

/// What one change allocates, while a map from before it is used.
template <class Change>
std::int64_t new_blocks(node_map_editor& editor, Change change) {
    node_map before = editor.map();
    const std::int64_t blocks = allocated_blocks;
    change(editor);
    return allocated_blocks - blocks;
}

}  // namespace

TEST_CASE("node map: an empty one") {
    node_map none;
    CHECK(none.empty());
    CHECK(none.begin() == none.end());
    CHECK(node_map::const_iterator() == node_map::const_iterator());
    check_look_ups(none, plain_map(), "a");
    node_map_editor editor;
    CHECK_FALSE(editor.erase("a"));
    CHECK(editor.find("a") == nullptr);
    editor.set("", data("x"));
    CHECK(editor.map().at("").data == "x");
    CHECK(editor.erase(""));
    CHECK(editor.map().empty());
}

TEST_CASE("node map: random changes, and maps from between them") {
    const unsigned seed = GENERATE(1u, 2u, 3u, 4u);
    std::mt19937 random(seed);
    node_map_editor editor;
    plain_map expected;
    std::vector<std::pair<node_map, plain_map>> kept;
    for (std::size_t i = 0; i < 12'000; ++i) {
        // It grows, shrinks to little, and grows again, in random order or not.
        const bool shrinks = i / 3'000 % 2 == 1;
        const std::size_t number = seed % 2 == 0 && !shrinks ? i % 3'000 : random() % 3'000;
        const std::string k = key(number);
        if (random() % 10 < (shrinks ? 9u : 2u)) {
            REQUIRE(editor.erase(k) == (expected.erase(k) == 1));
        } else {
            editor.set(k, data(std::to_string(i)));
            expected[k] = std::to_string(i);
        }
        REQUIRE(editor.size() == expected.size());
        check_look_ups(editor.map(), expected, k);
        check_look_ups(editor.map(), expected, key(random() % 3'000));
        if (i % 500 == 0) {
            check_equal(editor.map(), expected);
            kept.emplace_back(editor.map(), expected);
        }
    }
    std::shuffle(kept.begin(), kept.end(), random);
    while (!kept.empty()) {
        check_equal(kept.back().first, kept.back().second);
        kept.pop_back();
    }
    while (!expected.empty()) {
        REQUIRE(editor.erase(expected.begin()->first));
        expected.erase(expected.begin());
    }
    CHECK(editor.map().empty());
}

TEST_CASE("node map: a change allocates O(log n) blocks, however large the map") {
    // The element, its key, and a node at each level, of which one may be split.
    struct row {
        std::size_t size;
        std::int64_t most;
    };
    auto [size, most] = GENERATE(row{100, 7}, row{1'000, 8}, row{10'000, 9}, row{100'000, 10});
    std::mt19937 random(7);
    std::vector<std::size_t> order(size);
    for (std::size_t i = 0; i < size; ++i)
        order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    node_map_editor editor;
    for (std::size_t i : order)
        editor.set(key(2 * i), data("first"));
    for (int i = 0; i < 200; ++i) {
        const std::string known = key(2 * (random() % size));
        const std::string unknown = key(2 * (random() % size) + 1);
        CHECK(new_blocks(editor, [&](auto& e) { e.set(known, data("other")); }) <= most);
        CHECK(new_blocks(editor, [&](auto& e) { e.set(unknown, data("new")); }) <= most);
        CHECK(new_blocks(editor, [&](auto& e) { e.erase(unknown); }) <= most);
    }
    // What nobody else has is changed in place: nothing but the element and its key is new.
    const std::string known = key(0);
    const std::int64_t blocks = allocated_blocks;
    editor.set(known, data("in place"));
    CHECK(allocated_blocks - blocks == 2);
}

TEST_CASE("node map: is small again after most of it was erased") {
    node_map_editor editor = filled(10'000);
    const std::int64_t blocks = live_blocks;
    for (std::size_t i = 0; i < 10'000; ++i) {
        if (i % 100 != 0)
            editor.erase(key(i));
    }
    CHECK(editor.size() == 100);
    // Two for each element; and of some 330 nodes few are left.
    CHECK(blocks - live_blocks >= 2 * 9'900 + 300);
}

TEST_CASE("node map: where there is no memory for a change there is no change") {
    std::mt19937 random(11);
    node_map_editor editor;
    plain_map expected;
    for (std::size_t i = 0; i < 3'000; ++i) {
        const std::string k = key(random() % 400);
        const bool erases = random() % 3 == 0;
        node_map before;
        if (random() % 2 == 0)
            before = editor.map();
        for (std::int64_t available = 0;; ++available) {
            node_data value = data("x");
            blocks_until_refusal = available;
            bool refused = false;
            try {
                if (erases)
                    editor.erase(k);
                else
                    editor.set(k, std::move(value));
            } catch (const std::bad_alloc&) {
                refused = true;
            }
            blocks_until_refusal = -1;
            if (!refused)
                break;
            if (i % 100 == 0)
                check_equal(editor.map(), expected);
            REQUIRE(editor.size() == expected.size());
        }
        if (erases)
            expected.erase(k);
        else
            expected[k] = "x";
        REQUIRE(editor.size() == expected.size());
    }
    check_equal(editor.map(), expected);
}

TEST_CASE("node map: dropped in pieces, except what another one shares") {
    constexpr std::size_t size = 10'000;
    constexpr std::size_t piece = 100;
    const std::int64_t blocks = live_blocks;
    {
        node_map_editor editor = filled(size);
        node_map shared = editor.map();
        CHECK(editor.drop_some(1));
        CHECK(shared.size() == size);
        editor = node_map_editor(shared);
        for (std::size_t i = 0; i < size; i += 2)
            editor.set(key(i), data("other"));
        std::size_t pieces = 1;
        std::int64_t left = live_blocks;
        while (!editor.drop_some(piece)) {
            ++pieces;
            CHECK(left - live_blocks <= 2 * static_cast<std::int64_t>(piece));
            left = live_blocks;
        }
        CHECK(pieces >= size / 2 / piece);
        CHECK(editor.map().empty());
        plain_map expected;
        for (std::size_t i = 0; i < size; ++i)
            expected[key(i)] = std::to_string(i);
        check_equal(shared, expected);
    }
    CHECK(live_blocks == blocks);
}

TEST_CASE("node map: used by other threads while it is changed") {
    constexpr std::size_t size = 2'000;
    constexpr std::size_t changes = 400;
    const std::int64_t blocks = live_blocks;
    {
        node_map_editor editor = filled(size);
        std::vector<std::vector<node_map>> shared(4);
        for (std::size_t i = 0; i < changes; ++i) {
            editor.set(key(i), data("x" + std::to_string(i)));
            editor.erase(key(size - 1 - i));
            for (auto& mine : shared)
                mine.push_back(editor.map());
        }
        std::atomic<std::size_t> wrong = 0;
        std::vector<std::thread> threads;
        for (auto& mine : shared) {
            threads.emplace_back([&wrong, &mine] {
                while (!mine.empty()) {
                    const node_map map = std::move(mine.back());
                    mine.pop_back();
                    const std::size_t last = size - map.size() - 1;
                    std::size_t changed = 0;
                    for (const auto& [path, node] : map)
                        changed += node.data.front() == 'x' ? 1 : 0;
                    if (changed != last + 1 || map.at(key(last)).data != "x" + std::to_string(last))
                        ++wrong;
                }
            });
        }
        // Sometimes in place, sometimes not, as the threads drop their maps.
        for (std::size_t i = 0; i < 20 * changes; ++i)
            editor.set(key(i % size), data("later"));
        for (std::thread& thread : threads)
            thread.join();
        CHECK(wrong == 0);
    }
    CHECK(live_blocks == blocks);
}

}  // namespace corozk::testing::node_map_test
