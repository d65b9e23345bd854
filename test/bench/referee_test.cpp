// SPDX-License-Identifier: Apache-2.0
#include "judge/referee.hpp"

#include "judge/line_order.hpp"

#include <catch2/catch.hpp>

namespace corozk::testing::referee_test {

using namespace corozk::bench;
using namespace std::chrono_literals;

namespace {

/// A referee and contenders that speak at given milliseconds.
struct trial_of {
    explicit trial_of(std::size_t contenders_, std::size_t limit = 1, bool fair = false)
        : contenders(contenders_), judge(rules_for(limit, fair), contenders) {}

    static referee::rules rules_for(std::size_t limit, bool fair) {
        referee::rules r;
        r.limit = limit;
        r.fair = fair;
        return r;
    }

    static clock::time_point at(int ms) { return clock::time_point(1h) + ms * 1ms; }
    void say(std::size_t who, std::string_view line, int ms) {
        judge.said(who, parse_statement(line), at(ms));
    }
    void all_wait() {
        for (std::size_t who = 0; who < contenders; ++who)
            say(who, "waiting", 0);
    }

    const std::size_t contenders;
    referee judge;
};

/// What processes have said, reading by reading: "" is what one has not said yet.
struct readings_of {
    explicit readings_of(std::size_t speakers) : order(speakers) {}

    void read(const std::vector<std::vector<std::string_view>>& lines) {
        order.begin_reading();
        ++count;
        for (std::size_t who = 0; who < lines.size(); ++who) {
            for (auto line : lines[who])
                order.add(who, parse_statement(line), clock::time_point(count * 1s));
        }
    }

    /// "0 holding" and so on.
    std::vector<std::string> take() {
        std::vector<std::string> all;
        while (auto next = order.take())
            all.push_back(std::to_string(next->who) + " " +
                          std::string(to_string(next->what.kind)));
        return all;
    }

