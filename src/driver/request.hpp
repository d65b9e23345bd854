// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/user_call.hpp"

#include <boost/asio/error.hpp>

#include <coroutine>
#include <utility>

namespace corozk::detail {

/// An operation that a driver awaits:
/// @code
///   request listing(port, op_code::children, path);
///   if (error_code ec = co_await listing) ...
///   use(listing.names);
/// @endcode
/// It always completes: with a response, with `connection_loss` (outcome unknown), or with an error
/// that means that nothing was sent. To have several in flight, `send` all of them before awaiting
/// them in any order.
class request final : public operation {
public:
    /// In the session of this generation; 0: in any session.
    request(port& p, op_code code_, std::string path_, std::uint64_t generation_ = 0)
        : operation(code_, std::move(path_)), port_(p) {
        generation = generation_;
    }

    /// A transaction. Traces mention the path.
    request(port& p,
            transaction all,
            std::uint64_t generation_ = 0,
            std::string path_ = std::string())
        : request(p, op_code::multi, std::move(path_), generation_) {
        steps = std::move(all).steps();
    }

    /// It is not sent once they, who must outlive it, do not wait any more; then it fails, and
    /// `nobody_waited`. Null: it is sent anyway.
    void only_for(const interest* who) noexcept { interest_ = who; }

    void only_for_that_of(const request& other) noexcept { interest_ = other.interest_; }
    const interest* sent_for() const noexcept { return interest_; }

    /// The step of a transaction that has failed; the number of results if none has.
    std::size_t failed_step() const noexcept {
        std::size_t failed = 0;
        while (failed < results.size() && results[failed].error != error)
            ++failed;
        return failed;
    }

    /// To be sent again, after it has finished. A watch has to be attached again.
    void renew() noexcept {
        state = progress::idle;
        record = stat();
    }

    /// Queues it without waiting for the response.
    void send() noexcept {
        if (state == progress::idle)
            port_.start(*this);
    }

    bool await_ready() const noexcept { return state == progress::done; }
    void await_suspend(std::coroutine_handle<> h) noexcept {
        waiter_ = h;
        send();
    }
    error_code await_resume() const noexcept { return error; }

private:
    void finished() noexcept override {
        if (waiter_)
            std::exchange(waiter_, {}).resume();
    }
    bool wanted() const noexcept override { return !interest_ || interest_->waiting(); }
    void submitted() noexcept override {
        if (interest_)
            interest_->sent();
    }

    port& port_;
    const interest* interest_ = nullptr;
    std::coroutine_handle<> waiter_;
};

/// Whether a request's error means that it was not sent, as those whom it was `only_for` had ended.
/// Others may wait by now, for whom to try again.
inline bool nobody_waited(error_code ec) noexcept {
    return ec == boost::asio::error::operation_aborted;
}

/// An operation that is not awaited. Allocated with new; deletes itself when it has finished.
/// `on_finished` runs on the client's executor.
template <class OnFinished>
class detached_request final : public operation {
public:
    detached_request(op_code code_, std::string path_, OnFinished on_finished)
        : operation(code_, std::move(path_)), on_finished_(std::move(on_finished)) {}

private:
    void finished() noexcept override {
        on_finished_(static_cast<operation&>(*this));
        delete this;
    }
    void abandoned() noexcept override { delete this; }

    OnFinished on_finished_;
};

/// Sends a `sync` directly followed by `look`, so that `look` sees everything that was committed
/// before: the server may lag behind one that this client used earlier, or behind changes by other
/// clients. Both are sent in the same session, as its end refuses what is queued.
/// @return the first error of the two; the result is in `look`
/// @param needed whether it may lag; otherwise only `look` is sent
inline task<error_code> behind_sync(port& p, request& look, bool needed = true) {
    if (!needed)
        co_return co_await look;
    request sync(p, op_code::sync, look.path, look.generation);
    sync.only_for_that_of(look);
    sync.owed = look.owed;
    sync.send();
    look.send();
    error_code synced = co_await sync;
    error_code seen = co_await look;
    co_return synced ? synced : seen;
}

/// A new one, to be started.
template <class OnFinished>
operation& make_detached(op_code code, const std::string& path, OnFinished on_finished) {
    return *new detached_request<OnFinished>(code, path, std::move(on_finished));
}

}  // namespace corozk::detail
