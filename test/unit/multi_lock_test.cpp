// SPDX-License-Identifier: Apache-2.0
#include "recipe/locks/multi_lock_rule.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace corozk::testing::multi_lock_test {

using namespace corozk::detail;

namespace {

/// Participants who each want several of the lines, and wait in each like for a lock.
struct world {
    explicit world(std::vector<std::vector<int>> wanted_) : wanted(std::move(wanted_)) {
        next.resize(wanted.size());
        for (const auto& lines : wanted) {
            for (int line : lines)
                queues.resize(std::max(queues.size(), static_cast<std::size_t>(line) + 1));
        }
    }

    std::vector<std::vector<int>> wanted;  ///< in the order in which they acquire
    std::vector<int> next;  ///< how many are granted; odd steps: it stands in the next queue
    std::vector<std::deque<int>> queues;

    bool operator<(const world& other) const {
        return std::tie(next, queues) < std::tie(other.next, other.queues);
    }

    int size(std::size_t who) const { return static_cast<int>(wanted[who].size()); }
    bool done(std::size_t who) const { return next[who] > 2 * size(who); }

    std::deque<int>& queue(std::size_t who, int index) {
        int line = wanted[who][static_cast<std::size_t>(index)];
        return queues[static_cast<std::size_t>(line)];
    }

    /// @return whether it could do something.
    bool step(std::size_t who) {
        if (done(who))
            return false;
        int me = static_cast<int>(who);
        if (next[who] == 2 * size(who)) {
            // It has all of them: nobody else may have one.
            for (int i = 0; i < size(who); ++i) {
                REQUIRE(queue(who, i).front() == me);
                queue(who, i).pop_front();
            }
        } else if (next[who] % 2 == 0) {
            queue(who, next[who] / 2).push_back(me);
        } else if (queue(who, next[who] / 2).front() != me) {
            return false;
        }
        ++next[who];
        return true;
    }
};

/// @return whether some schedule ends with everybody waiting.
bool can_deadlock(const world& start) {
    std::set<world> seen{start};
    std::vector<world> open{start};
    while (!open.empty()) {
        world at = open.back();
        open.pop_back();
        bool moved = false;
        bool all_done = true;
        for (std::size_t who = 0; who < at.wanted.size(); ++who) {
            all_done = all_done && at.done(who);
            world after = at;
            if (!after.step(who))
                continue;
            moved = true;
            if (seen.insert(after).second)
                open.push_back(after);
        }
        if (!moved && !all_done)
            return true;
    }
    return false;
}

/// As the recipe does it.
std::vector<int> in_global_order(const std::vector<int>& lines) {
    std::vector<std::string> paths;
    for (int line : lines)
        paths.push_back("/lock-" + std::to_string(line));
    std::vector<int> result;
    for (std::size_t index : global_order(paths))
        result.push_back(lines[index]);
    return result;
}

std::vector<std::vector<int>> selections() {
    std::vector<std::vector<int>> all{{0}, {1}, {2}};
    for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
            if (a == b)
                continue;
            all.push_back({a, b});
            all.push_back({a, b, 3 - a - b});
        }
    }
    return all;
}

}  // namespace

TEST_CASE("multi_lock: the order is that of the bytes, whatever the order of naming") {
    std::vector<std::string> paths{"/b", "/a/x", "/a", "/\xc3\xa4", "/B", "/a-"};
    std::vector<std::string> sorted;
    for (std::size_t index : global_order(paths))
        sorted.push_back(paths[index]);
    CHECK(sorted == std::vector<std::string>{"/B", "/a", "/a-", "/a/x", "/b", "/\xc3\xa4"});
    std::mt19937 random(1);
    for (int i = 0; i < 100; ++i) {
        std::shuffle(paths.begin(), paths.end(), random);
        std::vector<std::string> again;
        for (std::size_t index : global_order(paths))
            again.push_back(paths[index]);
        CHECK(again == sorted);
    }
}

TEST_CASE("multi_lock: a chroot in front changes nothing") {
    std::vector<std::string> paths{"/b", "/a/x", "/a", "/a-"};
    std::vector<std::string> longer;
    for (const std::string& path : paths)
        longer.push_back("/root/of" + path);
    CHECK(global_order(paths) == global_order(longer));
}

TEST_CASE("multi_lock: who is named twice") {
    CHECK(!named_twice({}));
    CHECK(!named_twice({"/a"}));
    CHECK(!named_twice({"/a", "/b", "/a/b"}));
    CHECK(named_twice({"/a", "/b", "/a"}) == "/a");
    CHECK(named_twice({"/b", "/b"}) == "/b");
}

TEST_CASE("multi_lock: three participants, all selections, all schedules: no deadlock") {
    auto all = selections();
    bool found_without_order = false;
    std::set<std::vector<std::vector<int>>> tried;
    for (const auto& a : all) {
        for (const auto& b : all) {
            for (const auto& c : all) {
                world ordered({in_global_order(a), in_global_order(b), in_global_order(c)});
                bool is_new = tried.insert(ordered.wanted).second;
                if (is_new && can_deadlock(ordered))
                    FAIL("deadlock");
                if (!found_without_order)
                    found_without_order = can_deadlock(world({a, b, c}));
            }
        }
    }
    CHECK(tried.size() == 7 * 7 * 7);
    // The model can find one.
    CHECK(found_without_order);
}

TEST_CASE("multi_lock: many participants, random schedules: all are served") {
    std::mt19937 random(2);
    for (int round = 0; round < 200; ++round) {
        std::vector<std::vector<int>> wanted(12);
        for (auto& lines : wanted) {
            for (int line = 0; line < 6; ++line) {
                if (random() % 3 == 0)
                    lines.push_back(line);
            }
            if (lines.empty())
                lines.push_back(static_cast<int>(random() % 6));
            std::shuffle(lines.begin(), lines.end(), random);
            lines = in_global_order(lines);
        }
        world w(wanted);
        std::vector<std::size_t> who(wanted.size());
        for (std::size_t i = 0; i < who.size(); ++i)
            who[i] = i;
        bool moved = true;
        while (moved) {
            std::shuffle(who.begin(), who.end(), random);
            moved = std::any_of(who.begin(), who.end(), [&w](std::size_t i) { return w.step(i); });
        }
        for (std::size_t i : who)
            CHECK(w.done(i));
    }
}

TEST_CASE("multi_lock: the decision, in all states") {
    for (std::size_t granted = 0; granted <= 2; ++granted) {
        for (int flags = 0; flags < 4; ++flags) {
            multi_state s;
            s.parts = 2;
            s.granted = granted;
            s.over = (flags & 1) != 0;
            s.all_valid = (flags & 2) == 0;
            multi_step step = decide(s);
            if (s.over) {
                CHECK(step == multi_step::roll_back);
            } else if (!s.all_valid) {
                CHECK(step == multi_step::wait_for_loss);
            } else {
                CHECK(step == (granted == 2 ? multi_step::deliver : multi_step::acquire_next));
            }
        }
    }
}

}  // namespace corozk::testing::multi_lock_test
