// SPDX-License-Identifier: Apache-2.0
#include "session/session_timers.hpp"

#include <boost/asio/io_context.hpp>

#include <catch2/catch.hpp>

#include <deque>
#include <vector>

namespace corozk::testing::session_timers_test {

using namespace corozk::detail;
using namespace std::chrono_literals;

namespace {

/// Waits as a session does, and records when it was called.
class fixture {
public:
    void wait(time_point due) {
        timers_.wait(due, [this] { calls_.push_back(steady_clock::now()); });
    }

    const std::vector<time_point>& run() {
        io_.run();
        return calls_;
    }

private:
    boost::asio::io_context io_;
    session_timers timers_{io_.get_executor()};
    std::vector<time_point> calls_;
};

}  // namespace

TEST_CASE("session timers: one that is moved back causes no call at its first time") {
    fixture f;
    const time_point start = steady_clock::now();
    f.wait(start + 1ms);
    f.wait(start + 20ms);
    REQUIRE(f.run().size() == 1);
    CHECK(f.run().front() >= start + 20ms);
}

TEST_CASE("session timers: moved back, then forward again") {
    fixture f;
    const time_point start = steady_clock::now();
    f.wait(start + 2ms);
    f.wait(start + 1h);
    f.wait(start + 1ms);
    REQUIRE(f.run().size() == 1);
    CHECK(f.run().front() >= start + 1ms);
}

TEST_CASE("session timers: nothing to wait for") {
    fixture f;
    f.wait(steady_clock::now() + 1h);
    f.wait(time_point::max());
    CHECK(f.run().empty());
}

TEST_CASE("session timers: many that are due at once are run in pieces") {
    struct noted_timer final : timer_node {
        std::vector<noted_timer*>* expired_ = nullptr;
        void expired() noexcept override { expired_->push_back(this); }
    };
    boost::asio::io_context io;
    session_timers timers(io.get_executor());
    const time_point now = steady_clock::now();
    std::vector<noted_timer*> done;
    std::deque<noted_timer> nodes(10'000);
    for (noted_timer& node : nodes) {
        node.expired_ = &done;
        timers.start(node, now);
    }
    done.reserve(nodes.size());
    timers.run(now);
    CHECK(!done.empty());
    CHECK(done.size() < nodes.size());
    while (timers.first() <= now)
        timers.run(now);
    REQUIRE(done.size() == nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i)
        REQUIRE(done[i] == &nodes[i]);
}

TEST_CASE("session timers: a check that is much later than usual") {
    boost::asio::io_context io;
    session_timers timers(io.get_executor());
    const time_point start = steady_clock::now();
    timers.check(start, 1s);
    CHECK_FALSE(timers.check(start + 2s, 1s));
    CHECK(timers.back_at() == start);
    CHECK(timers.check(start + 5s, 1s));
    CHECK(timers.back_at() == start + 5s);
    CHECK(timers.checked_at() == start + 5s);
}

}  // namespace corozk::testing::session_timers_test
