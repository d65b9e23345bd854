// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/run.hpp"

#include <boost/asio/post.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <cstring>
#include <sys/mman.h>
#include <thread>

namespace corozk::testing::turn_clock_test {

using namespace corozk::testing;
using namespace std::chrono_literals;

namespace {

void work(std::chrono::nanoseconds how_long) {
    const auto until = turn_clock::now() + how_long;
    while (turn_clock::now() < until) {
    }
}

}  // namespace

TEST_CASE("turn clock: the longest turn, without what is set aside") {
    boost::asio::io_context context;
    boost::asio::post(context, [] { work(1ms); });
    boost::asio::post(context, [] {
        work(5ms);
        const aside test;
        work(500ms);
        const aside more;
        work(1ms);
    });
    boost::asio::post(context, [] {
        const aside test;
        std::this_thread::sleep_for(500ms);
    });
    boost::asio::post(context, [] {
        const auto until = std::chrono::steady_clock::now() + 500ms;
        eventually([until] { return std::chrono::steady_clock::now() >= until; });
    });
    turn_clock clock;
    run_to_idle(context);
    CHECK(clock.longest() >= 5ms);
    CHECK(clock.longest() < 500ms);
    CHECK(turn_clock::current() == &clock);
}

TEST_CASE("turn clock: a turn that waits for something else than a handler") {
    boost::asio::io_context context;
    boost::asio::post(context, [] { std::this_thread::sleep_for(60ms); });
    turn_clock clock;
    run_to_idle(context);
    const turn_clock::turn longest = clock.take_longest();
    CHECK(longest.took >= 50ms);
    CHECK(longest.blocked >= 50ms);
}

TEST_CASE("turn clock: what the longest turn was made of") {
    boost::asio::io_context context;
    boost::asio::post(context, [] { work(1ms); });
    boost::asio::post(context, [] {
        work(5ms);
        constexpr std::size_t size = 64 << 20;
        void* const fresh =
            ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        REQUIRE(fresh != MAP_FAILED);
        std::memset(fresh, 1, size);
        ::munmap(fresh, size);
    });
    turn_clock clock;
    run_to_idle(context);
    const turn_clock::turn longest = clock.take_longest();
    CHECK(longest.took >= 5ms);
    CHECK(longest.in_kernel >= 0ms);
    CHECK(longest.page_faults > 0);
    CHECK(longest.preemptions >= 0);
    CHECK(clock.longest() == 0ms);
}

TEST_CASE("turn clock: one inside another") {
    turn_clock outer;
    {
        const turn_clock inner;
        CHECK(turn_clock::current() == &inner);
    }
    CHECK(turn_clock::current() == &outer);
}

}  // namespace corozk::testing::turn_clock_test
