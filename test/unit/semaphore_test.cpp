// SPDX-License-Identifier: Apache-2.0
#include "contention_model.hpp"
#include "recipe/contention/limit.hpp"
#include "recipe/contention/node_name.hpp"
#include "recipe/locks/semaphore_rule.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace corozk::testing::semaphore_test {

using namespace corozk::detail;
using namespace corozk::testing;

namespace {

std::int64_t sum_to(const std::vector<contention_entry>& line, std::size_t last) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i <= last; ++i)
        sum += line[i].weight;
    return sum;
}

void check_line(const std::vector<contention_entry>& line, std::int32_t limit) {
    std::int64_t held = 0;
    bool somebody_waits = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        auto blockers = blockers_of(the_semaphore_rule, line, i, limit);
        bool holds = blockers.empty();
        CHECK(holds == (sum_to(line, i) <= limit));
        // Nobody overtakes.
        CHECK((!holds || !somebody_waits));
        somebody_waits = somebody_waits || !holds;
        if (holds) {
            held += line[i].weight;
            continue;
        }
        // They are the nearest, enough to block, and no more than that.
        std::int64_t sum = line[i].weight;
        for (std::size_t k = 0; k < blockers.size(); ++k) {
            CHECK(blockers[k] == i - 1 - k);
            CHECK(sum <= limit);
            sum += line[blockers[k]].weight;
        }
        CHECK(sum > limit);
    }
    CHECK(held <= limit);
    CHECK((line.empty() || held > 0));
}

}  // namespace

TEST_CASE("semaphore: the rule on every line of up to six with weights up to three") {
    for (std::int32_t limit = 3; limit <= 6; ++limit) {
        for (std::size_t length = 0; length <= 6; ++length) {
            std::size_t lines = 1;
            for (std::size_t i = 0; i < length; ++i)
                lines *= 3;
            for (std::size_t code = 0; code < lines; ++code) {
                std::vector<contention_entry> line(length);
                std::size_t rest = code;
                for (std::size_t i = 0; i < length; ++i, rest /= 3) {
                    line[i].order = static_cast<std::int64_t>(i);
                    line[i].weight = static_cast<std::int32_t>(rest % 3) + 1;
                }
                check_line(line, limit);
            }
        }
    }
}

TEST_CASE("semaphore: random lives: never too many, nobody forgotten, limits that change") {
    std::mt19937 random(20260102);
    for (int round = 0; round < 80; ++round) {
        std::int32_t limit = 4;
        contention_model model(the_semaphore_rule, limit);
        std::int64_t granted_at_most = limit;
        std::size_t arrivals = 0;
        while (arrivals < 60 || !model.entries().empty()) {
            auto dice = random() % 16;
            if (arrivals < 60 && (model.entries().empty() || dice < 8)) {
                ++arrivals;
                contention_entry e;
                e.weight = static_cast<std::int32_t>(random() % 4) + 1;
                model.arrive(e);
            } else if (dice == 15) {
                limit = 4 + static_cast<std::int32_t>(random() % 4);
                model.change_limit(limit);
            } else {
                model.leave(random() % model.entries().size());
            }
            std::int64_t held = 0;
            for (const auto& e : model.entries()) {
                if (model.holds(e))
                    held += e.weight;
            }
            // A smaller limit revokes nothing, but lets nobody in.
            granted_at_most = std::max<std::int64_t>(limit, std::min(granted_at_most, held));
            CHECK(held <= granted_at_most);
            CHECK((model.entries().empty() || held > 0));
            CHECK(model.complete());
        }
    }
}

TEST_CASE("semaphore: two who want all permits do not deadlock (hold and wait)") {
    contention_model model(the_semaphore_rule, 3);
    contention_entry all;
    all.weight = 3;
    model.arrive(all);
    model.arrive(all);
    CHECK(model.holds(model.entries()[0]));
    CHECK(!model.holds(model.entries()[1]));
    model.leave(0);
    CHECK(model.holds(model.entries()[0]));
}

TEST_CASE("semaphore: the weight in a name") {
    naming names("", {"-lease-"});
    names.weighted = true;
    std::string guid = "0123456789abcdef0123456789abcdef";
    CHECK(names.format(guid, 0) == guid + "-lease-");
    CHECK(names.format(guid, 0, 12) == guid + "-lease12-");
    for (std::int32_t weight : {1, 2, 12, 2147483647}) {
        for (std::string_view sequence : {"0000000007", "2147483647", "-2147483648"}) {
            std::string name = names.format(guid, 0, weight).append(sequence);
            auto parsed = names.parse(name);
            REQUIRE(parsed);
            CHECK(parsed->weight == weight);
            CHECK(parsed->guid == guid);
            CHECK(parsed->sequence == parse_sequence(sequence));
            CHECK(parsed->stem == names.format(guid, 0, weight));
        }
    }
    for (const char* bad : {"-lease0-0000000001",
                            "-lease1-0000000001",
                            "-lease03-0000000001",
                            "-lease-3-0000000001",
                            "-lease2147483648-0000000001",
                            "-lease30000000001",
                            "-leasex-0000000001",
                            "-lease3-",
                            "-lease",
                            ""}) {
        CHECK(!names.parse(guid + bad));
    }
}

TEST_CASE("semaphore: the limit in the folder's data") {
    CHECK(parse_limit("1") == 1);
    CHECK(parse_limit("2147483647") == 2147483647);
    for (const char* good : {"3", "3\n", " \t3\r\n", "+3", "03"})
        CHECK(parse_limit(good) == 3);
    for (const char* bad :
         {"", "0", "-1", "+-1", "++1", "+ 1", "+", " ", "1 2", "1x", "2147483648", "x"}) {
        CHECK(!parse_limit(bad));
    }
    std::vector<corozk::contender_info> line(2);
    line[0].weight = 2147483647;
    CHECK(free_permits(line, 5) == 0);
    line[0].weight = 3;
    CHECK(free_permits(line, 5) == 1);
}

}  // namespace corozk::testing::semaphore_test
