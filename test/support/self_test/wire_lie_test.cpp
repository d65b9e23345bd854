// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/wire_lie.hpp"

#include "jute.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <string>

using namespace corozk::testing;

namespace {

std::string frame_with(std::int32_t xid, std::string_view body) {
    detail::jute_writer frame;
    frame.int32(xid).int64(0x0102030405060708).int32(0).raw(body);
    return detail::framed(frame.bytes());
}

frame_info reply(std::uint64_t number) {
    frame_info info;
    info.way = direction::to_client;
    info.kind = frame_kind::reply;
    info.op = op_code::get_data;
    info.number = number;
    info.path = "/a";
    return info;
}

}  // namespace

TEST_CASE("wire lies: each has a name of its own") {
    std::set<std::string_view> names;
    for (wire_lie lie : all_wire_lies()) {
        CHECK(names.insert(to_string(lie)).second);
        CHECK(wire_lie_named(to_string(lie)) == lie);
    }
    CHECK_FALSE(wire_lie_named("nothing of the kind"));
}

TEST_CASE("wire lies: told once, at the frame that was named, always the same") {
    const std::string honest = frame_with(5, "0123456789");
    for (wire_lie lie : all_wire_lies()) {
        frame_info info = reply(1);
        if (concerns_connecting(lie)) {
            info.kind = frame_kind::connect;
        }
        INFO(to_string(lie));
        liar one{lie, 2, 42};
        liar same{lie, 2, 42};
        CHECK(one(info, honest) == honest);
        CHECK(same(info, honest) == honest);
        CHECK_FALSE(one.told());
        const std::string told = one(info, honest);
        CHECK(told != honest);
        CHECK(same(info, honest) == told);
        CHECK(one.told());
        if (lie != wire_lie::swapped) {
            CHECK(one(info, honest) == honest);
        }
    }
}

TEST_CASE("wire lies: answers in the wrong order, and only what is asked for is counted") {
    const std::string first = frame_with(5, "first");
    const std::string second = frame_with(6, "second");
    liar swaps{wire_lie::swapped, 1, 0};
    CHECK(swaps(reply(1), first).empty());
    CHECK(swaps(reply(2), second) == second + first);
    CHECK(swaps(reply(3), first) == first);

    liar counts{wire_lie::another_xid, 0, 0};
    frame_info ping = reply(0);
    ping.op = op_code::ping;
    counts(ping, first);
    counts(reply(1), first);
    CHECK(counts.chances() == 1);
    CHECK_FALSE(counts.told());
}

TEST_CASE("wire lies: the lengths are what they are called") {
    const std::string honest = frame_with(5, "0123456789");
    liar huge{wire_lie::length_of_2_gib, 1, 0};
    CHECK(detail::jute_reader{huge(reply(1), honest)}.int32() == 0x7fffffff);
    liar negative{wire_lie::length_minus_one, 1, 0};
    CHECK(detail::jute_reader{negative(reply(1), honest)}.int32() == -1);
    liar early{wire_lie::ends_early, 1, 0};
    const std::string cut = early(reply(1), honest);
    CHECK(detail::jute_reader{cut}.int32() == static_cast<std::int32_t>(cut.size()) - 4);
    CHECK(cut.size() < honest.size());
}
