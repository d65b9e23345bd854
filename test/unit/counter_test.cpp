// SPDX-License-Identifier: Apache-2.0
#include "recipe/counter/rule.hpp"
#include <corozk/recipe/counter.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <map>
#include <random>
#include <utility>

namespace corozk::testing::counter_test {

using namespace corozk;
using namespace corozk::detail;

namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();

counter_record record_of(std::int64_t value) {
    counter_record record;
    record.value = value;
    record.identity = "abcdef0123456789";
    return record;
}

}  // namespace

TEST_CASE("counter data survives printing and parsing") {
    counter_record record = record_of(-42);
    record = advance(record, -41, "00aa", 7, 64);
    record = advance(record, largest, "00bb", 1, 64);
    std::string data = print_counter(counter_format::native, record);
    CHECK(data == "9223372036854775807 abcdef0123456789 2 0 00aa:7:1 00bb:1:2");
    auto parsed = parse_counter(counter_format::native, data);
    REQUIRE(parsed);
    CHECK(print_counter(counter_format::native, *parsed) == data);

    for (std::int64_t value : {std::int64_t(0), std::int64_t(-1), largest, smallest}) {
        for (auto format : {counter_format::curator_long, counter_format::kazoo}) {
            auto back = parse_counter(format, print_counter(format, record_of(value)));
            REQUIRE(back);
            CHECK(back->value == value);
        }
    }
    CHECK(print_counter(counter_format::curator_long, record_of(258)) ==
          std::string("\0\0\0\0\0\0\1\2", 8));
    CHECK(print_counter(counter_format::curator_integer, record_of(-2)) == "\xff\xff\xff\xfe");
    CHECK(parse_counter(counter_format::curator_integer, "\xff\xff\xff\xfe")->value == -2);
}

TEST_CASE("counter data of others is refused") {
    for (std::string_view data : {"",
                                  "1",
                                  "1 ",
                                  "x ab 1 0",
                                  "1 xy 1 0",
                                  "1 ab 1",
                                  "1 ab -1 0",
                                  "1 ab 1 0 q",
                                  "1 ab 1 0 aa:1",
                                  "1 ab 1 0 aa:1:x",
                                  "1 ab 1 0 aa:1:2:3",
                                  "99999999999999999999 ab 1 0",
                                  "1 ab 18446744073709551615 0",
                                  "1 ab 9223372036854775808 0",
                                  "1 ab 1 9223372036854775808",
                                  "1 ab 1 0 aa:1:9223372036854775808",
                                  "1 ab 1 0  aa:1:1"}) {
        INFO(data);
        CHECK_FALSE(parse_counter(counter_format::native, data));
    }
    CHECK_FALSE(parse_counter(counter_format::curator_long, "1234567"));
    CHECK_FALSE(parse_counter(counter_format::curator_integer, "12345678"));
    for (const char* five : {"5", "5\n", " 5", "+5", "05", "\t+5 \n"}) {
        auto record = parse_counter(counter_format::kazoo, five);
        REQUIRE(record);
        CHECK(record->value == 5);
    }
    for (const char* bad : {"", " ", "+", "+-5", "++5", "5 5"})
        CHECK_FALSE(parse_counter(counter_format::kazoo, bad));
    CHECK_FALSE(parse_counter(counter_format::kazoo, "1.5"));
    CHECK_FALSE(parse_counter(counter_format::kazoo, "9223372036854775808"));
}

TEST_CASE("counter operations") {
    auto native = counter_format::native;
    auto step = apply(native, counter_operation::add, 5, -7, 0);
    CHECK(!step.error);
    CHECK(step.changed);
    CHECK(step.after == -2);

    step = apply(native, counter_operation::add, largest, 1, 0);
    CHECK(step.error == errc::overflow);
    CHECK_FALSE(step.changed);
    CHECK(step.after == largest);
    CHECK(apply(native, counter_operation::add, smallest, -1, 0).error == errc::overflow);
    CHECK(apply(counter_format::curator_integer, counter_operation::add, 2147483647, 1, 0).error ==
          errc::overflow);
    CHECK(apply(counter_format::curator_integer, counter_operation::exchange, 0, 1LL << 40, 0)
              .error == errc::overflow);

    step = apply(native, counter_operation::compare_and_set, 1, 9, 2);
    CHECK_FALSE(step.exchanged);
    CHECK_FALSE(step.changed);
    CHECK(step.after == 1);
    step = apply(native, counter_operation::compare_and_set, 1, 9, 1);
    CHECK(step.exchanged);
    CHECK(step.after == 9);
    step = apply(native, counter_operation::compare_and_set, 1, 1, 1);
    CHECK(step.exchanged);
    CHECK_FALSE(step.changed);
}

