// SPDX-License-Identifier: Apache-2.0
#include "contention_model.hpp"
#include "recipe/contention/contention_rule.hpp"
#include "recipe/contention/release_request.hpp"
#include "recipe/locks/semaphore_rule.hpp"
#include "recipe/locks/shared_lock_rule.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

namespace corozk::testing::shared_lock_test {

using namespace corozk::detail;
using namespace corozk::testing;

namespace {

/// What the page's rule says, in the slowest way.
bool may_hold(const std::vector<contention_entry>& line, std::size_t me) {
    for (std::size_t i = 0; i < me; ++i) {
        if (line[me].kind == write_kind || line[i].kind == write_kind)
            return false;
    }
    return true;
}

void check_line(const std::vector<contention_entry>& line) {
    const shared_rule& rule = the_shared_rule;
    std::size_t holders = 0;
    bool writer_holds = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        auto blockers = blockers_of(rule, line, i);
        CHECK(blockers.empty() == may_hold(line, i));
        if (blockers.empty()) {
            ++holders;
            writer_holds = writer_holds || line[i].kind == write_kind;
            continue;
        }
        // One is enough, it is ahead, and it conflicts: while it is there nothing changes.
        REQUIRE(blockers.size() == 1);
        std::size_t b = blockers.front();
        CHECK(b < i);
        CHECK((line[i].kind == write_kind || line[b].kind == write_kind));
        if (line[i].kind == write_kind)
            CHECK(b == i - 1);
        for (std::size_t between = b + 1; between < i; ++between) {
            CHECK(line[between].kind == read_kind);
        }
        // Whoever is behind one that waits, waits.
        for (std::size_t behind = i + 1; behind < line.size(); ++behind) {
            CHECK(!blockers_of(rule, line, behind).empty());
        }
    }
    CHECK((line.empty() || holders > 0));
    CHECK((!writer_holds || holders == 1));
    for (std::size_t i = 1; i < line.size(); ++i) {
        bool ahead_holds = blockers_of(rule, line, i - 1).empty();
        if (ahead_holds && rule.follows(line[i - 1], line[i])) {
            CHECK(blockers_of(rule, line, i).empty());
        }
    }
}

}  // namespace

TEST_CASE("shared_lock: the rule on every line of up to eight") {
    for (std::size_t length = 0; length <= 8; ++length) {
        for (std::uint32_t kinds = 0; kinds < (1u << length); ++kinds) {
            std::vector<contention_entry> line(length);
            for (std::size_t i = 0; i < length; ++i) {
                line[i].order = static_cast<std::int64_t>(i);
                line[i].kind = (kinds >> i & 1u) != 0 ? write_kind : read_kind;
            }
            check_line(line);
        }
    }
}

TEST_CASE("shared_lock: random lives: no overlap, no deadlock, order kept, no herd") {
    std::mt19937 random(20260101);
    for (int round = 0; round < 60; ++round) {
        contention_model model(the_shared_rule);
        std::size_t arrivals = 0;
        while (arrivals < 60 || !model.entries().empty()) {
            bool arrive = arrivals < 60 && (model.entries().empty() || random() % 2 == 0);
            if (arrive) {
                ++arrivals;
                contention_entry e;
                e.kind = random() % 3 == 0 ? write_kind : read_kind;
                model.arrive(e);
            } else {
                // A holder releases, or, in every other round, somebody gives up.
                std::size_t who = random() % model.entries().size();
                if (round % 2 == 0) {
                    while (!model.holds(model.entries()[who]))
                        who = random() % (who + 1);
                }
                model.leave(who);
            }
            std::size_t readers = 0;
            std::size_t writers = 0;
            for (const auto& e : model.entries()) {
                if (model.holds(e))
                    (e.kind == write_kind ? writers : readers) += 1;
            }
            CHECK(writers <= 1);
            CHECK((writers == 0 || readers == 0));
            CHECK((model.entries().empty() || readers + writers > 0));
            // Events are enough: looking at everything again finds nothing new.
            CHECK(model.complete());
        }
        // A release wakes only those who can go, or the one writer who waits for more readers.
        if (round % 2 == 0)
            CHECK(model.wasted() <= model.leaves());
    }
}

TEST_CASE("shared_lock: reader behind a writer behind a writer (kazoo 649)") {
    std::vector<contention_entry> line(3);
    for (std::size_t i = 0; i < 3; ++i)
        line[i].order = static_cast<std::int64_t>(i);
    line[0].kind = write_kind;
    line[2].kind = write_kind;
    CHECK(blockers_of(the_shared_rule, line, 1) == std::vector<std::size_t>{0});
    CHECK(blockers_of(the_shared_rule, line, 2) == std::vector<std::size_t>{1});
}

