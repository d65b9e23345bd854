// SPDX-License-Identifier: Apache-2.0
// That a difference fails: what the other files of this folder compare with.
#include "engine/cost_table.hpp"

#include "engine/meter.hpp"

#include <catch2/catch.hpp>

#include <sstream>
#include <stdexcept>

namespace corozk::testing::cost_table_test {

using boost::asio::awaitable;

namespace {

cost_line line(std::string name, std::uint64_t requests) {
    return {.group = "lock",
            .name = std::move(name),
            .of = {.requests = requests,
                   .events = 1,
                   .bytes_sent = 20,
                   .bytes_received = 30,
                   .operations = "exists 1, multi 2"}};
}

}  // namespace

TEST_CASE("costs: a table is read as it was written") {
    std::vector<cost_line> lines{line("cycle: first", 3), line("cycle", 2)};
    std::istringstream file(table_text(lines));
    CHECK(read_costs(file) == lines);
    std::istringstream no_numbers("lock: cycle | two | 1 | 20 | 30 | multi 2\n");
    CHECK_THROWS(read_costs(no_numbers));
    std::istringstream too_short("lock: cycle | 2 | 1\n");
    CHECK_THROWS_AS(read_costs(too_short), std::runtime_error);
}

TEST_CASE("costs: every difference is told, with both lines") {
    std::vector<cost_line> recorded{line("cycle", 2), line("hand-over", 3)};
    CHECK(differences(recorded, recorded, "lock").empty());
    // Other groups are measured elsewhere.
    CHECK(differences(recorded, {}, "semaphore").empty());

    auto changes = {&cost::requests, &cost::events, &cost::bytes_sent, &cost::bytes_received};
    for (auto member : changes) {
        std::vector<cost_line> measured = recorded;
        ++(measured[1].of.*member);
        CHECK_FALSE(differences(recorded, measured, "lock").empty());
    }
    std::vector<cost_line> others = recorded;
    others[0].of.operations = "exists 2, multi 1";
    CHECK(differences(recorded, others, "lock") ==
          "lock: cycle\n"
          "  recorded: 2 requests, 1 events, 20 + 30 bytes: exists 1, multi 2\n"
          "  now: 2 requests, 1 events, 20 + 30 bytes: exists 2, multi 1\n");
    CHECK(differences(recorded, {recorded[0]}, "lock") ==
          "lock: hand-over\n"
          "  recorded: 3 requests, 1 events, 20 + 30 bytes: exists 1, multi 2\n"
          "  now: not measured\n");
    CHECK(differences({recorded[0]}, recorded, "lock") ==
          "lock: hand-over\n"
          "  recorded: nothing\n"
          "  now: 3 requests, 1 events, 20 + 30 bytes: exists 1, multi 2\n");
}

TEST_CASE("costs: recording replaces the lines of one recipe") {
    std::vector<cost_line> lines{line("cycle", 2), line("hand-over", 3)};
    cost_line other = line("put", 1);
    other.group = "queue";
    lines.push_back(other);
    auto now = replaced(lines, {line("cycle", 1)}, "lock");
    CHECK(now == std::vector<cost_line>{line("cycle", 1), other});
}

TEST_CASE("costs: a meter sees each request and event, whichever session they are of") {
    meter m("self test", 2);
    m.run([&]() -> awaitable<void> { co_await m[0].create(m.path()); });
    m.count("watch and set", [&]() -> awaitable<void> {
        watched_data seen = co_await m[1].watch_data(m.path());
        co_await m[0].set(m.path(), "data");
        co_await seen.changed.next();
    });
    m.close();
    REQUIRE(m.lines().size() == 1);
    const cost& of = m.lines()[0].of;
    CHECK(of.requests == 2);
    CHECK(of.events == 1);
    CHECK(of.operations == "getData 1, setData 1");
}

}  // namespace corozk::testing::cost_table_test