TEST_CASE("a conditional set never makes version -1") {
    CHECK(must_replace(-2));
    CHECK_FALSE(must_replace(-1));
    CHECK_FALSE(must_replace(0));
    CHECK_FALSE(must_replace(std::numeric_limits<std::int32_t>::max()));
    CHECK_FALSE(must_replace(std::numeric_limits<std::int32_t>::min()));
}

TEST_CASE("what became of an update is decided after others wrote") {
    counter_attempt attempt;
    attempt.base = advance(record_of(10), 11, "aa", 1, 4);
    attempt.writer = "aa";
    attempt.operation = 2;
    attempt.result = advance(attempt.base, 12, "aa", 2, 4);
    corozk::stat stat;
    // As many sets as revisions, and perhaps others.
    auto verdict = [&](const counter_record& seen, std::int32_t others = 0) {
        corozk::stat at = stat;
        at.version += static_cast<std::int32_t>(seen.revision - attempt.base.revision) + others;
        return judge(counter_format::native, attempt, seen, at);
    };
    CHECK(verdict(attempt.base) == counter_verdict::pending);
    CHECK(verdict(attempt.result) == counter_verdict::applied);
    // The text from before, but written again: a request sent again would never match its version.
    stat.version = attempt.stat.version + 1;
    CHECK(verdict(attempt.base) == counter_verdict::unknown);
    stat = attempt.stat;
    stat.czxid = attempt.stat.czxid + 1;
    CHECK(verdict(attempt.base) == counter_verdict::unknown);
    stat = attempt.stat;

    counter_record after = attempt.result;
    counter_record without = advance(attempt.base, 12, "bb", 1, 4);
    CHECK(verdict(without) == counter_verdict::not_applied);
    // An older text was restored, perhaps over the update, and others have written since.
    CHECK(verdict(without, 1) == counter_verdict::unknown);
    CHECK(verdict(advance(record_of(10), 11, "bb", 1, 4), 2) == counter_verdict::unknown);
    CHECK(verdict(after, 1) == counter_verdict::applied);
    stat.czxid = attempt.stat.czxid + 1;
    CHECK(verdict(without) == counter_verdict::unknown);
    stat = attempt.stat;
    // Few writers: decided for ever.
    for (std::uint64_t i = 2; i < 1000; ++i) {
        after = advance(after, 13, "bb", i, 4);
        without = advance(without, 13, "bb", i, 4);
        REQUIRE(verdict(after) == counter_verdict::applied);
        REQUIRE(verdict(without) == counter_verdict::not_applied);
    }
    // More than the table holds: unknown, and said so.
    for (const char* name : {"c1", "c2", "c3", "c4"}) {
        after = advance(after, 13, name, 1, 4);
        without = advance(without, 13, name, 1, 4);
    }
    CHECK(after.writers.size() == 4);
    CHECK(verdict(after) == counter_verdict::unknown);
    counter_record other = attempt.result;
    other.identity = "00";
    CHECK(verdict(other) == counter_verdict::unknown);
}

TEST_CASE("what became of an update is never guessed wrongly") {
    std::mt19937 random(17);
    for (int round = 0; round < 3000; ++round) {
        std::size_t places = 1 + random() % 4;
        counter_record node = record_of(0);
        corozk::stat stat;
        stat.version = static_cast<std::int32_t>(random());
        std::map<std::string, std::uint64_t> operations;
        auto written = [&] {
            stat.version = static_cast<std::int32_t>(static_cast<std::uint32_t>(stat.version) + 1);
        };
        auto write = [&](std::string name) {
            node = advance(node, node.value + 1, name, ++operations[name], places);
            written();
        };
        auto others = [&] {
            for (auto n = random() % 6; n > 0; --n)
                write("b" + std::to_string(random() % 5));
        };
        if (random() % 2)
            write("aa");
        others();
        counter_attempt attempt;
        attempt.base = node;
        attempt.stat = stat;
        attempt.writer = "aa";
        attempt.operation = ++operations["aa"];
        attempt.result = advance(node, node.value + 1, "aa", attempt.operation, places);
        bool applied = random() % 2;
        if (applied) {
            node = attempt.result;
            written();
        }
        others();
        const bool restored = random() % 4 == 0;
        if (restored) {
            node = attempt.base;
            written();
            others();
        }
        switch (judge(counter_format::native, attempt, node, stat)) {
            case counter_verdict::applied: REQUIRE(applied); break;
            case counter_verdict::not_applied:
            case counter_verdict::pending: REQUIRE_FALSE(applied); break;
            case counter_verdict::unknown: REQUIRE((places < 5 || restored)); break;
        }
    }
}

