// SPDX-License-Identifier: Apache-2.0
#include "chaos/history.hpp"

#include <catch2/catch.hpp>

namespace corozk::testing::chaos_history_test {

using namespace corozk::chaos;

namespace {

/// Two owners one after the other, three items, three additions, two terms: all as it should be.
history good() {
    history h;
    h.add({deed::asked, "a"});
    h.add({deed::entered, "a", 10});
    h.add({deed::used, "a", 10});
    h.add({deed::wrote, "a", 10, 100});
    h.add({deed::left, "a", 10});
    h.add({deed::asked, "b"});
    h.add({deed::entered, "b", 20});
    h.add({deed::wrote, "b", 20, 200});
    h.add({deed::left, "b", 20});
    h.add({deed::leads, "a", 5});
    h.add({deed::leads, "b", 6});
    for (const char* item : {"queued", "done", "taken"}) {
        h.add({deed::putting, "a", item});
        h.add({deed::put, "a", item});
    }
    h.add({deed::done, "b", "done"});
    h.add({deed::took, "b", "taken"});
    for (std::int64_t i = 1; i <= 3; ++i) {
        h.add({deed::adding, "a", 0, i});
        h.add({deed::added, "a", i, i});
    }
    return h;
}

final_state last() {
    final_state state;
    state.queued = {"queued"};
    state.effects = {"done"};
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
    CHECK(j.put == 3);
    CHECK(j.taken == 1);
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
    SECTION("one token for two") {
        h.add({deed::entered, "a", 20});
        CHECK(violations(h) == 1);
    }
    SECTION("one term for two leaders") {
        h.add({deed::leads, "a", 6});
        CHECK(violations(h) == 1);
    }
}

TEST_CASE("chaos: a resource that does not fence") {
    history h = good();
    SECTION("an access of an earlier owner") {
        h.add({deed::used, "a", 10});
        CHECK(violations(h) == 1);
    }
    SECTION("an earlier token enters again") {
        h.add({deed::entered, "a", 10});
        CHECK(violations(h) == 1);
    }
    SECTION("the owner is refused") {
        h.add({deed::fenced, "b", 20});
        CHECK(violations(h) == 1);
    }
}

TEST_CASE("chaos: tokens that do not grow") {
    history h = good();
    SECTION("a lower one, which a resource that fences refuses") {
        h.add({deed::asked, "a"});
        h.add({deed::fenced, "a", 15});
        CHECK(violations(h) == 1);
    }
    SECTION("the same one again, which no resource can tell from the owner's next access") {
        h.add({deed::asked, "b"});
        h.add({deed::entered, "b", 20});
        CHECK(violations(h) == 1);
    }
    SECTION("a lower one that was asked for before the higher one came") {
        h.add({deed::asked, "a"});
        h.add({deed::asked, "b"});
        h.add({deed::entered, "b", 40});
        h.add({deed::fenced, "a", 30});
        CHECK(violations(h) == 0);
    }
}

TEST_CASE("chaos: once all has settled nobody is lost") {
    history h = good();
    SECTION("one after the other") {
        h.add({deed::settled, ""});
        h.add({deed::entered, "a", 30});
        h.add({deed::left, "a", 30});
        h.add({deed::entered, "b", 40});
        CHECK(violations(h) == 0);
    }
    SECTION("whoever died inside before does not count") {
        h.add({deed::entered, "a", 30});
        h.add({deed::settled, ""});
        h.add({deed::entered, "b", 40});
        CHECK(violations(h) == 0);
    }
    SECTION("two owners at a time") {
        h.add({deed::settled, ""});
        h.add({deed::entered, "a", 30});
        h.add({deed::entered, "b", 40});
        CHECK(violations(h) == 1);
    }
    SECTION("an owner is refused") {
        h.add({deed::entered, "a", 30});
        h.add({deed::entered, "b", 40});
        h.add({deed::settled, ""});
        h.add({deed::fenced, "a", 30});
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
    SECTION("doubled: consumed twice, or consumed and there") {
        state.effects.emplace_back("done");
        CHECK(violations(h, state) == 1);
        state = last();
        state.queued.emplace_back("done");
        CHECK(violations(h, state) == 1);
    }
    SECTION("doubled: taken and there, or taken twice") {
        state.queued.emplace_back("taken");
        CHECK(violations(h, state) == 1);
        h.add({deed::took, "a", "taken"});
        CHECK(violations(h) == 1);
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
    SECTION("taken from nowhere") {
        h.add({deed::took, "a", "z"});
        CHECK(violations(h) == 1);
    }
    SECTION("perhaps taken: there or not, but not twice") {
        h.add({deed::putting, "b", "z"});
        h.add({deed::put, "b", "z"});
        h.add({deed::perhaps_took, "a", "z"});
        CHECK(violations(h, state) == 0);
        CHECK(h.judge(state).in_doubt == 1);
        state.queued.emplace_back("z");
        CHECK(violations(h, state) == 0);
        state.effects.emplace_back("z");
        CHECK(violations(h, state) == 1);
    }
    SECTION("done without an effect, whatever became of its put") {
        h.add({deed::putting, "b", "z"});
        h.add({deed::done, "a", "z"});
        CHECK(violations(h, state) == 1);
        state.queued.emplace_back("z");
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
    h.add({deed::adding, "a", 0, 4});
    h.add({deed::adding, "b", 0, 1});
    h.add({deed::added, "a", 4, 4});
    h.add({deed::added, "b", 4, 1});
    final_state state = last();
    state.counter = 5;
    CHECK(violations(h, state) == 1);
    // One of the two additions is lost, too.
    state.counter = 4;
    CHECK(violations(h, state) == 2);
}

TEST_CASE("chaos: a sum is larger than what was told before its addition began") {
    history h = good();
    final_state state = last();
    state.counter = 6;
    h.add({deed::adding, "b", 0, 1});
    SECTION("it is not: the counter fell back, and additions in doubt made up for it") {
        h.add({deed::adding, "c", 0, 1});
        h.add({deed::adding, "a", 0, 4});
        h.add({deed::added, "a", 6, 4});
        h.add({deed::adding, "a", 0, 5});
        h.add({deed::added, "a", 5, 5});
        CHECK(violations(h, state) == 1);
    }
    SECTION("additions at the same time are told of in any order") {
        h.add({deed::adding, "a", 0, 4});
        h.add({deed::adding, "c", 0, 1});
        h.add({deed::added, "a", 6, 4});
        h.add({deed::added, "b", 4, 1});
        h.add({deed::added, "c", 5, 1});
        CHECK(violations(h, state) == 0);
    }
}

TEST_CASE("chaos: an addition in doubt does not hide that a sum was lost") {
    history h;
    h.add({deed::adding, "a", 0, 1});
    h.add({deed::added, "a", 1, 1});
    h.add({deed::adding, "b", 0, 1});
    h.add({deed::adding, "a", 0, 2});
    h.add({deed::added, "a", 3, 2});
    final_state state;
    state.counter = 3;
    CHECK(violations(h, state) == 0);
    state.counter = 2;
    CHECK(violations(h, state) == 1);
}

}  // namespace corozk::testing::chaos_history_test
