// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/wire_lie.hpp"

#include "jute.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <vector>

namespace corozk::testing::wire_lie_test {

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

/** A frame on its way, and what the proxy says of it. */
struct sample {
    frame_info described() const {
        frame_info whole = info;
        whole.payload = std::string_view{bytes}.substr(4);
        return whole;
    }
    std::string told_by(liar& tells) const { return tells(described(), bytes); }

    frame_info info;
    std::string bytes;
};

std::string record() {
    detail::jute_writer numbers;
    numbers.int64(11).int64(12).int64(13).int64(14).int32(15).int32(16).int32(17);
    numbers.int64(18).int32(19).int32(20).int64(21);
    return numbers.bytes();
}

sample answer_to(op_code op, const std::string& body) {
    sample made{reply(1), frame_with(5, body)};
    made.info.op = op;
    return made;
}

sample names_and_record(const std::vector<std::string>& names) {
    detail::jute_writer body;
    body.int32(static_cast<std::int32_t>(names.size()));
    for (const std::string& name : names) {
        body.buffer(name);
    }
    body.raw(record());
    return answer_to(op_code::get_children2, body.bytes());
}

sample path_and_record(std::string_view path) {
    detail::jute_writer body;
    body.buffer(path).raw(record());
    return answer_to(op_code::create2, body.bytes());
}

sample event_for(std::string_view path) {
    detail::jute_writer body;
    body.int32(2).int32(3).buffer(path);
    sample made{reply(0), frame_with(-1, body.bytes())};
    made.info.kind = frame_kind::notification;
    made.info.event = 2;
    made.info.path = path;
    return made;
}

sample sample_for(wire_lie lie) {
    sample made{reply(1), frame_with(5, "0123456789")};
    switch (occasion_of(lie)) {
        case wire_occasion::list:
        case wire_occasion::record: return names_and_record({"one", "two"});
        case wire_occasion::creation: return path_and_record("/a/one-0000000001");
        case wire_occasion::event: return event_for("/somewhere");
        case wire_occasion::connecting: made.info.kind = frame_kind::connect; return made;
        default: return made;
    }
}

/** What stands behind the header. */
detail::jute_reader body_of(const std::string& frame) {
    return detail::jute_reader{std::string_view{frame}.substr(20)};
}

std::vector<std::string> names_told(wire_lie lie, const std::vector<std::string>& honest) {
    liar tells{lie, 1, 0};
    const std::string told = names_and_record(honest).told_by(tells);
    detail::jute_reader body = body_of(told);
    std::vector<std::string> names(static_cast<std::size_t>(body.int32()));
    for (std::string& name : names) {
        name = body.buffer();
    }
    CHECK(body.rest() == record());
    return names;
}

std::string path_told(wire_lie lie, std::string_view honest) {
    liar tells{lie, 1, 0};
    const std::string told = path_and_record(honest).told_by(tells);
    detail::jute_reader body = body_of(told);
    std::string path{body.buffer()};
    CHECK(body.rest() == record());
    return path;
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
    for (wire_lie lie : all_wire_lies()) {
        INFO(to_string(lie));
        const sample frame = sample_for(lie);
        const std::string& honest = frame.bytes;
        liar one{lie, 2, 42};
        liar same{lie, 2, 42};
        CHECK(frame.told_by(one) == honest);
        CHECK(frame.told_by(same) == honest);
        CHECK_FALSE(one.told());
        const std::string told = frame.told_by(one);
        CHECK(told != honest);
        CHECK(frame.told_by(same) == told);
        CHECK(one.told());
        if (lie != wire_lie::swapped) {
            CHECK(frame.told_by(one) == honest);
        }
        CHECK(one.lies() == 1);
    }
}

TEST_CASE("wire lies: from a frame on") {
    for (wire_lie lie : all_wire_lies()) {
        if (lie == wire_lie::swapped) {
            continue;
        }
        INFO(to_string(lie));
        const sample frame = sample_for(lie);
        liar tells{lie, 2, 42, lie_span::from_then};
        CHECK(frame.told_by(tells) == frame.bytes);
        CHECK(frame.told_by(tells) != frame.bytes);
        CHECK(frame.told_by(tells) != frame.bytes);
        CHECK(tells.lies() == 2);
    }
}

TEST_CASE("wire lies: each has its occasion, and no other") {
    for (wire_occasion occasion : all_wire_occasions()) {
        CHECK(wire_occasion_named(to_string(occasion)) == occasion);
    }
    const sample data = sample_for(wire_lie::another_xid);
    CHECK(is_occasion(wire_occasion::answer, data.described()));
    CHECK_FALSE(is_occasion(wire_occasion::list, data.described()));
    CHECK_FALSE(is_occasion(wire_occasion::record, data.described()));  // it ends too early
    const sample event = event_for("/somewhere");
    CHECK(is_occasion(wire_occasion::event, event.described()));
    CHECK_FALSE(is_occasion(wire_occasion::answer, event.described()));
    sample failed = names_and_record({"one"});
    CHECK(is_occasion(wire_occasion::list, failed.described()));
    failed.info.error = -101;
    CHECK_FALSE(is_occasion(wire_occasion::list, failed.described()));
}

TEST_CASE("wire lies: other names, paths and numbers in an answer that is well formed") {
    using list = std::vector<std::string>;
    CHECK(names_told(wire_lie::child_without_name, {"one"}) == list{"", "one"});
    CHECK(names_told(wire_lie::child_named_dot, {}) == list{"."});
    CHECK(names_told(wire_lie::child_below_a_child, {"one"}) == list{"a/b", "one"});
    CHECK(names_told(wire_lie::child_twice, {"one", "two"}) == list{"one", "two", "one"});
    CHECK(names_told(wire_lie::child_twice, {}) == list{"twice", "twice"});
    const list many = names_told(wire_lie::children_with_one_long_name, {"one"});
    CHECK(many.front().size() == 500'000);
    CHECK(many.size() > 10'000);
    const list too_many = names_told(wire_lie::too_many_children, {"one"});
    CHECK(too_many.size() == 2'000'001);
    CHECK(too_many.back().size() == 1);

    CHECK(path_told(wire_lie::created_elsewhere, "/a/b-7") == "/a/somebody-else-0000000007");
    CHECK(path_told(wire_lie::created_nowhere, "/a/b-7").empty());
    CHECK(path_told(wire_lie::created_at_short_path, "/long/path") == "/a");

    const sample honest = names_and_record({});
    const auto told = [&honest](wire_lie lie) {
        liar tells{lie, 1, 0};
        return honest.told_by(tells).substr(24);  // behind the empty list
    };
    CHECK(detail::jute_reader{told(wire_lie::created_by_no_transaction)}.int64() == 0);
    CHECK(detail::jute_reader{told(wire_lie::created_before_all)}.int64() < 0);
    CHECK(detail::jute_reader{told(wire_lie::version_minus_one).substr(32)}.int32() == -1);
    CHECK(detail::jute_reader{told(wire_lie::owned_by_another_session).substr(44)}.int64() != 18);
    const std::string children = told(wire_lie::negative_number_of_children);
    CHECK(detail::jute_reader{children.substr(56)}.int32() == -1);
    CHECK(detail::jute_reader{children.substr(60)}.int64() == 21);
}

TEST_CASE("wire lies: the results of a transaction have paths and records, too") {
    detail::jute_writer body;
    body.int32(15).boolean(false).int32(0).buffer("/a/one").raw(record());
    body.int32(2).boolean(false).int32(0);
    body.int32(5).boolean(false).int32(0).raw(record());
    body.int32(-1).boolean(true).int32(-1);
    const sample answer = answer_to(op_code::multi, body.bytes());
    liar moves{wire_lie::created_nowhere, 1, 0};
    CHECK(answer.told_by(moves).size() == answer.bytes.size() - 6);
    liar renumbers{wire_lie::version_minus_one, 1, 0};
    const std::string told = answer.told_by(renumbers);
    CHECK(told.size() == answer.bytes.size());
    const auto version_at = [&told](std::size_t record_at) {
        return detail::jute_reader{std::string_view{told}.substr(20 + record_at + 32)}.int32();
    };
    CHECK(version_at(9 + 10) == -1);
    CHECK(version_at(9 + 10 + 68 + 9 + 9) == -1);
}

TEST_CASE("wire lies: events that are lost, doubled, changed and cut") {
    const sample honest = event_for("/somewhere");
    const auto told = [&honest](wire_lie lie) {
        liar tells{lie, 1, 0};
        return honest.told_by(tells);
    };
    CHECK(told(wire_lie::event_lost).empty());
    CHECK(told(wire_lie::event_doubled) == honest.bytes + honest.bytes);
    CHECK(body_of(told(wire_lie::event_of_another_type)).int32() == 3);
    const std::string moved = told(wire_lie::event_for_another_path);
    detail::jute_reader body = body_of(moved);
    CHECK(body.int32() == 2);
    CHECK(body.int32() == 3);
    CHECK(body.buffer() == "/nobody/is/here");
    const std::string cut = told(wire_lie::event_cut_short);
    CHECK(detail::jute_reader{cut}.int32() == static_cast<std::int32_t>(cut.size()) - 4);
    CHECK(cut.size() == honest.bytes.size() - 6);
    CHECK(told(wire_lie::event_stops_inside).size() < cut.size());
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

}  // namespace corozk::testing::wire_lie_test
