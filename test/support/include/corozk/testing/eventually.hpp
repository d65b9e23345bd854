// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/error.hpp"
#include "corozk/testing/turn_clock.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/assert/source_location.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

/**
 * @file
 * Waiting for a state that can only be asked for, such as the server's number of watches.
 *
 * Not a way to sleep: the predicate names the state that is waited for. A predicate that throws a
 * std::exception counts as "not yet" (the server may be starting); the last one is quoted when
 * the limit passes.
 */

namespace corozk::testing {

inline constexpr std::chrono::milliseconds eventually_limit{10'000};

namespace detail {

/** One wait: when to ask again, and what to say in the end. */
class patience {
public:
    patience(std::chrono::milliseconds limit, boost::source_location where)
        : deadline_{std::chrono::steady_clock::now() + limit}, limit_{limit}, where_{where} {}

    template <class Predicate>
    bool ask(Predicate& predicate) {
        try {
            last_error_.clear();
            return static_cast<bool>(std::invoke(predicate));
        } catch (const std::exception& error) {
            last_error_ = error.what();
            return false;
        }
    }

    /** The time until the next question; throws timeout_error when the limit has passed. */
    std::chrono::milliseconds next(std::string_view what) {
        if (std::chrono::steady_clock::now() >= deadline_) {
            std::string text = "did not happen within " + std::to_string(limit_.count()) + " ms";
            text += what.empty() ? std::string{} : ": " + std::string{what};
            text += std::string{" (waited for at "} + where_.file_name() + ':' +
                    std::to_string(where_.line()) + ')';
            text += last_error_.empty() ? std::string{} : "; the last error was: " + last_error_;
            throw timeout_error{text};
        }
        return std::exchange(interval_, std::min(interval_ * 2, longest_interval));
    }

private:
    static constexpr std::chrono::milliseconds longest_interval{20};

    std::chrono::steady_clock::time_point deadline_;
    std::chrono::milliseconds limit_;
    std::chrono::milliseconds interval_{1};
    boost::source_location where_;
    std::string last_error_;
};

}  // namespace detail

/**
 * @brief Blocks until the predicate holds.
 *
 * The predicate is asked at once and then every 1 to 20 ms.
 * @throws timeout_error (with `what` and the caller's place) when the limit passes first.
 */
template <class Predicate>
void eventually(Predicate predicate,
                std::chrono::milliseconds limit = eventually_limit,
                std::string_view what = {},
                boost::source_location where = BOOST_CURRENT_LOCATION) {
    const aside not_the_loops;
    detail::patience wait{limit, where};
    while (!wait.ask(predicate)) {
        std::this_thread::sleep_for(wait.next(what));
    }
}

/**
 * @brief As eventually(), but lets the other coroutines of the executor run between the questions.
 *
 * The predicate itself runs on the executor: one that talks to the server blocks it meanwhile.
 * `what` must stay alive until the wait has ended (a literal does). Write the predicate as a lambda
 * that captures by reference, or as a named object that is moved in: g++ 12.2 destroys a temporary
 * lambda that holds non-trivial copies twice.
 */
template <class Predicate>
boost::asio::awaitable<void> eventually_async(
    Predicate predicate,
    std::chrono::milliseconds limit = eventually_limit,
    std::string_view what = {},
    boost::source_location where = BOOST_CURRENT_LOCATION) {
    detail::patience wait{limit, where};
    boost::asio::steady_timer timer{co_await boost::asio::this_coro::executor};
    while (!wait.ask(predicate)) {
        timer.expires_after(wait.next(what));
        co_await timer.async_wait(boost::asio::use_awaitable);
    }
}

}  // namespace corozk::testing
