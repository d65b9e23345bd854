// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/node_name.hpp"

#include <catch2/catch.hpp>

#include <cstdio>
#include <limits>
#include <random>
#include <string>

namespace corozk::testing::node_name_test {

using namespace corozk::detail;

namespace {

const std::string guid = "0123456789abcdef0123456789abcdef";
const std::string dashed = "01234567-89ab-cdef-0123-456789abcdef";
constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t highest = std::numeric_limits<std::int32_t>::max();

std::string as_the_server_writes(std::int32_t sequence) {
    char text[16];
    std::snprintf(text, sizeof text, "%010d", sequence);
    return text;
}

}  // namespace

TEST_CASE("sequence: all that the server writes is read") {
    for (std::int32_t value :
         {0, 1, 9, 123'456'789, highest, -1, -999'999'999, -1'000'000'000, lowest, lowest + 1}) {
        CHECK(parse_sequence(as_the_server_writes(value)) == value);
    }
    std::mt19937 random(1);
    for (int i = 0; i < 10'000; ++i) {
        auto value = static_cast<std::int32_t>(random());
        CHECK(parse_sequence(as_the_server_writes(value)) == value);
    }
}

TEST_CASE("sequence: written as the server does") {
    for (std::int32_t value : {0, 1, -1, -999'999'999, -1'000'000'000, lowest, 10, 999, highest}) {
        std::string name = "n-";
        append_sequence(name, value);
        CHECK(name == "n-" + as_the_server_writes(value));
    }
}

TEST_CASE("sequence: nothing else is read") {
    for (const char* text : {"",
                             "-",
                             "0",
                             "123456789",
                             "00000000001",
                             "+000000001",
                             " 000000001",
                             "000000001 ",
                             "0x00000001",
                             "2147483648",
                             "9999999999",
                             "-2147483649",
                             "-9999999999",
                             "-0000000001",
                             "-000000000",
                             "--00000001",
                             "00000-0001",
                             "000000000a",
                             "0000000000\n"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_sequence(text));
    }
    CHECK_FALSE(parse_sequence(std::string(300, '1')));
    CHECK_FALSE(parse_sequence(std::string("000000000\0", 10)));
}

TEST_CASE("sequence: the distance is right across the wrap-around") {
    CHECK(sequence_distance(3, 5) == 2);
    CHECK(sequence_distance(5, 3) == -2);
    CHECK(sequence_distance(highest, lowest) == 1);
    CHECK(sequence_distance(lowest, highest) == -1);
    CHECK(sequence_distance(highest - 2, lowest + 2) == 5);
    CHECK(sequence_distance(-1, 0) == 1);
    CHECK(sequence_distance(7, 7) == 0);
}

TEST_CASE("names: what is written is read") {
    naming standard("", {"-lock-"});
    naming curator("_c_", {"-lock-"});
    curator.dashed_guid = true;
    naming kazoo("", {"__lock__"});
    naming several("", {"-read-", "-write-"});
    struct sample {
        const naming* names;
        std::uint8_t kind;
        std::string stem;
    };
    for (const sample& s : {sample{&standard, 0, guid + "-lock-"},
                            sample{&curator, 0, "_c_" + dashed + "-lock-"},
                            sample{&kazoo, 0, guid + "__lock__"},
                            sample{&several, 1, guid + "-write-"}}) {
        CHECK(s.names->format(guid, s.kind) == s.stem);
        for (std::int32_t sequence : {0, 17, highest, lowest, -5}) {
            std::string text = s.stem + as_the_server_writes(sequence);
            auto name = s.names->parse(text);
            REQUIRE(name);
            CHECK(name->kind == s.kind);
            CHECK(name->sequence == sequence);
            CHECK(name->stem == s.stem);
            CHECK(s.names->is_written(guid, name->guid));
            CHECK_FALSE(s.names->is_written(std::string(32, 'a'), name->guid));
        }
    }
}

TEST_CASE("names: others' names that count") {
    naming curator("_c_", {"-lock-"});
    curator.dashed_guid = true;
    curator.foreign_infixes = {"lock-"};
    auto name = curator.parse("lock-0000000012");
    REQUIRE(name);
    CHECK(name->guid.empty());
    CHECK(name->sequence == 12);
    std::string own = "_c_" + dashed + "-lock--2147483648";
    name = curator.parse(own);
    REQUIRE(name);
    CHECK(name->sequence == lowest);
    CHECK(curator.is_written(guid, name->guid));
    CHECK_FALSE(curator.parse("lock-12"));
    CHECK_FALSE(curator.parse("latch-0000000012"));
}

TEST_CASE("names: where everything counts, the rest stands without a sequence") {
    naming curator("_c_", {"-lease-"});
    curator.dashed_guid = true;
    curator.counts_everything = true;
    std::string lease = "_c_" + dashed + "-lease-0000000007";
    auto name = curator.parse(lease);
    REQUIRE(name);
    CHECK(name->ordered);
    CHECK(name->sequence == 7);
    for (const std::string& text : {guid,
                                    std::string("x"),
                                    std::string("lease-0000000007"),
                                    "_c_" + dashed + "-lease-7",
                                    guid + "-lease-0000000007"}) {
        CAPTURE(text);
        name = curator.parse(text);
        REQUIRE(name);
        CHECK_FALSE(name->ordered);
        CHECK(name->stem == text);
        CHECK(name->weight == 1);
        CHECK(name->guid.empty());
    }
}

TEST_CASE("names: whatever else is in the folder is nobody's") {
    naming standard("", {"-lock-"});
    std::string good = guid + "-lock-0000000001";
    REQUIRE(standard.parse(good));
    for (const std::string& text :
         {std::string(),
          std::string("ready"),
          std::string("lease_holder"),
          std::string("x"),
          std::string("-lock-"),
          std::string("-lock-0000000001"),
          guid,
          guid + "-lock-",
          guid + "-lock-1",
          guid + "-LOCK-0000000001",
          guid + "-read-0000000001",
          " " + good,
          good + " ",
          guid.substr(1) + "-lock-0000000001",
          guid + "0-lock-0000000001",
          "g" + guid.substr(1) + "-lock-0000000001",
          std::string(300, 'x'),
          std::string(300, '-'),
          std::string("\xc3\xbc\xe2\x82\xac\xf0\x9f\x94\x92"),
          guid + "-lock-\xd9\xa0\xd9\xa1\xd9\xa2\xd9\xa3\xd9\xa4",
          std::string("01234567-89abcdef0123456789abcdef-lock-0000000001"),
          std::string("0123456-789ab-cdef-0123-456789abcdef-lock-0000000001")}) {
        CAPTURE(text);
        CHECK_FALSE(standard.parse(text));
    }
}

TEST_CASE("names: no text makes the parser fall over") {
    naming curator("_c_", {"-lock-", "-READ-"});
    curator.foreign_infixes = {"lock-", ""};
    std::string good = "_c_" + dashed + "-lock-0000000001";
    std::mt19937 random(2);
    for (int i = 0; i < 50'000; ++i) {
        std::string text = good;
        for (auto changes = random() % 4; changes > 0 && !text.empty(); --changes) {
            std::size_t at = random() % text.size();
            switch (random() % 4) {
                case 0: text[at] = static_cast<char>(random()); break;
                case 1: text.erase(at, random() % 8); break;
                case 2: text.insert(at, 1 + random() % 3, "-0l_a"[random() % 5]); break;
                default: text += text.substr(at); break;
            }
        }
        auto name = curator.parse(text);
        if (!name)
            continue;
        // What is read is what the server would have written there.
        CHECK(std::string(name->stem) + as_the_server_writes(name->sequence) == text);
    }
}

}  // namespace corozk::testing::node_name_test
