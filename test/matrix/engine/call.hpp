// SPDX-License-Identifier: Apache-2.0
// Operations that the engine can interrupt, and objects that it can destroy.
#pragma once

#include "stage.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace corozk::matrix {

/// An operation under way: `call<ownership> asked(s, "acquire"); l->acquire(asked.token());`
template <class Value = std::monostate>
class call {
public:
    call(stage& s, std::string name, party whose = party::ours)
        : stage_(s), record_(std::make_shared<with_value>(s.executor(), std::move(name), whose)) {
        s.add(record_);
    }
    call(const call&) = delete;
    call& operator=(const call&) = delete;

    /// What is still under way is given up: cancelled, and its result dropped.
    ~call() {
        record_->abandoned = true;
        record_->watchdog.cancel();
        if (record_->started && record_->calls == 0)
            record_->cancel.emit(boost::asio::cancellation_type::terminal);
        record_->value.reset();
    }

    /// Called with a good result at the moment at which it comes, not only when it is awaited.
    void at_result(std::function<void(const Value&)> told) { record_->told = std::move(told); }

    /// How long it may take; from now on.
    std::chrono::milliseconds limit() {
        record_->limited = true;
        record_->began = std::chrono::steady_clock::now();
        stage_.watch_deadline(record_);
        return stage_.limit();
    }
    std::chrono::steady_clock::time_point deadline() { return limit() + record_->began; }

    /// A completion token; for one operation.
    auto token() {
        record_->started = true;
        auto handler = [record = record_](error_code ec, Value v = Value()) {
            ++record->calls;
            record->ec = ec;
            record->ended = std::chrono::steady_clock::now();
            if (!ec && !record->abandoned && record->told)
                record->told(v);
            if (!record->abandoned)
                record->value.emplace(std::move(v));
            record->wake.cancel();
            record->watchdog.cancel();
        };
        return boost::asio::bind_cancellation_slot(record_->cancel.slot(), std::move(handler));
    }

    bool done() const { return record_->calls > 0; }
    bool good() const { return done() && !record_->ec; }
    error_code error() const { return record_->ec; }

    /// Waits for the end, whatever it is.
    awaitable<error_code> ended() {
        if (!done()) {
            record_->wake.expires_after(stage_.patience());
            co_await record_->wake.async_wait(as_tuple());
        }
        if (!done()) {
            stage_.check(false, record_->name + " did not end");
            throw scenario_over();
        }
        co_return record_->ec;
    }

    /// Waits for the result. @throws scenario_over if the fault has ended it
    awaitable<Value> result() {
        error_code ec = co_await ended();
        if (ec) {
            if (!stage_.permits(ec, record_->whose))
                stage_.check(false, record_->name + " failed: " + ec.message());
            throw scenario_over();
        }
        co_return std::move(*record_->value);
    }

private:
    struct with_value : call_record {
        using call_record::call_record;
        std::optional<Value> value;
        std::function<void(const Value&)> told;
    };

    stage& stage_;
    std::shared_ptr<with_value> record_;
};

/// A recipe's object that the engine may destroy: `object<lock> l(s, s.ours(), path);`
template <class T>
class object {
public:
    template <class... Args>
    explicit object(stage& s, Args&&... args)
        : value_(std::make_shared<T>(std::forward<Args>(args)...)),
          destroy_(std::make_shared<destroyer>(
              [this] { return std::exchange(value_, nullptr) != nullptr; })) {
        s.add_object(destroy_);
    }
    object(const object&) = delete;
    object& operator=(const object&) = delete;

    /// @throws scenario_over if it has been destroyed
    T* operator->() {
        if (!value_)
            throw scenario_over();
        return value_.get();
    }
    T& operator*() { return *operator->(); }

    /// For code that looks at it as long as it exists.
    std::weak_ptr<T> weak() const { return value_; }

private:
    std::shared_ptr<T> value_;
    std::shared_ptr<destroyer> destroy_;
};

/// What was granted (an `ownership`), which the engine may destroy: it is released then.
template <class Held>
class droppable {
public:
    droppable(stage& s, Held held)
        : held_(std::move(held)), drop_(std::make_shared<destroyer>([this] { return drop(); })) {
        s.add_grant(drop_);
    }
    droppable(const droppable&) = delete;
    droppable& operator=(const droppable&) = delete;

    /// @throws scenario_over if it has been dropped
    Held* operator->() {
        if (dropped_)
            throw scenario_over();
        return &held_;
    }
    Held& operator*() { return *operator->(); }

    bool holds() const { return held_.valid(); }

private:
    bool drop() {
        bool there = held_.valid();
        dropped_ = dropped_ || there;
        if (there)
            held_ = Held();
        return there;
    }

    Held held_;
    bool dropped_ = false;
    std::shared_ptr<destroyer> drop_;
};

}  // namespace corozk::matrix