    line_order order;
    int count = 0;
};

using lines = std::vector<std::string>;

}  // namespace

TEST_CASE(
    "line order: a release that was missed by one reading comes before the grant that was not") {
    readings_of r(2);
    r.read({{"waiting", "holding"}, {"waiting"}});
    CHECK(r.take() == lines{"0 waiting", "1 waiting"});
    r.read({{}, {}});
    r.read({{}, {}});
    CHECK(r.take() == lines{"0 holding"});
    r.read({{}, {"holding"}});
    CHECK(r.take().empty());
    r.read({{"releasing", "released"}, {}});
    CHECK(r.take() == lines{"0 releasing", "0 released"});
    r.read({{}, {}});
    CHECK(r.take() == lines{"1 holding"});
    CHECK(r.order.empty());
}

TEST_CASE("line order: a grant of one reading may come before one of the reading before it") {
    readings_of r(3);
    r.read({{"waiting"}, {"waiting"}, {"waiting", "holding"}});
    r.read({{}, {}, {}});
    r.read({{}, {}, {}});
    r.take();
    // 2, 0 and 1 have had it, in this order.
    r.read({{}, {"holding"}, {}});
    r.read({{"holding", "releasing"}, {}, {}});
    r.read({{}, {}, {"releasing"}});
    CHECK(r.take() == lines{"2 releasing", "0 holding", "0 releasing", "1 holding"});
}

TEST_CASE("line order: a grant that may have been before others are read waits for these") {
    readings_of r(2);
    r.read({{"waiting"}, {"waiting"}});
    r.take();
    r.read({{"holding"}, {}});
    r.read({{}, {}});
    r.read({{}, {"holding", "releasing"}});
    // It can have nothing to do with the first one.
    CHECK(r.take() == lines{"0 holding"});
    r.read({{"releasing"}, {}});
    r.read({{}, {}});
    CHECK(r.take() == lines{"0 releasing", "1 holding", "1 releasing"});
}

TEST_CASE("line order: of several the smallest token is first, else who asked first") {
    readings_of r(3);
    r.read({{"waiting"}, {}, {}});
    r.read({{}, {"waiting"}, {"waiting"}});
    r.take();
    SECTION("tokens") {
        r.read({{"holding 12", "releasing"}, {"holding 11", "releasing"}, {"holding 9"}});
        r.read({{}, {}, {}});
        r.read({{}, {}, {}});
        CHECK(r.take() ==
              lines{"2 holding", "1 holding", "1 releasing", "0 holding", "0 releasing"});
    }
    SECTION("none") {
        r.read({{"holding", "releasing"}, {"holding"}, {"holding", "releasing"}});
        r.read({{}, {}, {}});
        r.read({{}, {}, {}});
        CHECK(r.take() ==
              lines{"0 holding", "0 releasing", "2 holding", "2 releasing", "1 holding"});
    }
}

TEST_CASE("referee: what is said at the same time has no time between") {
    trial_of t(2);
    t.all_wait();
    t.say(0, "holding", 10);
    t.say(0, "releasing", 20);
    t.say(1, "holding", 20);
    CHECK(t.judge.correct());
    CHECK(t.judge.handovers().empty());
}

TEST_CASE("referee: a semaphore's release is not taken for a kill before it") {
    trial_of t(4, 2);
    t.all_wait();
    t.say(0, "holding", 10);
    t.say(1, "holding", 11);
    t.judge.killed(0, t.at(100));
    t.judge.told(1, t.at(1'000));
    t.say(2, "holding", 1'002);
    CHECK(t.judge.takeovers().empty());
    CHECK(t.judge.handovers().values() == std::vector<double>{2'000});
    t.say(3, "holding", 4'100);
    CHECK(t.judge.takeovers().values() == std::vector<double>{4'000'000});
    CHECK(t.judge.correct());
}

TEST_CASE("referee: a lock that is passed on in order is correct, and timed from the release") {
    trial_of t(3);
    t.all_wait();
    t.say(0, "holding 7", 10);
    t.judge.told(0, t.at(1'000));
    // The next one may be quicker than the word of the one before.
    t.say(1, "holding 8", 1'003);
    t.say(0, "released", 1'004);
    t.judge.told(1, t.at(2'000));
    t.say(1, "released", 2'001);
    t.say(2, "holding 9", 2'005);
    CHECK(t.judge.correct());
    CHECK(t.judge.grants() == 3);
    CHECK(t.judge.most_holders() == 1);
    CHECK(t.judge.handovers().values() == std::vector<double>{3'000, 5'000});
    CHECK(t.judge.overtakings() == 0);
}

TEST_CASE("referee: two holders of a lock are a violation, also if only their tokens show it") {
    trial_of t(2);
    t.all_wait();
    t.say(0, "holding", 10);
    t.say(1, "holding", 20);
    CHECK(t.judge.faults(fault_kind::exclusion) == 1);
    CHECK(t.judge.most_holders() == 2);
    CHECK(t.judge.fault_texts().at(0).starts_with(
        "exclusion: contender 2 held it while contender 1 did"));

    trial_of tokens(2);
    tokens.all_wait();
    tokens.say(0, "holding 5", 10);
    tokens.judge.told(0, tokens.at(20));
    tokens.say(1, "holding 5", 30);
    CHECK(tokens.judge.faults(fault_kind::exclusion) == 1);
    CHECK(tokens.judge.most_holders() == 1);
}

TEST_CASE("referee: a hand-over is timed for those only who waited for it") {
    trial_of t(4);
    t.say(0, "waiting", 0);
    t.say(0, "holding", 10);
    t.judge.told(0, t.at(20));
    t.say(1, "waiting", 30);  // it was free already
    t.say(1, "holding", 35);
    CHECK(t.judge.handovers().empty());
    // Of two who hold it, both have to leave.
    t.say(2, "waiting", 40);
    t.say(3, "waiting", 40);
    t.say(2, "holding", 50);
    CHECK(t.judge.faults(fault_kind::exclusion) == 1);
    t.judge.told(1, t.at(100));
    t.judge.told(2, t.at(200));
    t.say(3, "holding", 201);
    CHECK(t.judge.handovers().values() == std::vector<double>{1'000});
    CHECK(t.judge.faults(fault_kind::exclusion) == 1);
}

TEST_CASE("referee: a semaphore has its limit") {
    trial_of t(4, 2);
    t.all_wait();
    t.say(0, "holding", 10);
    t.say(1, "holding", 11);
    CHECK(t.judge.correct());
    t.judge.told(1, t.at(20));
    t.say(2, "holding", 22);
    CHECK(t.judge.correct());
    CHECK(t.judge.handovers().values() == std::vector<double>{2'000});
    t.say(3, "holding", 30);
    CHECK(t.judge.faults(fault_kind::exclusion) == 1);
    // It takes two releases before the next one may have it.
    t.judge.told(0, t.at(40));
    t.say(0, "released", 41);
    t.say(0, "waiting", 42);
    t.say(0, "holding", 43);
    CHECK(t.judge.faults(fault_kind::exclusion) == 2);
}

TEST_CASE("referee: only who had surely queued can be overtaken") {
    trial_of t(4, 1, true);
    t.say(0, "waiting", 0);
    t.say(0, "holding", 1);
    t.say(1, "waiting", 100);
    t.say(2, "waiting", 300);  // 200 ms later: the two may have queued in any order
    t.judge.told(0, t.at(1'000));
    t.say(2, "holding", 1'001);
    CHECK(t.judge.overtakings() == 0);
    t.say(3, "waiting", 1'100);
    t.judge.told(2, t.at(1'200));
    t.say(3, "holding", 1'201);
    CHECK(t.judge.overtakings() == 1);
    CHECK(t.judge.faults(fault_kind::order) == 1);

    trial_of certain(3);
    certain.say(0, "waiting", 0);
    certain.say(0, "holding", 1);
    certain.say(1, "waiting", 100);
    certain.say(1, "queued", 110);
    certain.say(2, "waiting", 120);
    certain.judge.told(0, certain.at(200));
    certain.say(2, "holding", 201);
    CHECK(certain.judge.overtakings() == 1);
    CHECK(certain.judge.correct());  // nobody has asked for order
}

TEST_CASE("referee: it stands still while somebody could have it and waits") {
    trial_of t(2);
    CHECK_FALSE(t.judge.idle_since());
    t.say(0, "waiting", 100);
    CHECK(t.judge.idle_since() == t.at(100));
    t.say(0, "holding", 200);
    t.say(1, "waiting", 300);
    CHECK_FALSE(t.judge.idle_since());
    t.judge.told(0, t.at(400));
    CHECK(t.judge.idle_since() == t.at(400));
    t.judge.stalled(2s);
    CHECK(t.judge.fault_texts() ==
          std::vector<std::string>{"stall: no process has taken it for 2.00 s, although 1 waited; "
                                   "contender 1 was to release it and has not said that it did"});
}

TEST_CASE("referee: a death is a fault, unless it was wanted, and then the next is timed") {
    trial_of t(4);
    t.all_wait();
    t.say(0, "holding", 10);
    t.judge.killed(0, t.at(1'000));
    t.say(0, "released", 1'001);  // it had said so before
    t.say(1, "holding", 5'000);
    CHECK(t.judge.correct());
    CHECK(t.judge.takeovers().values() == std::vector<double>{4'000'000});
    CHECK(t.judge.handovers().empty());
    t.judge.ended(1, t.at(6'000), "ended with exit code 1");
    t.judge.ended(2, t.at(6'000), "ended with exit code 1");
    CHECK(t.judge.faults(fault_kind::death) == 2);
    CHECK(t.judge.fault_texts().at(0) ==
          "death (2 times): first, contender 2, which held it, ended with exit code 1");
    t.say(3, "holding", 7'000);
    t.judge.told(3, t.at(7'001));
    // Whether it has given it back is not known.
    t.judge.ended(3, t.at(7'002), "was ended by signal 11");
    CHECK(t.judge.faults(fault_kind::death) == 3);
    CHECK(t.judge.fault_texts().at(0).starts_with("death (3 times)"));
}

TEST_CASE("referee: who has said that it gave it back, or lost it, may end") {
    trial_of t(2);
    t.all_wait();
    t.say(0, "holding", 10);
    t.judge.told(0, t.at(20));
    CHECK(t.judge.leaves(0));
    CHECK(t.judge.turns(0) == 0);
    t.say(0, "released", 30);
    CHECK(t.judge.turns(0) == 1);
    t.judge.ended(0, t.at(40), "ended with exit code 3");
    t.say(1, "holding", 50);
    t.say(1, "lost", 60);
    CHECK(t.judge.turns(1) == 1);
    t.judge.ended(1, t.at(70), "ended with exit code 0");
    CHECK(t.judge.correct());
}

TEST_CASE("referee: what was lost was not passed on") {
    trial_of t(4);
    t.all_wait();
    t.say(0, "holding", 10);
    CHECK(t.judge.passed_on() == 0);
    t.say(0, "lost", 20);
    t.say(1, "holding", 30);
    CHECK(t.judge.passed_on() == 0);
    t.judge.told(1, t.at(40));
    t.say(2, "holding", 50);
    CHECK(t.judge.passed_on() == 1);
    t.judge.killed(2, t.at(60));
    t.say(3, "holding", 70);
    CHECK(t.judge.passed_on() == 2);
    CHECK(t.judge.handovers().values() == std::vector<double>{10'000});
}

TEST_CASE("referee: of a semaphore, what was released is taken before what was lost") {
    trial_of t(4, 2);
    t.all_wait();
    t.say(0, "holding", 10);
    t.say(1, "holding", 10);
    t.say(0, "lost", 20);
    t.judge.told(1, t.at(30));
    t.say(2, "holding", 32);
    CHECK(t.judge.handovers().values() == std::vector<double>{2'000});
    t.say(3, "holding", 40);
    CHECK(t.judge.handovers().size() == 1);
    CHECK(t.judge.passed_on() == 1);
}

TEST_CASE("referee: who is told to release what it has lost may answer that or not") {
    trial_of t(2);
    t.all_wait();
    t.say(0, "holding", 10);
    t.judge.told(0, t.at(20));
    t.say(0, "lost", 21);
    t.say(0, "released", 22);
    CHECK(t.judge.turns(0) == 1);
    CHECK_THROWS_AS(t.say(0, "released", 23), protocol_error);
    t.say(1, "holding", 30);
    t.judge.told(1, t.at(40));
    t.say(1, "lost", 41);
    t.say(1, "waiting", 42);
    CHECK(t.judge.correct());
}

TEST_CASE(
    "referee: where nobody is told to release it, a holder that never does stands in the way") {
    auto r = trial_of::rules_for(1, false);
    r.holds_itself = true;
    referee judge(r, 2);
    auto say = [&judge](std::size_t who, std::string_view line, int ms) {
        judge.said(who, parse_statement(line), trial_of::at(ms));
    };
    say(0, "waiting", 0);
    say(0, "holding", 100);
    CHECK_FALSE(judge.idle_since());
    say(1, "waiting", 300);
    CHECK(judge.idle_since() == trial_of::at(300));
    say(0, "releasing", 400);
    say(1, "holding", 500);
    CHECK_FALSE(judge.idle_since());
}

TEST_CASE("referee: who was to give it back and never says so is a stall") {
    trial_of t(1);
    t.all_wait();
    t.say(0, "holding", 10);
    t.judge.told(0, t.at(20));
    t.judge.stuck(0, 2s);
    CHECK(t.judge.fault_texts() ==
          std::vector<std::string>{"stall: contender 1 was to release it, and has not said for "
                                   "2.00 s that it did"});
}

TEST_CASE("referee: of which pairs it is known who came first") {
    trial_of t(3, 1, true);
    t.say(0, "waiting", 0);
    t.say(0, "holding", 1);
    t.say(1, "waiting", 100);
    t.say(2, "waiting", 300);
    t.judge.told(0, t.at(1'000));
    t.say(1, "holding", 1'001);
    CHECK(t.judge.comparable() == 0);

    trial_of later(3, 1, true);
    later.say(0, "waiting", 0);
    later.say(0, "holding", 1);
    later.say(1, "waiting", 100);
    CHECK_FALSE(later.judge.has_queued(1, later.at(600)));
    CHECK(later.judge.has_queued(1, later.at(601)));
    CHECK_FALSE(later.judge.has_queued(2, later.at(601)));
    later.say(2, "waiting", 700);
    later.say(2, "queued", 701);
    CHECK(later.judge.has_queued(2, later.at(702)));
    later.judge.told(0, later.at(1'000));
    later.say(1, "holding", 1'001);
    CHECK(later.judge.comparable() == 1);
    CHECK(later.judge.correct());
}

TEST_CASE("referee: who releases without having been told says so before") {
    trial_of t(2);
    t.all_wait();
    t.say(0, "holding", 10);
    t.say(0, "releasing", 20);
    t.say(1, "holding", 21);
    t.say(0, "released", 22);
    CHECK(t.judge.correct());
    CHECK_THROWS_WITH(t.say(1, "released", 30), Catch::Contains("it had not been told to release"));
    t.say(1, "lost", 40);
    CHECK(t.judge.losses() == 1);
    CHECK(t.judge.holders() == 0);
}

TEST_CASE("referee: what makes no sense cannot be judged") {
    CHECK_THROWS_WITH(parse_statement("got it\x01"),
                      Catch::Contains("said 'got it?', which is not"));
    CHECK_THROWS_AS(parse_statement(""), protocol_error);
    CHECK_THROWS_AS(parse_statement("holding x"), protocol_error);
    CHECK_THROWS_AS(parse_statement("waiting 5"), protocol_error);
    CHECK(parse_statement("holding 12\r").token == 12);
    trial_of t(2);
    CHECK_THROWS_WITH(t.say(0, "holding", 0), Catch::Contains("without having said 'waiting'"));
    CHECK_THROWS_AS(t.say(0, "released", 0), protocol_error);
    CHECK_THROWS_AS(t.say(0, "queued", 0), protocol_error);
    t.say(0, "waiting", 0);
    t.say(0, "holding", 0);
    CHECK_THROWS_WITH(t.say(0, "holding", 0),
                      Catch::Contains("said 'holding' although it already held it"));
    CHECK_THROWS_WITH(t.judge.ended(1, t.at(0), "ended with exit code 127"),
                      Catch::Contains("exit code 127 before it said 'waiting'"));
}

}  // namespace corozk::testing::referee_test
