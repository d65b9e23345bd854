// SPDX-License-Identifier: Apache-2.0
// When nothing is sent although something is asked for.
#include "engine/stopped_clock.hpp"
#include <corozk/client.hpp>
#include <corozk/testing/fault_proxy.hpp>
#include <corozk/testing/server.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace corozk::testing::pauses_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;

namespace {

/// A client whose clock stands still, at a server that throttles if told so.
class throttled_client {
public:
    throttled_client()
        : proxy_(shared_server().port()), zk_(context_.get_executor(), options(proxy_)) {
        proxy_.edit(direction::to_client, [this](const frame_info& frame, std::string bytes) {
            if (frame.kind != frame_kind::reply || frame.op != op_code::exists || !throttles)
                return bytes;
            ++throttled;
            bytes.resize(20);  // the length and the header
            bytes.replace(0, 4, {0, 0, 0, 16});
            return bytes.replace(16, 4, "\xff\xff\xff\x81");
        });
        bool connected = false;
        zk_.connect([&](error_code ec) {
            CHECK_FALSE(ec);
            connected = true;
        });
        run_until([&] { return connected; });
    }

    ~throttled_client() {
        bool closed = false;
        zk_.close([&](error_code) { closed = true; });
        run_until([&] { return closed; });
    }

    /// Only while nothing is sent.
    std::atomic<bool> throttles = false;
    std::atomic<int> throttled = 0;

    void ask() {
        zk_.exists("/",
                   [this](error_code ec, const std::optional<stat>&) { answers.push_back(ec); });
    }
    std::vector<error_code> answers;

    void wait_for_answers(std::size_t count) {
        run_until([&] { return answers.size() == count; });
    }

    /// Runs everything that does not wait for a response, when so much time has passed.
    void pass(std::chrono::milliseconds time) {
        clock_.turn(time);
        // The kernel's timer goes by its own clock. One that is overdue makes Asio look at all of them.
        bool looked = false;
        boost::asio::steady_timer now(context_, boost::asio::steady_timer::time_point::min());
        now.async_wait([&](error_code) { looked = true; });
        run_until([&] { return looked; });
        context_.restart();
        while (context_.poll() > 0) {
        }
    }

    std::uint64_t sent() { return zk_.counters().requests; }
    std::uint64_t waiting() { return zk_.counters().queued; }

private:
    static client_options options(const fault_proxy& proxy) {
        client_options result(proxy.hosts());
        result.session_timeout = server_options().max_session_timeout;  // no pings
        result.logger.level = log_level::off;
        return result;
    }

    void run_until(const std::function<bool()>& reached) {
        const auto limit = stopped_clock::real() + 20s;
        context_.restart();
        while (!reached()) {
            context_.run_one();
            if (stopped_clock::real() > limit)
                throw std::runtime_error("this does not come to an end");
        }
    }

    stopped_clock clock_;
    boost::asio::io_context context_;
    fault_proxy proxy_;
    client zk_;
};

}  // namespace

TEST_CASE("a server that throttles a request is sent nothing for 100 ms") {
    throttled_client c;
    c.throttles = true;
    c.ask();
    c.wait_for_answers(1);
    CHECK(c.answers[0] == zk_errc::throttled);
    const std::uint64_t before = c.sent();
    for (int i = 0; i < 3; ++i)
        c.ask();
    c.pass(0ms);
    CHECK(c.sent() == before);
    c.pass(99ms);
    CHECK(c.sent() == before);
    CHECK(c.waiting() == 3);
    c.pass(1ms);
    REQUIRE(c.sent() == before + 3);
    CHECK(c.waiting() == 0);
    c.wait_for_answers(4);
    // As often as it says so.
    CHECK(c.throttled.load() == 4);
    c.throttles = false;
    c.ask();
    c.pass(99ms);
    CHECK(c.waiting() == 1);
    c.pass(1ms);
    c.wait_for_answers(5);
    CHECK_FALSE(c.answers[4]);
    // And no longer.
    c.ask();
    c.pass(0ms);
    CHECK(c.waiting() == 0);
    c.wait_for_answers(6);
    CHECK_FALSE(c.answers[5]);
}

}  // namespace corozk::testing::pauses_test
