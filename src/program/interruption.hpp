// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "awaiting.hpp"
#include "process_state.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/system/error_code.hpp>

#include <deque>
#include <exception>
#include <optional>
#include <sys/signalfd.h>
#include <sys/types.h>
#include <type_traits>
#include <utility>
#include <variant>

namespace corozk::program {

/// Thrown when a signal asks the program to end.
struct interrupted {
    int signal = 0;
};

/// The result or the exception of an operation, as a value: operator|| waits on after an exception.
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
asio::awaitable<void> run_to_end(asio::awaitable<Value> operation, ending<Value>& result) {
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

/// Whether it has a result. An error that says that it was cancelled is none.
template <class Value>
bool has_result(const ending<Value>& ended) {
    if constexpr (std::is_same_v<Value, boost::system::error_code>)
        return ended.value && *ended.value != asio::error::operation_aborted;
    return ended.value.has_value();
}

/// Awaits an operation until this time. @return nothing if it takes longer
template <class Value>
asio::awaitable<std::optional<typename ending<Value>::stored>> before(
    time_point until, asio::awaitable<Value> operation) {
    using namespace asio::experimental::awaitable_operators;
    ending<Value> result;
    auto first = co_await (run_to_end(std::move(operation), result) || pause_until(until));
    if (first.index() == 1 && !has_result(result))
        co_return std::nullopt;
    if (result.failure)
        std::rethrow_exception(result.failure);
    co_return std::move(result.value);
}

/// A signal that was received.
struct signal_request {
    int number = 0;              ///< 0: none
    bool from_terminal = false;  ///< sent to our whole process group

    /// Whether it asks to end although it was forwarded to a command. The meaning of the others is up to
    /// the command: SIGHUP may be a request to read its configuration again.
    bool ends_command() const noexcept {
        return number == SIGINT || number == SIGTERM || number == SIGQUIT;
    }
};

/// The signals of this process, read from descriptors: they interrupt only what waits for them.
class interruption {
public:
    interruption(const asio::any_io_executor& executor, const signal_sets& sets);

    /// Waits for the next request. Number 0 if the wait was cancelled.
    asio::awaitable<signal_request> next();

    /// Awaits an operation; a request cancels it, and this throws. A result that was obtained at the
    /// same time is not lost. After a request to end (even one that was forwarded to a command),
    /// nothing is awaited any more. @throws interrupted
    template <class Value>
    asio::awaitable<Value> race(asio::awaitable<Value> operation) {
        using namespace asio::experimental::awaitable_operators;
        throw_if_asked_to_end();
        ending<Value> result;
        auto first = co_await (run_to_end(std::move(operation), result) || next());
        if (first.index() == 1 && !has_result(result))
            throw interrupted{std::get<1>(first).number};
        co_return result.take();
    }

    /// Awaits what is worth some more seconds: a request to end cancels it only after these.
    /// @throws interrupted
    template <class Value>
    asio::awaitable<Value> insist(asio::awaitable<Value> operation) {
        using namespace asio::experimental::awaitable_operators;
        ending<Value> result;
        auto first = co_await (run_to_end(std::move(operation), result) || patience());
        if (first.index() == 1 && !has_result(result))
            throw_if_asked_to_end();
        co_return result.take();
    }

    /// The signal that has asked this process to end, even if it was forwarded to a command; 0 if there
    /// is none.
    static int asked_to_end_by() noexcept { return asked_to_end_; }

    /// @throws interrupted
    void throw_if_asked_to_end() const {
        if (asked_to_end_ != 0)
            throw interrupted{asked_to_end_};
    }

    /// Call it before a command is started, which does not get what has come before.
    /// @throws interrupted
    void before_command();

    /// What has come so far may have come before the command: the terminal has not sent it there.
    void after_start();

    /// A signal was forwarded to a command.
    void was_forwarded(const signal_request& request) noexcept {
        if (!request.ends_command() && asked_to_end_ == request.number)
            asked_to_end_ = unseen_.empty() ? 0 : unseen_.front().number;
    }

    /// A command has ended by the SIGHUP that was forwarded to it, so that it asks to end.
    void command_hung_up() noexcept {
        if (asked_to_end_ == 0)
            asked_to_end_ = SIGHUP;
    }

    /// Whether this signal was received.
    bool got(int number) const noexcept { return ::sigismember(&got_, number) == 1; }

    /// Keeps the exit status of a process of which this one may become the parent.
    void watch(pid_t process) {
        watched_ = process;
        status_.reset();
    }
    std::optional<int> watched_status() const { return status_; }

    /// Ends the reading, so that the event loop can end.
    void close() noexcept;

private:
    asio::awaitable<void> read_requests();
    asio::awaitable<void> reap_children();
    asio::awaitable<void> patience();
    void take(const signalfd_siginfo& info);
    void take_waiting();

    asio::posix::stream_descriptor requests_;
    asio::posix::stream_descriptor children_;
    asio::steady_timer arrived_;
    std::deque<signal_request> unseen_;
    sigset_t got_;
    inline static int asked_to_end_ = 0;  // signals are the process's
    pid_t watched_ = -1;
    std::optional<int> status_;
};

}  // namespace corozk::program
