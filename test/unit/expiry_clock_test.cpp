// SPDX-License-Identifier: Apache-2.0
#include "session/expiry_clock.hpp"

#include <corozk/time_limit.hpp>

#include <catch2/catch.hpp>

namespace corozk::testing::expiry_clock_test {

using namespace corozk::detail;
using namespace std::chrono_literals;

TEST_CASE("time limit: the longest ends never, and does not overflow") {
    using std::chrono::milliseconds;
    const time_point now = steady_clock::now();
    auto end_of = [](corozk::time_limit limit, time_point begin) { return limit.from(begin); };
    CHECK(end_of(0ms, now) == now);
    CHECK(end_of(1000ms, now) == now + 1000ms);
    CHECK(end_of(milliseconds::max(), now) == time_point::max());
    CHECK(end_of(milliseconds::max(), time_point::max()) == time_point::max());
    CHECK(end_of(milliseconds::max() / 1'000'000, now) == time_point::max());
    CHECK(end_of(24h * 365 * 100, now) == now + 24h * 365 * 100);
    CHECK(end_of(std::chrono::nanoseconds::max(), now) == time_point::max());
    CHECK(end_of(std::chrono::hours::max(), now) == time_point::max());
    CHECK(end_of(3'000'000h, now) == time_point::max());
    CHECK(end_of(std::chrono::hours::min(), now) == now);
    CHECK(end_of(-1ms, now) == now);
    CHECK(end_of(std::chrono::duration<double>(0.5), now) == now + 500ms);
    CHECK(end_of(std::chrono::duration<double>(1e300), now) == time_point::max());
    CHECK(end_of(now + 5ms, now) == now + 5ms);
    CHECK(end_of(now + 5ms, now + 1h) == now + 5ms);
    CHECK(end_of(time_point::max(), now) == time_point::max());
}

TEST_CASE("expiry clock: counts from when the answered request was sent") {
    const time_point start = steady_clock::now();
    expiry_clock clock;
    clock.start(start, 1000ms);
    CHECK(clock.deadline() == start + 1000ms);
    CHECK_FALSE(clock.expired(start));
    CHECK_FALSE(clock.expired(start + 999ms));
    CHECK(clock.expired(start + 1000ms));

    // The answer may have taken as long as it likes.
    clock.answered(start + 300ms, start);
    CHECK(clock.deadline() == start + 1300ms);
    CHECK_FALSE(clock.expired(start + 1299ms));
    CHECK(clock.expired(start + 1300ms));
}

TEST_CASE("expiry clock: never goes back within a session") {
    const time_point start = steady_clock::now();
    expiry_clock clock;
    clock.start(start, 1000ms);
    clock.answered(start + 500ms, start);
    clock.answered(start + 200ms, start);
    CHECK(clock.deadline() == start + 1500ms);
    clock.answered(start - 1h, start);
    CHECK(clock.deadline() == start + 1500ms);
}

TEST_CASE("expiry clock: an expired session does not come back") {
    const time_point start = steady_clock::now();
    expiry_clock clock;
    clock.start(start, 1000ms);
    clock.answered(start + 300ms, start + 1000ms);
    CHECK(clock.deadline() == start + 1000ms);
    clock.answered(start + 300ms, start + 999ms);
    CHECK(clock.deadline() == start + 1300ms);
}

TEST_CASE("expiry clock: answers of a server without a quorum do not count") {
    const time_point start = steady_clock::now();
    expiry_clock clock;
    clock.start(start, 1000ms);
    clock.hold();
    clock.answered(start + 500ms, start);
    CHECK(clock.deadline() == start + 1000ms);
    clock.start(start + 600ms, 1000ms);
    clock.answered(start + 700ms, start);
    CHECK(clock.deadline() == start + 1700ms);
}

TEST_CASE("expiry clock: a reconnect starts it anew, with what the server granted then") {
    const time_point start = steady_clock::now();
    expiry_clock clock;
    clock.start(start, 1000ms);
    clock.answered(start + 900ms, start);
    clock.start(start + 800ms, 400ms);
    CHECK(clock.deadline() == start + 1200ms);
}

TEST_CASE(
    "expiry clock: a server that may have lost its leader is left with time for another one") {
    const time_point start = steady_clock::now();
    expiry_clock clock;
    clock.start(start, 12s);
    CHECK(clock.patience_end(time_point::max()) == time_point::max());
    // A heartbeat, after three tenths of the timeout.
    CHECK(clock.patience_end(start + 3600ms) == start + 8s);
    // The process was stopped: it has sent the heartbeat when the time was nearly over.
    CHECK(clock.patience_end(start + 9s) == start + 11s);
    // Of several large requests, the response before came after half of the time.
    CHECK(clock.patience_end(start + 5s) == start + 9s);
    CHECK(clock.patience_end(start + 7s) == start + 10s);
    clock.answered(start + 3s, start);
    CHECK(clock.patience_end(start + 3600ms) == start + 11s);
}

}  // namespace corozk::testing::expiry_clock_test
