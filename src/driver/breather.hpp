// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"

#include <coroutine>
#include <cstddef>
#include <new>
#include <utility>

namespace corozk::detail {

/// glibc's allocator coalesces freed chunks at the next larger allocation. By causing one after
/// each piece of work, there are never 100,000 of them, which would block the loop for 20 ms.
inline void join_free_memory() {
    constexpr std::size_t larger = 4096;
    void* volatile asked_for = ::operator new(larger);
    ::operator delete(asked_for);
}

/// Awaited between the pieces of work that takes long, so that the loop does other things as well.
class breather final : private deferred {
public:
    explicit breather(port& p) noexcept : port_(p) {}

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) {
        join_free_memory();
        waiter_ = h;
        port_.defer(*this);
    }
    void await_resume() const noexcept {}

private:
    void run() noexcept override { std::exchange(waiter_, {}).resume(); }

    port& port_;
    std::coroutine_handle<> waiter_;
};

}  // namespace corozk::detail
