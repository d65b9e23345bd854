// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/error.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace corozk::schedule {

using boost::asio::awaitable;

class stage;

/// Somebody who uses one of the clients, as a coroutine.
class actor {
public:
    actor(stage& s, int number, std::string name, int client_index)
        : stage_(s), number_(number), name_(std::move(name)), client_(client_index) {}
    actor(const actor&) = delete;
    actor& operator=(const actor&) = delete;

    stage& on() { return stage_; }
    client& zk();
    const std::string& name() const { return name_; }
    int number() const { return number_; }
    int client_index() const { return client_; }

    /// A completion token for an operation that may be cancelled: a tuple with the error first.
    auto token() {
        return boost::asio::bind_cancellation_slot(
            cancel_.slot(), boost::asio::as_tuple(boost::asio::use_awaitable));
    }

    /// The same for what must not be cancelled.
    static auto firm_token() { return boost::asio::as_tuple(boost::asio::use_awaitable); }

    /// Waits until the scheduler lets it go on.
    awaitable<void> gate(const char* where) {
        where_ = where;
        co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void()>(
            [this](auto handler) {
                auto shared = std::make_shared<decltype(handler)>(std::move(handler));
                go_on_ = [shared] { std::move (*shared)(); };
            },
            boost::asio::use_awaitable);
        where_ = "";
    }

    /// Whether an error may come of the faults of this schedule; if not, it is reported.
    bool may_see(const error_code& ec, const char* during);

    /// Was there a fault that ended the operation (it was cancelled)?
    bool cancelled() const { return cancelled_; }

    // For the scheduler.
    bool waits() const { return go_on_ != nullptr; }
    void go_on() { std::exchange(go_on_, nullptr)(); }
    bool cancellable() { return cancel_.slot().has_handler(); }
    void cancel() {
        cancelled_ = true;
        cancel_.emit(boost::asio::cancellation_type::terminal);
    }
    void dismiss() { go_on_ = nullptr; }
    const char* where() const { return where_; }

    bool done = false;

private:
    stage& stage_;
    int number_;
    std::string name_;
    int client_;
    boost::asio::cancellation_signal cancel_;
    std::function<void()> go_on_;
    const char* where_ = "";
    bool cancelled_ = false;
};

}  // namespace corozk::schedule
