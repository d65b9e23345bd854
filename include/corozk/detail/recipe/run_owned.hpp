// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/error.hpp>
#include <corozk/ownership.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace corozk::detail {

template <class Awaitable>
struct awaitable_value;
template <class Value, class Executor>
struct awaitable_value<boost::asio::awaitable<Value, Executor>> {
    using type = Value;
};

/// One side of a race of awaitables. By default only terminal cancellation reaches a side, and a
/// race that once received another type passes nothing on any more: not even that one side has
/// ended.
template <class Value>
boost::asio::awaitable<Value> open_to_cancellation(boost::asio::awaitable<Value> side) {
    co_await boost::asio::this_coro::reset_cancellation_state(
        boost::asio::enable_total_cancellation());
    co_return co_await std::move(side);
}

/// Room for what a body returns.
template <class Value>
using body_result = std::optional<
    std::conditional_t<std::is_void_v<Value>, std::monostate, std::remove_cv_t<Value>>>;

template <class Value>
Value take_result(body_result<Value>& result) {
    if constexpr (!std::is_void_v<Value>)
        return std::move(*result);
}

/// Runs the body and stores its result or exception, as the race against the loss must not throw.
template <class Value, class Body, class Owned>
boost::asio::awaitable<void> run_body(Body& body,
                                      Owned& held,
                                      std::optional<Value>& result,
                                      std::exception_ptr& failure) {
    try {
        if constexpr (std::is_same_v<Value, std::monostate>) {
            co_await body(held);
            result.emplace();
        } else {
            result.emplace(co_await body(held));
        }
    } catch (...) {
        failure = std::current_exception();
    }
}

/// Waits until the ownership is lost, not until the body gives it up. @return why
template <class Owned>
boost::asio::awaitable<error_code> wait_until_lost(Owned& held) {
    auto tuple = boost::asio::as_tuple(boost::asio::use_awaitable);
    auto end = co_await held.wait_lost(tuple);  // the error, the reason, and what else there is
    if (!std::get<0>(end))
        co_return std::get<1>(end);
    // Only the end of the body cancels this.
    boost::asio::steady_timer never(co_await boost::asio::this_coro::executor,
                                    boost::asio::steady_timer::time_point::max());
    co_await never.async_wait(tuple);
    co_return error_code();
}

/// Runs the body until it ends or the ownership is lost. Throws the body's exception, and
/// `boost::asio::error::operation_aborted` if it was cancelled.
/// @return why it was lost, if that came first.
template <class Value, class Body, class Owned>
boost::asio::awaitable<error_code> run_until_lost(Body& body,
                                                  Owned& held,
                                                  std::optional<Value>& result,
                                                  const call_site& where) {
    using namespace boost::asio::experimental::awaitable_operators;
    std::exception_ptr failure;
    // The first to end cancels the other; both have ended when the race is over.
    auto race = co_await (open_to_cancellation(run_body(body, held, result, failure)) ||
                          open_to_cancellation(wait_until_lost(held)));
    boost::asio::cancellation_state state = co_await boost::asio::this_coro::cancellation_state;
    const bool cancelled = state.cancelled() != boost::asio::cancellation_type::none;
    if (race.index() == 1 && !cancelled)
        co_return std::get<1>(race);
    // On exceptions, the destructor of `held` releases it.
    if (failure)
        std::rethrow_exception(failure);
    if (cancelled)
        throw error(boost::asio::error::operation_aborted, where.operation, where.path);
    co_return error_code();
}

/// Acquires, runs the body until it ends or the ownership is lost, and releases.
template <class Owned,
          class Body,
          class Value = typename awaitable_value<std::invoke_result_t<Body&, Owned&>>::type>
boost::asio::awaitable<Value> run_owned(boost::asio::awaitable<Owned> acquisition,
                                        Body body,
                                        const char* operation,
                                        std::string path) {
    Owned held = co_await std::move(acquisition);
    body_result<Value> result;
    const call_site where(operation, std::move(path));
    if (error_code reason = co_await run_until_lost(body, held, result, where))
        throw error(reason, where.operation, where.path);
    // The body may have released it, or moved it elsewhere.
    if (held) {
        auto [ec] = co_await held.release(boost::asio::as_tuple(boost::asio::use_awaitable));
        if (ec)
            throw error(ec, where.operation, where.path);
    }
    co_return take_result<Value>(result);
}

}  // namespace corozk::detail
