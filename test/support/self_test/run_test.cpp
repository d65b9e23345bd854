// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/run.hpp"

#include <boost/asio/post.hpp>

#include <catch2/catch.hpp>

#include <memory>
#include <stdexcept>
#include <string>

namespace corozk::testing::run_test {

namespace asio = boost::asio;
using namespace corozk::testing;
using namespace std::chrono_literals;

namespace {

asio::awaitable<void> wait_for(std::chrono::milliseconds duration) {
    asio::steady_timer timer{co_await asio::this_coro::executor, duration};
    co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<std::string> answer() {
    co_await wait_for(1ms);
    co_return "42";
}

asio::awaitable<void> fail() {
    co_await wait_for(1ms);
    throw std::runtime_error{"as planned"};
}

/** Suspends and is never resumed. */
asio::awaitable<void> hang() {
    co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(
        [](auto handler) {
            static_cast<void>(std::make_shared<decltype(handler)>(std::move(handler)));
        },
        asio::use_awaitable);
}

}  // namespace

TEST_CASE("run returns a coroutine's result, again and again") {
    asio::io_context context;
    run(context, wait_for(1ms));
    CHECK(run(context, answer()) == "42");
    CHECK(run(context, answer) == "42");
    const std::string word = "word";
    CHECK(run(context, [&]() -> asio::awaitable<std::string> {
              co_await wait_for(1ms);
              co_return word;
          }) == "word");
    run_to_idle(context);
}

TEST_CASE("run rethrows what a coroutine or a handler throws") {
    asio::io_context context;
    CHECK_THROWS_WITH(run(context, fail()), "as planned");
    asio::post(context, [] { throw std::logic_error{"from a handler"}; });
    CHECK_THROWS_WITH(run(context, answer()), "from a handler");
}

TEST_CASE("run cancels a coroutine that takes too long") {
    asio::io_context context;
    bool unwound = false;
    const auto work = [&]() -> asio::awaitable<void> {
        const std::shared_ptr<void> mark{nullptr, [&](void*) { unwound = true; }};
        co_await wait_for(1h);
    };
    CHECK_THROWS_AS(run(context, work, 20ms), timeout_error);
    CHECK(unwound);
    run_to_idle(context);
}

TEST_CASE("run notices that nothing can wake the coroutine any more") {
    asio::io_context context;
    CHECK_THROWS_AS(run(context, hang()), std::exception);
}

TEST_CASE("run_to_idle fails on leftover work") {
    asio::io_context context;
    asio::steady_timer timer{context, 1h};
    timer.async_wait([](const boost::system::error_code&) {});
    CHECK_THROWS_AS(run_to_idle(context, 20ms), timeout_error);
    timer.cancel();
    run_to_idle(context);
}

TEST_CASE("eventually asks until the answer is yes") {
    int asked = 0;
    eventually([&] { return ++asked == 5; });
    CHECK(asked == 5);
    CHECK_THROWS_AS(eventually([] { return false; }, 20ms), timeout_error);
    CHECK_THROWS_WITH(eventually([] { return false; }, 5ms, "the moon is full"),
                      Catch::Contains("the moon is full") && Catch::Contains("run_test.cpp"));
    CHECK_THROWS_WITH(eventually([]() -> bool { throw std::runtime_error{"no server"}; }, 5ms),
                      Catch::Contains("no server"));
}

TEST_CASE("eventually_async lets others run") {
    asio::io_context context;
    int state = 0;
    asio::steady_timer timer{context, 20ms};
    timer.async_wait([&](const boost::system::error_code&) { state = 1; });
    const auto wait = [&]() -> asio::awaitable<void> {
        co_await eventually_async([&] { return state == 1; });
    };
    run(context, wait);
    CHECK(state == 1);
    const auto in_vain = [&]() -> asio::awaitable<void> {
        co_await eventually_async([&] { return state == 2; }, 20ms, "state two");
    };
    CHECK_THROWS_WITH(run(context, in_vain), Catch::Contains("state two"));
}

}  // namespace corozk::testing::run_test
