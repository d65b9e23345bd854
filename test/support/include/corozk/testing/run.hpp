// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/error.hpp"
#include "corozk/testing/eventually.hpp"
#include "corozk/testing/turn_clock.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace corozk::testing {

inline constexpr std::chrono::milliseconds run_limit{30'000};

/**
 * @brief Thrown by run() when the context ran out of work although the coroutine has not ended:
 * the handler that should have resumed it was destroyed without being called.
 */
class stuck_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/**
 * @brief Runs one handler, timed by the clock.
 * @return false if there was none before the deadline
 */
inline bool run_one(boost::asio::io_context& context,
                    turn_clock& clock,
                    std::chrono::steady_clock::time_point deadline) {
    clock.begin();
    bool ran = context.poll_one() > 0;
    clock.end(true);
    if (!ran) {
        clock.begin();
        ran = context.run_one_until(deadline) > 0;
        clock.end(false);
    }
    if (ran) {
        clock.turned();
    }
    return ran;
}

namespace detail {

template <class T>
struct run_result {
    bool done = false;
    std::exception_ptr error;
    std::optional<T> value;
    boost::asio::cancellation_signal cancel;
};

template <>
struct run_result<void> {
    bool done = false;
    std::exception_ptr error;
    boost::asio::cancellation_signal cancel;
};

/** Runs the context until `done` or the deadline. */
inline void run_until(boost::asio::io_context& context,
                      const bool& done,
                      std::chrono::steady_clock::time_point deadline) {
    context.restart();
    turn_clock* const clock = turn_clock::current();
    bool ran = true;
    while (!done && ran) {
        ran = clock != nullptr ? run_one(context, *clock, deadline)
                               : context.run_one_until(deadline) > 0;
    }
}

template <class T>
T finish(boost::asio::io_context& context,
         const std::shared_ptr<run_result<T>>& result,
         std::chrono::milliseconds limit) {
    run_until(context, result->done, std::chrono::steady_clock::now() + limit);
    if (!result->done) {
        if (context.stopped()) {
            throw stuck_error{"the io_context ran out of work before the coroutine ended"};
        }
        // Let the coroutine unwind while what it refers to is still there.
        result->cancel.emit(boost::asio::cancellation_type::terminal);
        run_until(
            context, result->done, std::chrono::steady_clock::now() + std::chrono::seconds{1});
        throw timeout_error{"the coroutine did not end within " + std::to_string(limit.count()) +
                            " ms"};
    }
    if (result->error) {
        std::rethrow_exception(result->error);
    }
    if constexpr (!std::is_void_v<T>) {
        return *std::move(result->value);
    }
}

}  // namespace detail

/**
 * @brief Runs the context until the coroutine has ended, and returns its result.
 *
 * Rethrows the coroutine's exception; an exception that leaves another handler of the context
 * comes out as well. Other work may be left in the context: see run_to_idle().
 *
 * @throws timeout_error when the limit passes first. The coroutine has then been cancelled
 * (terminally) and given a second to end.
 * @throws stuck_error when the context runs out of work first.
 */
template <class T>
T run(boost::asio::io_context& context,
      boost::asio::awaitable<T> work,
      std::chrono::milliseconds limit = run_limit) {
    auto result = std::make_shared<detail::run_result<T>>();
    if constexpr (std::is_void_v<T>) {
        boost::asio::co_spawn(context,
                              std::move(work),
                              boost::asio::bind_cancellation_slot(
                                  result->cancel.slot(), [result](std::exception_ptr error) {
                                      result->error = std::move(error);
                                      result->done = true;
                                  }));
    } else {
        boost::asio::co_spawn(
            context,
            std::move(work),
            boost::asio::bind_cancellation_slot(result->cancel.slot(),
                                                [result](std::exception_ptr error, T value) {
                                                    result->error = std::move(error);
                                                    if (!result->error) {
                                                        result->value.emplace(std::move(value));
                                                    }
                                                    result->done = true;
                                                }));
    }
    return detail::finish(context, result, limit);
}

/**
 * @brief As above for a function that returns an awaitable, typically a lambda.
 *
 * The function is kept until the call returns, so a lambda's captures are safe to use.
 */
template <class Function>
    requires std::is_invocable_v<Function&>
auto run(boost::asio::io_context& context,
         Function function,
         std::chrono::milliseconds limit = run_limit) {
    return run(context, function(), limit);
}

/**
 * @brief Runs the context until it is out of work.
 * @throws timeout_error if work is left after the limit: something was not cancelled or closed.
 */
inline void run_to_idle(boost::asio::io_context& context,
                        std::chrono::milliseconds limit = std::chrono::seconds{5}) {
    const bool never = false;
    detail::run_until(context, never, std::chrono::steady_clock::now() + limit);
    if (!context.stopped()) {
        throw timeout_error{"the io_context has leftover work after " +
                            std::to_string(limit.count()) + " ms"};
    }
}

}  // namespace corozk::testing
