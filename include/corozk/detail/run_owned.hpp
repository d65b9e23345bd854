// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <corozk/error.hpp>
#include <corozk/recipe/ownership.hpp>
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

/// The body, with its end turned into a value: the race against the loss must not throw.
template <class Value, class Body>
boost::asio::awaitable<std::exception_ptr> run_body(Body& body,
                                                    ownership& held,
                                                    std::optional<Value>& result) {
    try {
        if constexpr (std::is_same_v<Value, std::monostate>) {
            co_await body(held);
            result.emplace();
        } else {
            result.emplace(co_await body(held));
        }
    } catch (...) {
        co_return std::current_exception();
    }
    co_return nullptr;
}

/// Acquires, runs the body until it ends or the ownership is lost, and releases.
template <class Body,
          class Value = typename awaitable_value<std::invoke_result_t<Body&, ownership&>>::type>
boost::asio::awaitable<Value> run_owned(boost::asio::awaitable<ownership> acquisition,
                                        Body body,
                                        const char* operation,
                                        std::string path) {
    using namespace boost::asio::experimental::awaitable_operators;
    using stored =
        std::conditional_t<std::is_void_v<Value>, std::monostate, std::remove_cv_t<Value>>;
    ownership held = co_await std::move(acquisition);
    std::optional<stored> result;
    auto tuple = boost::asio::as_tuple(boost::asio::use_awaitable);
    // Whoever ends first cancels the other; a cancelled body has ended when the race is over.
    auto race = co_await (run_body<stored>(body, held, result) || held.lost(tuple));
    if (race.index() == 1) {
        auto [ec, reason] = std::get<1>(race);
        if (!ec) throw error(reason, operation, path);
        // Cancelled from outside: the destructor of `held` gives it back.
        throw error(ec, operation, path);
    }
    if (std::exception_ptr failure = std::get<0>(race)) std::rethrow_exception(failure);
    auto [ec] = co_await held.release(tuple);
    if (ec) throw error(ec, operation, path);
    if constexpr (!std::is_void_v<Value>) co_return std::move(*result);
}

}  // namespace corozk::detail
