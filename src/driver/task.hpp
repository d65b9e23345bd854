// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <utility>

namespace corozk::detail {

/// A driver coroutine: lazy, awaited once, without an executor of its own. Drivers run on the
/// client's executor because everything that resumes them does. Errors are values; an exception
/// (out of memory) terminates the program.
template <class Value = void>
class [[nodiscard]] task;

#ifndef NDEBUG
/// Number of live coroutine frames that were created by this thread: for tests.
inline thread_local long live_frames = 0;
#endif

class task_promise_base {
public:
#ifndef NDEBUG
    static void* operator new(std::size_t size) {
        void* frame = ::operator new(size);
        ++live_frames;
        return frame;
    }
    static void operator delete(void* frame, std::size_t size) noexcept {
        --live_frames;
        ::operator delete(frame, size);
    }
#endif

    struct final_awaiter {
        bool await_ready() const noexcept { return false; }
        template <class Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) const noexcept {
            return h.promise().continuation_;
        }
        void await_resume() const noexcept {}
    };

    std::suspend_always initial_suspend() const noexcept {
        return {};
    }
    final_awaiter final_suspend() const noexcept {
        return {};
    }
    [[noreturn]] void unhandled_exception() const noexcept {
        std::terminate();
    }
    void set_continuation(std::coroutine_handle<> h) noexcept {
        continuation_ = h;
    }

private:
    std::coroutine_handle<> continuation_ = std::noop_coroutine();
};

template <class Value>
class task_promise : public task_promise_base {
public:
    task<Value> get_return_object() noexcept;
    template <class T>
    void return_value(T&& value) {
        value_.emplace(std::forward<T>(value));
    }
    Value take() { return std::move(*value_); }

private:
    std::optional<Value> value_;
};

template <>
class task_promise<void> : public task_promise_base {
public:
    task<void> get_return_object() noexcept;
    void return_void() const noexcept {}
    void take() const noexcept {}
};

template <class Value>
class [[nodiscard]] task {
public:
    using promise_type = task_promise<Value>;

    explicit task(std::coroutine_handle<promise_type> h) noexcept : handle_(h) {}
    task(task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    task& operator=(task&&) = delete;
    ~task() {
        if (handle_)
            handle_.destroy();
    }

    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> continuation) noexcept {
        handle_.promise().set_continuation(continuation);
        return handle_;
    }
    Value await_resume() { return handle_.promise().take(); }

private:
    std::coroutine_handle<promise_type> handle_;
};

template <class Value>
task<Value> task_promise<Value>::get_return_object() noexcept {
    return task<Value>(std::coroutine_handle<task_promise<Value>>::from_promise(*this));
}

inline task<void> task_promise<void>::get_return_object() noexcept {
    return task<void>(std::coroutine_handle<task_promise<void>>::from_promise(*this));
}

}  // namespace corozk::detail
