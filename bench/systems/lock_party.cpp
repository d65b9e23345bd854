// SPDX-License-Identifier: Apache-2.0
#include "systems/lock_party.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;

/// Rarely enough not to disturb.
constexpr auto party_interval = std::chrono::milliseconds(5);
constexpr auto least_patience = std::chrono::milliseconds(60'000);
/// After the servers know of everybody: what those do then who have queued. And etcd tells a new
/// watcher only every 100 ms of what happens, until it has caught up.
constexpr auto settling = std::chrono::milliseconds(150);

}  // namespace

asio::awaitable<void> lock_party::pause(std::chrono::milliseconds duration) {
    asio::steady_timer timer(executor_, duration);
    co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> lock_party::play(asio::awaitable<void> game) {
    std::exception_ptr problem;
    try {
        co_await std::move(game);
    } catch (...) {
        problem = std::current_exception();
    }
    co_await close();
    if (problem)
        std::rethrow_exception(problem);
}

asio::awaitable<void> lock_party::invite() {
    clients_.push_back(make_lock_client(executor_, wish_));
    co_await clients_.back()->connect();
}

void lock_party::begin(asio::awaitable<void> work) {
    ++working_;
    asio::co_spawn(executor_, std::move(work), [this](std::exception_ptr problem) {
        --working_;
        if (problem && !problem_)
            problem_ = std::move(problem);
    });
}

std::chrono::milliseconds lock_party::patience() const {
    return std::max(least_patience, 3 * wish_.timeout);
}

asio::awaitable<void> lock_party::until(std::function<bool()> holds,
                                        std::function<std::size_t()> moved) {
    auto since = clock::now();
    std::size_t seen = moved();
    while (!holds()) {
        co_await pause(party_interval);
        if (problem_)
            std::rethrow_exception(problem_);
        if (std::size_t now = moved(); now != seen) {
            seen = now;
            since = clock::now();
        } else if (clock::now() - since > patience()) {
            throw std::runtime_error("no further progress");
        }
    }
    if (problem_)
        std::rethrow_exception(problem_);
}

asio::awaitable<void> lock_party::until_queued(std::size_t count) {
    auto since = clock::now();
    while (co_await clients_.front()->contenders() != count) {
        co_await pause(party_interval);
        if (problem_)
            std::rethrow_exception(problem_);
        if (clock::now() - since > patience())
            throw std::runtime_error(fmt::format("not all {} could queue", count));
    }
    co_await pause(settling);
}

clock::time_point lock_party::granted(std::int64_t number) {
    ++grants_;
    return owners_.granted(false, number > 0 ? number : grants_);
}

asio::awaitable<void> lock_party::close() {
    for (auto& client : clients_)
        client->close();
    while (working_ > 0)
        co_await pause(party_interval);
}

}  // namespace corozk::bench