TEST_CASE("of a counter's writers those of the lowest revisions are forgotten, in place") {
    // As `advance` did it one by one.
    auto forgetting_one_by_one = [](counter_record record, std::size_t places) {
        while (record.writers.size() >= places) {
            auto oldest = std::min_element(record.writers.begin(),
                                           record.writers.end(),
                                           [](const counter_writer& a, const counter_writer& b) {
                                               return a.revision < b.revision;
                                           });
            record.forgotten = std::max(record.forgotten, oldest->revision);
            record.writers.erase(oldest);
        }
        return record;
    };
    std::mt19937 random(23);
    for (int round = 0; round < 2'000; ++round) {
        counter_record base = record_of(1);
        base.revision = 50;
        base.forgotten = random() % 30;
        for (std::uint64_t i = random() % 40; i > 0; --i) {
            counter_writer writer;
            writer.name = "b" + std::to_string(i);
            writer.operation = i;
            writer.revision = random() % 20;  // some are the same
            base.writers.push_back(std::move(writer));
        }
        const std::size_t places = 1 + random() % 30;
        counter_record expected = forgetting_one_by_one(base, places);
        counter_record next = advance(base, 2, "aa", 1, places);
        CHECK(next.forgotten == expected.forgotten);
        REQUIRE(next.writers.size() == expected.writers.size() + 1);
        for (std::size_t i = 0; i < expected.writers.size(); ++i)
            CHECK(next.writers[i].name == expected.writers[i].name);
        CHECK(next.writers.back().name == "aa");
    }
}

