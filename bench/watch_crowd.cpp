// SPDX-License-Identifier: Apache-2.0
#include "watch_crowd.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <memory>

namespace corozk::bench {

namespace {

constexpr std::size_t at_a_time = 500;

}  // namespace

std::string watch_crowd::path(std::size_t number) const {
    return fmt::format("{}/{:06}", folder_, number);
}

template <class Start>
boost::asio::awaitable<void> watch_crowd::for_all(Start start) {
    struct tally {
        std::size_t answered = 0;
        error_code problem;
    };
    auto counted = std::make_shared<tally>();
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
    std::size_t started = 0;
    while (counted->answered < size()) {
        while (started < size() && started - counted->answered < at_a_time) {
            start(started++, [counted](error_code ec) {
                ++counted->answered;
                if (ec)
                    counted->problem = ec;
            });
        }
        timer.expires_after(std::chrono::milliseconds(1));
        co_await timer.async_wait(boost::asio::use_awaitable);
    }
    if (counted->problem)
        throw error(counted->problem, "watches", folder_);
}

boost::asio::awaitable<void> watch_crowd::create_nodes() {
    co_await client_.ensure_path(folder_);
    auto create = [this](std::size_t i, auto done) {
        client_.create(
            path(i), std::string(), create_options(), [done](error_code ec, created_node) {
                done(ec);
            });
    };
    co_await for_all(create);
}

boost::asio::awaitable<void> watch_crowd::set() {
    auto watch_one = [this](std::size_t i, auto done) {
        client_.watch_data(path(i), [this, i, done](error_code ec, watched_data found) {
            if (!ec) {
                watches_[i] = std::move(found.changed);
                watches_[i].next([this](error_code, watch_event) { ++woken_; });
            }
            done(ec);
        });
    };
    co_await for_all(watch_one);
}

boost::asio::awaitable<void> watch_crowd::touch(client& other) {
    auto touch_one = [this, &other](std::size_t i, auto done) {
        other.set(path(i), "x", any_version, [done](error_code ec, stat) { done(ec); });
    };
    co_await for_all(touch_one);
}

}  // namespace corozk::bench