TEST_CASE("shared_lock: what may take a holder's place blocks nobody who was not blocked") {
    const shared_rule& rule = the_shared_rule;
    for (std::size_t size = 1; size <= 7; ++size) {
        for (std::uint32_t bits = 0; bits < 1u << size; ++bits) {
            std::vector<contention_entry> line(size);
            for (std::size_t i = 0; i < size; ++i) {
                line[i].order = static_cast<std::int64_t>(i);
                line[i].kind = bits >> i & 1u ? write_kind : read_kind;
            }
            // Only who holds has a place that another node may take: a writer is the first then.
            bool writer = line[0].kind == write_kind;
            REQUIRE(rule.can_be_converted(line[0]) == writer);
            if (!writer)
                continue;
            std::vector<contention_entry> converted = line;
            converted[0].kind = read_kind;
            for (std::size_t i = 1; i < size; ++i) {
                if (!blockers_of(rule, converted, i).empty())
                    CHECK(!blockers_of(rule, line, i).empty());
            }
        }
    }
    CHECK_FALSE(the_exclusive_rule.can_be_converted(contention_entry()));
    CHECK_FALSE(the_semaphore_rule.can_be_converted(contention_entry()));
}

TEST_CASE("shared_lock: the rule of an upgrade on every line of up to seven") {
    const shared_rule& rule = the_shared_rule;
    for (std::size_t length = 1; length <= 7; ++length) {
        for (std::uint32_t kinds = 0; kinds < (1u << length); ++kinds) {
            std::vector<contention_entry> line(length + 1);
            for (std::size_t i = 0; i <= length; ++i) {
                line[i].order = static_cast<std::int64_t>(i);
                line[i].kind = (kinds >> i & 1u) != 0 ? write_kind : read_kind;
            }
            line[length].kind = write_kind;
            for (std::size_t reader = 0; reader < length; ++reader) {
                // Only who holds the lock as a reader can upgrade.
                if (line[reader].kind != read_kind || !may_hold(line, reader))
                    continue;
                line[length].except = line[reader].order;
                bool writer_between = false;
                for (std::size_t i = 0; i < length; ++i) {
                    writer_between = writer_between || line[i].kind == write_kind;
                }
                vector_walk ahead(line, length, 0);
                CHECK(rule.hopeless(ahead, line[length]) == writer_between);
                auto blockers = blockers_of(rule, line, length);
                CHECK(blockers.empty() == (length == 1));
                for (std::size_t b : blockers)
                    CHECK(b != reader);
            }
        }
    }
}

TEST_CASE("shared_lock: of two upgrades exactly one is hopeless") {
    // Two readers, then their upgrades, in either order.
    for (std::int64_t first : {0, 1}) {
        std::vector<contention_entry> line(4);
        for (std::size_t i = 0; i < 4; ++i)
            line[i].order = static_cast<std::int64_t>(i);
        line[2].kind = line[3].kind = write_kind;
        line[2].except = first;
        line[3].except = 1 - first;
        vector_walk ahead_of_first(line, 2, 0);
        vector_walk ahead_of_second(line, 3, 0);
        CHECK(!the_shared_rule.hopeless(ahead_of_first, line[2]));
        CHECK(the_shared_rule.hopeless(ahead_of_second, line[3]));
        // And the first one waits for the other reader only.
        CHECK(blockers_of(the_shared_rule, line, 2) ==
              std::vector<std::size_t>{static_cast<std::size_t>(1 - first)});
    }
}

TEST_CASE("shared_lock: requests for release in a node's data") {
    CHECK(has_release_request("unlock", "unlock"));
    CHECK(has_release_request("me\nunlock", "unlock"));
    CHECK(has_release_request("a\nb\nunlock", "unlock"));
    for (const char* other : {"", "unloc", "unlock\n", "meunlock", "unlock me", "me\nUnlock"}) {
        CHECK(!has_release_request(other, "unlock"));
        std::string asked = with_release_request(other, "unlock");
        CHECK(has_release_request(asked, "unlock"));
        CHECK(without_release_request(asked, "unlock", 1) == other);
        CHECK(without_release_request(asked, "unlock", 0) == asked);
        CHECK(without_release_request(other, "unlock", 1) == other);
    }
    CHECK(with_release_request("", "__REVOKE__") == "__REVOKE__");
    CHECK(with_release_request("10.0.0.1", "__REVOKE__", true) == "__REVOKE__");
    CHECK(!has_release_request("", ""));
}

}  // namespace corozk::testing::shared_lock_test
