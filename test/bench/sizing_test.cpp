// SPDX-License-Identifier: Apache-2.0
#include "sizing/model.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>

namespace corozk::testing::sizing_test {

using namespace corozk::bench;

namespace {

constexpr std::array forms{lock_form::corozk, lock_form::textbook, lock_form::herd};

server_costs some_costs() {
    server_costs c;
    c.write_us = 20;
    c.transaction_us = 50;
    c.read_us = 10;
    c.event_us = 5;
    c.name_us = 0.5;
    c.read_latency_us = 100;
    c.handover_latency_us = 200;
    return c;
}

lock_demand some_demand(double waiters) {
    lock_demand d;
    d.waiters = waiters;
    d.hold_us = 100'000;
    return d;
}

}  // namespace

TEST_CASE("sizing: a turn's work depends on the waiters as the recipe does") {
    CHECK(work_of(lock_form::corozk, 10, 100'000).events ==
          work_of(lock_form::corozk, 1'000, 100'000).events);
    CHECK(work_of(lock_form::textbook, 1'000, 100'000).names == 2'000);
    // As doc/sizing.md has it.
    CHECK(work_of(lock_form::corozk, 1'000, 100'000).reads == 5);
    CHECK(work_of(lock_form::corozk, 1'000, 100'000).names == 2'000);
    CHECK(work_of(lock_form::corozk, 1'000, 1'000).names == 1'500);
    CHECK(work_of(lock_form::textbook, 1'000, 100'000).events == 1);
    CHECK(work_of(lock_form::herd, 1'000, 100'000).events == 1'000);
    CHECK(work_of(lock_form::herd, 1'000, 100'000).writes == 1'002);
}

TEST_CASE("sizing: writes load every server, what else there is they share") {
    turn_work w;
    w.writes = 2;
    w.transactions = 1;
    w.reads = 6;
    w.events = 12;
    w.names = 60;
    CHECK(busy_us(some_costs(), w, 1) == Approx(2 * 20 + 50 + 6 * 10 + 12 * 5 + 60 * 0.5));
    CHECK(busy_us(some_costs(), w, 3) == Approx(2 * 20 + 50 + (6 * 10 + 12 * 5 + 60 * 0.5) / 3));
}

TEST_CASE("sizing: more servers carry more of a herd's events, but none of its writes") {
    lock_demand d = some_demand(1'000);
    auto busy = [&d](lock_form form, double servers) {
        return busy_us(some_costs(), work_of(form, d.waiters, d.hold_us), servers);
    };
    CHECK(busy(lock_form::textbook, 1) > 2.5 * busy(lock_form::textbook, 3));  // its listings
    CHECK(busy(lock_form::herd, 7) > 1'000 * some_costs().write_us);           // its creates
    CHECK(busy(lock_form::herd, 7) < busy(lock_form::herd, 3));
}

TEST_CASE("sizing: the load is what the turns take, as often as they come") {
    lock_prediction p = predict(some_costs(), lock_form::corozk, some_demand(100));
    double busy = busy_us(some_costs(), work_of(lock_form::corozk, 100, 100'000), 1);
    CHECK(p.handover_us == Approx(230));
    CHECK(p.turns_per_s == Approx(1e6 / 100'230));
    CHECK(p.load == Approx(busy / 100'230));
    CHECK_FALSE(p.saturated);
}

TEST_CASE("sizing: a herd saturates the servers, others do not") {
    lock_demand many = some_demand(10'000);
    lock_prediction herd = predict(some_costs(), lock_form::herd, many);
    CHECK(herd.saturated);
    CHECK(herd.load == 1);
    double busy = busy_us(some_costs(), work_of(lock_form::herd, 10'000, 100'000), 1);
    CHECK(herd.turns_per_s == Approx(1e6 / busy));
    CHECK(herd.handover_us == Approx(busy - many.hold_us));
    CHECK_FALSE(predict(some_costs(), lock_form::corozk, many).saturated);
    CHECK_FALSE(predict(some_costs(), lock_form::textbook, many).saturated);
}

TEST_CASE("sizing: other locks and other clients make a hand-over longer, the own lock does not") {
    lock_demand d = some_demand(100);
    double alone = predict(some_costs(), lock_form::corozk, d).handover_us;
    d.other_load = 0.5;
    CHECK(predict(some_costs(), lock_form::corozk, d).handover_us == Approx(2 * alone));
    d.other_load = 0;
    d.locks = 100;
    double beside = predict(some_costs(), lock_form::corozk, d).handover_us;
    CHECK(beside > alone);
    CHECK(predict(some_costs(), lock_form::corozk, d).turns_per_s ==
          Approx(100e6 / 100'230).epsilon(0.01));
}

TEST_CASE("sizing: turns come as often as they are held and handed over, under any load") {
    auto [hold_us, other_load, locks] =
        GENERATE(table<double, double, double>({{0, 0.3, 1},
                                                {0, 0.3, 20},
                                                {1'000, 0, 3},
                                                {1'000, 0.9, 3},
                                                {100'000, 0.5, 100},
                                                {100'000, 0, 1e5}}));
    for (lock_form form : forms) {
        INFO(name_of(form) << ", " << hold_us << ", " << other_load << ", " << locks);
        lock_demand d = some_demand(10);
        d.hold_us = hold_us;
        d.other_load = other_load;
        d.locks = locks;
        lock_prediction p = predict(some_costs(), form, d);
        CHECK(p.turns_per_s * (hold_us + p.handover_us) == Approx(locks * 1e6));
        CHECK(p.load > other_load);
        CHECK(p.load <= 1);
        double busy = busy_us(some_costs(), work_of(form, 10, hold_us), 1);
        CHECK(p.load == Approx(other_load + p.turns_per_s * busy / 1e6));
    }
}

TEST_CASE("sizing: where others take all of the servers, nobody gets a lock") {
    double hold_us = GENERATE(0, 100'000);
    for (lock_form form : forms) {
        INFO(name_of(form));
        lock_demand d = some_demand(100);
        d.hold_us = hold_us;
        d.other_load = 1;
        lock_prediction p = predict(some_costs(), form, d);
        CHECK(p.turns_per_s == 0);
        CHECK(p.saturated);
        CHECK(std::isinf(p.handover_us));
        CHECK(waiters_at_load(some_costs(), form, d, 0.7) == 0.0);
        d.other_load = 0.7;
        CHECK(waiters_at_load(some_costs(), form, d, 0.7) == 0.0);
        CHECK(std::isfinite(predict(some_costs(), form, d).handover_us));
    }
}

TEST_CASE("sizing: with more waiters nothing becomes less") {
    for (lock_form form : forms) {
        lock_prediction before;
        for (double waiters : {1.0, 10.0, 100.0, 1'000.0, 10'000.0}) {
            lock_prediction p = predict(some_costs(), form, some_demand(waiters));
            INFO(name_of(form) << ", " << waiters);
            CHECK(p.load >= before.load);
            CHECK(p.handover_us >= before.handover_us);
            before = p;
        }
    }
}

TEST_CASE("sizing: the number of waiters at which a recipe loads the servers") {
    for (lock_form form : forms) {
        INFO(name_of(form));
        auto limit = waiters_at_load(some_costs(), form, some_demand(1), 0.7);
        REQUIRE(limit);
        CHECK(predict(some_costs(), form, some_demand(*limit)).load >= 0.7);
        CHECK(predict(some_costs(), form, some_demand(*limit - 2)).load < 0.7);
    }
    // Fewer where others load them, too.
    lock_demand alone = some_demand(1);
    lock_demand beside = alone;
    beside.other_load = 0.3;
    CHECK(*waiters_at_load(some_costs(), lock_form::herd, beside, 0.7) <
          *waiters_at_load(some_costs(), lock_form::herd, alone, 0.7));
}

}  // namespace corozk::testing::sizing_test
