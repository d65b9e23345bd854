// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "process_state.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <sys/types.h>
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

/// A signal that somebody has sent.
struct signal_request {
    int number = 0;              ///< 0: none
    bool from_terminal = false;  ///< our whole process group has got it

    /// Whether it asks to end; the others may mean anything to a command.
    bool asks_to_end() const noexcept {
        return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
    }
};

/// The signals of this process, read from a descriptor: they find us where we wait, nowhere else.
class interruption {
public:
    interruption(const boost::asio::any_io_executor& executor, const signal_sets& sets);

    /// Waits for the next request that nobody has seen. Number 0 if the wait was cancelled.
    boost::asio::awaitable<signal_request> next();

    /// Awaits something, unless a request comes first: then it is cancelled, and this throws. What
    /// was obtained in the same instant is not lost. Once we were asked to end (also while a
    /// command ran, which was told), nothing new is waited for.
    template <class Value>
    boost::asio::awaitable<Value> race(boost::asio::awaitable<Value> operation) {
        using namespace boost::asio::experimental::awaitable_operators;
        if (asked_to_end_ != 0)
            throw interrupted{asked_to_end_};
        ending<Value> result;
        auto first = co_await (run_to_end<Value>(std::move(operation), result) || next());
        if (first.index() == 1) {
            int number = std::get<1>(first).number;
            if (!result.value)
                throw interrupted{number};
            asked_to_end_ = number;
        }
        co_return result.take();
    }

    /// Whether this signal was a request to us.
    bool got(int number) const noexcept;

    /// How this child ended, of which we became the parent. Who is interested says so before.
    void watch(pid_t child);
    std::optional<int> status_of(pid_t child) const;

    /// Reads no more, so that the loop can end.
    void close() noexcept;

private:
    boost::asio::awaitable<void> read_requests();
    boost::asio::awaitable<void> reap_children();

    boost::asio::posix::stream_descriptor requests_;
    boost::asio::posix::stream_descriptor children_;
    boost::asio::steady_timer arrived_;
    std::deque<signal_request> unseen_;
    sigset_t got_;
    int asked_to_end_ = 0;
    std::map<pid_t, std::optional<int>> watched_;
};

}  // namespace corozk::program
