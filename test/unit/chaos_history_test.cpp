// SPDX-License-Identifier: Apache-2.0
#include "chaos/history.hpp"

#include <catch2/catch.hpp>

using namespace corozk::chaos;

namespace {

/// Two owners one after the other, two items, three additions, two terms: all as it should be.
history good() {
    history h;
    h.add({deed::entered, "a", 10});
    h.add({deed::used, "a", 10});
    h.add({deed::wrote, "a", 10, 100});
    h.add({deed::left, "a", 10});
    h.add({deed::entered, "b", 20});
    h.add({deed::wrote, "b", 20, 200});
    h.add({deed::left, "b", 20});
    h.add({deed::leads, "a", 5});
    h.add({deed::leads, "b", 6});
    for (const char* item : {"x", "y"}) {
        h.add({deed::putting, "a", item});
        h.add({deed::put, "a", item});
    }
    for (std::int64_t i = 1; i <= 3; ++i) {
        h.add({deed::adding, "a", 0, i});
        h.add({deed::added, "a", i, i});
    }
    return h;
}

final_state last() {
    final_state state;
    state.queued = {"x"};
    state.effects = {"y"};
    state.counter = 3;
    return state;
}

std::size_t violations(const history& h, const final_state& state = last()) {
    return h.judge(state).violations.size();
}

}  // namespace

TEST_CASE("chaos: a history without fault") {
    judgement j = good().judge(last());
    CHECK(j.violations.empty());
    CHECK(j.accesses == 3);
    CHECK(j.hand_overs == 2);
    CHECK(j.overlaps == 0);
    CHECK(j.guarded_writes == 2);
    CHECK(j.terms == 2);
    CHECK(j.put == 2);
    CHECK(j.added == 3);
    CHECK(j.taken_back.empty());
    CHECK(j.in_doubt == 0);
}

TEST_CASE("chaos: owners") {
    history h = good();
    SECTION("an owner that was lost is fenced, and that is no violation") {
        h.add({deed::entered, "a", 30});
        h.add({deed::entered, "b", 40});
        h.add({deed::fenced, "a", 30});
        CHECK(violations(h) == 0);
        CHECK(h.judge(last()).overlaps == 1);
        CHECK(h.judge(last()).fenced == 1);
    }
    SECTION("an access of an earlier owner") {
        h.add({deed::used, "a", 10});
        CHECK(violations(h) == 1);
    }
    SECTION("an earlier token enters again") {
        h.add({deed::entered, "a", 10});
        CHECK(violations(h) == 1);
    }
    SECTION("one token for two") {
        h.add({deed::entered, "a", 20});
        CHECK(violations(h) == 1);
    }
    SECTION("one term for two leaders") {
        h.add({deed::leads, "a", 6});
        CHECK(violations(h) == 1);
    }
}

TEST_CASE("chaos: guarded writes, whenever they were reported") {
    history h = good();
    h.add({deed::wrote, "a", 10, 150});
    CHECK(violations(h) == 0);
    h.add({deed::wrote, "a", 10, 250});
    CHECK(violations(h) == 1);
}

TEST_CASE("chaos: the queue") {
    history h = good();
    final_state state = last();
    SECTION("lost") {
        state.queued.clear();
        CHECK(violations(h, state) == 1);
    }
    SECTION("doubled: taken twice, or taken and there") {
        state.effects.emplace_back("y");
        CHECK(violations(h, state) == 1);
        state = last();
        state.queued.emplace_back("y");
        CHECK(violations(h, state) == 1);
    }
    SECTION("from nowhere") {
        state.queued.emplace_back("z");
        CHECK(violations(h, state) == 1);
    }
    SECTION("in doubt: there or not, but not twice") {
        h.add({deed::putting, "b", "z"});
        CHECK(violations(h, state) == 0);
        CHECK(h.judge(state).in_doubt == 1);
        state.effects.emplace_back("z");
        CHECK(violations(h, state) == 0);
        state.effects.emplace_back("z");
        CHECK(violations(h, state) == 1);
    }
    SECTION("refused: not there") {
        h.add({deed::putting, "b", "z"});
        h.add({deed::refused, "b", "z"});
        CHECK(violations(h, state) == 0);
        state.effects.emplace_back("z");
        CHECK(violations(h, state) == 1);
    }
}

TEST_CASE("chaos: the counter") {
    history h = good();
    final_state state = last();
    state.counter = 2;
    CHECK(violations(h, state) == 1);
    state.counter = 4;
    CHECK(violations(h, state) == 1);
    h.add({deed::adding, "b", 0, 1});
    CHECK(violations(h, state) == 0);
    state.counter = 3;
    CHECK(violations(h, state) == 0);
    h.add({deed::not_added, "b", 0, 1});
    CHECK(violations(h, state) == 0);
    state.counter = 4;
    CHECK(violations(h, state) == 1);
}

TEST_CASE("chaos: servers that lose what they have acknowledged are found out") {
    history h = good();
    h.add({deed::witnessed, "a", 1, 50});
    h.add({deed::witnessed, "b", 3, 70});
    h.add({deed::witnessed, "a", 2, 60});
    CHECK(h.judge(last()).taken_back.empty());
    CHECK(h.judge(last()).witnessed == 3);
    h.add({deed::witnessed, "a", 3, 1000});
    CHECK(h.judge(last()).taken_back.size() == 1);
    CHECK(h.judge(last()).violations.empty());
}

TEST_CASE("chaos: no sum is told twice") {
    history h = good();
    h.add({deed::adding, "b", 0, 1});
    h.add({deed::added, "b", 3, 1});
    final_state state = last();
    state.counter = 4;
    CHECK(violations(h, state) == 1);
}
