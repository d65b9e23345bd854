// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <csignal>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace corozk::program {

/// Thrown when the user (or whoever) tells the program to end.
struct interrupted {
    int signal = 0;
};

/// How something ended, as a value: what is raced must not throw, or the race would go on.
template <class Value>
struct ending {
    using stored = std::conditional_t<std::is_void_v<Value>, std::monostate, Value>;
    std::optional<stored> value;
    std::exception_ptr failure;

    Value take() {
        if (failure)
            std::rethrow_exception(failure);
        if constexpr (!std::is_void_v<Value>)
            return std::move(*value);
    }
};

template <class Value>
boost::asio::awaitable<void> run_to_end(boost::asio::awaitable<Value> operation,
                                        ending<Value>& result) {
    try {
        if constexpr (std::is_void_v<Value>) {
            co_await std::move(operation);
            result.value.emplace();
        } else {
            result.value.emplace(co_await std::move(operation));
        }
    } catch (...) {
        result.failure = std::current_exception();
    }
}

/// The signals that ask the program to end.
class interruption {
public:
    explicit interruption(const boost::asio::any_io_executor& executor)
        : signals_(executor, SIGINT, SIGTERM, SIGHUP) {
        signals_.add(SIGQUIT);
    }

    /// Waits for the next one. 0 if the wait was cancelled.
    boost::asio::awaitable<int> next() {
        if (pending_ != 0)
            co_return std::exchange(pending_, 0);
        auto [ec, number] =
            co_await signals_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
        co_return ec ? 0 : number;
    }

    /// Awaits something, unless a signal comes first: then it is cancelled, and this throws. What
    /// was obtained in the same instant is not lost: then the next wait hears of the signal.
    template <class Value>
    boost::asio::awaitable<Value> race(boost::asio::awaitable<Value> operation) {
        using namespace boost::asio::experimental::awaitable_operators;
        ending<Value> result;
        auto first = co_await (run_to_end<Value>(std::move(operation), result) || next());
        if (first.index() == 1) {
            int number = std::get<1>(first);
            if (!result.value)
                throw interrupted{number};
            pending_ = number;
        }
        co_return result.take();
    }

private:
    boost::asio::signal_set signals_;
    int pending_ = 0;
};

}  // namespace corozk::program