TEST_CASE("a counter's table that somebody has filled to the brim is cut down") {
    std::string data = "0 a 1 0";
    for (int i = 0; i < 170'000; ++i)
        data += " b:1:1";
    auto record = parse_counter(counter_format::native, data);
    REQUIRE(record);
    CHECK(record->writers.size() == 170'000);
    CHECK(advance(*record, 1, "aa", 1, 64).writers.size() == 64);
    CHECK(advance(*record, 1, "aa", 1, 0).writers.size() == 1);
}

TEST_CASE("in the formats of others a lost answer is decided only if nobody can have written") {
    counter_attempt attempt;
    attempt.base.value = 1;
    attempt.result.value = 2;
    attempt.stat.version = 4;
    attempt.stat.mzxid = 100;
    attempt.stat.czxid = 50;
    auto verdict = [&](std::int64_t value, std::int32_t version, std::int64_t mzxid) {
        counter_record seen;
        seen.value = value;
        corozk::stat stat = attempt.stat;
        stat.version = version;
        stat.mzxid = mzxid;
        return judge(counter_format::kazoo, attempt, seen, stat);
    };
    CHECK(verdict(1, 4, 100) == counter_verdict::pending);
    CHECK(verdict(3, 5, 101) == counter_verdict::not_applied);
    CHECK(verdict(2, 5, 101) == counter_verdict::unknown);
    CHECK(verdict(3, 6, 102) == counter_verdict::unknown);

    attempt.stat.version = std::numeric_limits<std::int32_t>::max();
    const std::int32_t next = std::numeric_limits<std::int32_t>::min();
    CHECK(verdict(3, next, 101) == counter_verdict::not_applied);
    CHECK(verdict(3, next + 1, 102) == counter_verdict::unknown);
}

namespace {

/// The record after these writers' updates, one after the other.
counter_record written_by(std::initializer_list<std::pair<const char*, int>> turns) {
    counter_record record = record_of(0);
    for (const auto& [writer, updates] : turns) {
        for (int i = 0; i < updates; ++i)
            record = advance(record, 0, writer, 1, 64);
    }
    return record;
}

constexpr int full = static_cast<int>(longest_turn);

bool may_go(const counter_record& record, std::string_view writer, bool patient = false) {
    return turn_of(record, writer, true, patient).now;
}

unsigned pause(const counter_record& record, std::string_view writer, bool patient = false) {
    const counter_turn turn = turn_of(record, writer, true, patient);
    CHECK_FALSE(turn.now);
    return turn.pause;
}

}  // namespace

TEST_CASE("a counter's only writer never waits") {
    CHECK(may_go(record_of(0), "aa"));
    for (int updates : {1, full - 1, full, 2 * full, 1000}) {
        CHECK(may_go(written_by({{"aa", updates}}), "aa"));
        CHECK_FALSE(has_rivals(written_by({{"aa", updates}}), "aa"));
    }
}

TEST_CASE("a counter's writer goes on until its turn is over, then lets the others have theirs") {
    for (int updates = 1; updates < full; ++updates)
        CHECK(may_go(written_by({{"bb", full}, {"cc", full}, {"aa", updates}}), "aa"));
    // Half a turn for each of them: they may not need all of it.
    CHECK(pause(written_by({{"bb", full}, {"aa", full}}), "aa") == full / 2);
    CHECK(pause(written_by({{"bb", full}, {"cc", full}, {"aa", full}}), "aa") == full);
    // Nobody came: the next turn.
    CHECK(may_go(written_by({{"bb", full}, {"aa", full + 1}}), "aa"));
    CHECK_FALSE(may_go(written_by({{"bb", full}, {"aa", 2 * full}}), "aa"));
}

TEST_CASE("a counter's writer that lost a race waits for those that have waited longer") {
    const counter_record record =
        written_by({{"aa", full}, {"bb", full}, {"cc", full}, {"dd", full - 3}});
    // It reads before the last update of the current turn, so as not to be late.
    CHECK(pause(record, "aa") == 2);
    CHECK(pause(record, "bb") == 2 + full / 2);
    CHECK(pause(record, "cc") == 2 + full);
    const counter_record over =
        written_by({{"aa", full}, {"bb", full}, {"cc", full}, {"dd", full}});
    CHECK(may_go(over, "aa"));
    CHECK(pause(over, "bb") == full / 2);
    CHECK(pause(over, "cc") == full);
    CHECK(pause(over, "dd") == full + full / 2);
    // One that has not lost anything tries: nobody may be competing.
    for (const char* writer : {"aa", "bb", "cc", "ee"})
        CHECK(turn_of(record, writer, false, false).now);
}

TEST_CASE("a counter's turns are expected to be as long as they lately were, or longer") {
    CHECK(may_go(written_by({{"aa", 1}, {"bb", 1}, {"cc", 1}}), "aa"));
    CHECK(pause(written_by({{"aa", 1}, {"bb", 1}, {"cc", 1}}), "bb") == 1);
    CHECK(pause(written_by({{"aa", 4}, {"bb", 4}, {"cc", 4}}), "aa") == 2);
}

TEST_CASE("a counter's writer that the record does not know goes by chance") {
    const counter_record over = written_by({{"aa", full}, {"bb", full}});
    CHECK(may_go(over, "ee"));
    CHECK(pause(over, "ee", true) == full / 2);
    CHECK(pause(written_by({{"aa", full}, {"bb", full - 2}}), "ee") == 1);
    // Whoever writes alone does not know of it.
    CHECK(may_go(written_by({{"aa", 5}}), "ee"));
    CHECK(pause(written_by({{"aa", 5}}), "ee", true) == 1);
}

TEST_CASE("a counter's writers that have missed two rounds are not waited for") {
    const counter_record missed = written_by({{"bb", 1}, {"aa", 3 * full}});
    CHECK(has_rivals(missed, "aa"));
    CHECK_FALSE(may_go(missed, "aa"));
    const counter_record gone = written_by({{"bb", 1}, {"aa", 4 * full}});
    CHECK_FALSE(has_rivals(gone, "aa"));
    CHECK(has_rivals(gone, "bb"));
    CHECK(may_go(gone, "aa"));
    // But come first when they come back.
    const counter_record back = written_by({{"bb", 1}, {"aa", 3 * full}, {"cc", full}});
    CHECK(may_go(back, "bb", true));
    CHECK(pause(back, "aa") == full / 2);
}

TEST_CASE("a counter's table that makes no sense makes nobody wait for ever") {
    counter_record record = record_of(0);
    record.revision = 5;
    record.writers = {{"aa", 1, 9}, {"bb", 1, 9}, {"cc", 1, largest}};
    for (const char* writer : {"aa", "bb", "cc", "ee"}) {
        const counter_turn turn = turn_of(record, writer, true, false);
        CHECK((turn.now || turn.pause <= 4 * longest_turn));
    }
}

}  // namespace corozk::testing::counter_test
